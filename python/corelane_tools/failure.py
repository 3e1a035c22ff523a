"""The one exception that is meant for the user."""


class Failure(Exception):
    """Its text says what, where, and what to do; no traceback is shown."""
