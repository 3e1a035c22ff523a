"""The rules behind tools/lint: each module has check(tree) -> list of findings."""
