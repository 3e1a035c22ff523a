"""The tree as lint sees it: the files git tracks or would track, and their code without comments and strings."""

import functools
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

CXX = {".h", ".cc", ".c"}


@dataclass(frozen=True, order=True)
class Finding:
    path: str
    line: int
    rule: str
    advice: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.advice}"


@dataclass(frozen=True)
class SourceFile:
    path: str  # relative to the root, with forward slashes
    content: str

    @property
    def suffix(self) -> str:
        return Path(self.path).suffix

    @property
    def is_cxx(self) -> bool:
        return self.suffix in CXX

    @property
    def is_script(self) -> bool:
        return re.match(r"#!.*\b(ba|da)?sh\b", self.content) is not None

    @property
    def is_python(self) -> bool:
        return self.suffix == ".py" or re.match(r"#!.*\bpython3?\b", self.content) is not None

    @property
    def is_test(self) -> bool:
        parts = self.path.split("/")
        return self.path.endswith("_test.cc") or "testing" in parts or parts[0] == "tests"

    @functools.cached_property
    def lines(self) -> list[str]:
        return self.content.splitlines()

    @functools.cached_property
    def code(self) -> str:
        """C++ with comments and the insides of literals blanked; same lines and columns."""
        return blank_comments_and_literals(self.content)

    def allows(self, line: int, rule: str) -> bool:
        """Whether that line (from 1) or the one above excuses itself from the rule."""
        excuse = re.compile(rf"lint: {re.escape(rule)} because \S")
        return any(excuse.search(text) for text in self.lines[max(0, line - 2) : line])


@dataclass
class Tree:
    root: Path
    files: list[SourceFile] = field(default_factory=list)

    @property
    def cxx(self) -> list[SourceFile]:
        return [file for file in self.files if file.is_cxx]


_TOKENS = re.compile(
    r"""
      //[^\n]*
    | /\*.*?\*/
    | (?<!\w)(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"
    | "(?:\\.|[^"\\\n])*"
    | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'
    """,
    re.VERBOSE | re.DOTALL,
)


def _blank(match: re.Match) -> str:
    token = match.group()
    if token.startswith(("//", "/*")):
        return re.sub(r"[^\n]", " ", token)
    start, end = token.index(token[-1]) + 1, len(token) - 1
    return token[:start] + re.sub(r"[^\n]", " ", token[start:end]) + token[end:]


def blank_comments_and_literals(content: str) -> str:
    # An include's name is not a literal: arrows read it.
    pieces = re.split(r"(?m)^([ \t]*#[ \t]*include[^\n]*)$", content)
    return "".join(piece if index % 2 else _TOKENS.sub(_blank, piece) for index, piece in enumerate(pieces))


def load_tree(root: Path) -> Tree:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root, capture_output=True, check=True, text=True,
    ).stdout.split("\0")  # fmt: skip
    tree = Tree(root)
    for name in sorted(set(filter(None, listed))):
        path = root / name
        if not path.is_file() or path.is_symlink():
            continue
        try:
            tree.files.append(SourceFile(name, path.read_text(encoding="utf-8")))
        except UnicodeDecodeError:
            continue  # a picture or another binary file
    return tree
