"""Where the functions of a file start and end: C++ by braces, without a parser, which is enough for formatted code."""

import ast
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Function:
    line: int
    length: int
    name: str


_SCOPE = re.compile(r"\b(namespace|class|struct|union|enum)\b|extern\s*\"")
_QUALIFIER = r"const|noexcept(?:\([^)]*\))?|override|final|mutable|&&?|requires\b.*|->.*|\s"
_HEAD = re.compile(rf"\)\s*(?:{_QUALIFIER})*$", re.DOTALL)
_INITIALISERS = re.compile(r"\)\s*(?:noexcept\s*)?:(?!:)", re.DOTALL)


def _kind(head: str) -> str:
    head = re.sub(r"\balignas\([^)]*\)|\[\[[^\]]*\]\]|(?m:^\s*#.*$)", "", head).strip()
    if re.search(r"[\w>]$", head) and _INITIALISERS.search(head):
        return "initialiser"  # Foo() : a_{...
    if _HEAD.search(head) or (_INITIALISERS.search(head) and head.endswith(("}", ")"))):
        return "function"
    if _SCOPE.search(head) and not head.endswith("="):
        return "scope"
    return "data"


def _name(head: str) -> str:
    found = re.search(r"([\w:~]+|operator\W{1,3})\s*\(", head)
    return found[1] if found else "?"


def cxx_functions(code: str) -> list[Function]:
    """`code` has comments and literals blanked. Functions inside functions count with the outer one."""
    found, stack = [], []
    head, head_line, line = "", 1, 1
    inside = 0  # open braces of the function we are in, 0 outside
    start, name = 0, ""
    for character in code:
        if character == "\n":
            line += 1
        if inside:
            inside += (character == "{") - (character == "}")
            if inside == 0:
                found.append(Function(start, line - start + 1, name))
                head = ""
            continue
        if character == "{":
            kind = _kind(head)
            if kind == "function":
                inside, start, name = 1, head_line, _name(head)
                continue
            stack.append((kind, head))
            head = head + character if kind == "initialiser" else ""
        elif character == "}":
            kind, before = stack.pop() if stack else ("data", "")
            head = before + "{}" if kind == "initialiser" else ""
        elif character == ";":
            head = ""
        else:
            if not head.strip() and not character.isspace():
                head_line = line
            head += character
    return found


def python_functions(content: str) -> list[Function]:
    return [
        Function(node.lineno, node.end_lineno - node.lineno + 1, node.name)
        for node in ast.walk(ast.parse(content))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def shell_functions(lines: list[str]) -> list[Function]:
    found, start, name = [], None, ""
    for number, text in enumerate(lines, start=1):
        opening = re.match(r"(\w+)\(\)\s*\{\s*$", text)
        if opening:
            start, name = number, opening[1]
        elif text == "}" and start:
            found.append(Function(start, number - start + 1, name))
            start = None
    return found
