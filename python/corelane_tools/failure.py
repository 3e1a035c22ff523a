"""What goes wrong, in words that are meant for the user."""


class Failure(Exception):
    """Its text says what, where, and what to do; no traceback is shown."""


def reason(error, skipping=()):
    """The first telling line of another's exception; lines that begin with one of `skipping` are not."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if not line.startswith(tuple(skipping))] if skipping else lines
    return (telling or lines or [type(error).__name__])[0]
