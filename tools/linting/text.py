"""Rules that need one file's text only: sizes and forbidden things."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from linting.files import Finding, SourceFile, Tree
from linting.functions import Function, cxx_functions, python_functions, shell_functions

FILE_LINES, TEST_FILE_LINES, FUNCTION_LINES = 500, 700, 80


def _in_base(file: SourceFile) -> bool:
    return file.path.startswith("src/base/")


@dataclass(frozen=True)
class Forbidden:
    rule: str
    pattern: re.Pattern
    advice: str
    exempt: Callable[[SourceFile], bool] = lambda _: False


def _forbid(rule: str, pattern: str, advice: str, exempt=lambda _: False) -> Forbidden:
    return Forbidden(rule, re.compile(pattern), advice, exempt)


# Matched in C++ whose comments and literals are blanked.
FORBIDDEN_IN_CXX = [
    _forbid("clock", r"\b\w+_clock::now\b", "time comes from an injected Clock (base/clock.h)", _in_base),
    _forbid("sleep", r"\bthis_thread::sleep_|\busleep\s*\(|(?<![\w.>:])::sleep\s*\(",
            "wait on something, or use Clock::sleep_until", _in_base),
    _forbid("mutex", r"\bstd::(recursive_|shared_|timed_)?mutex\b|\bstd::condition_variable(_any)?\b|\bpthread_mutex_",
            "no naked mutex: Guarded<T> (base/guarded.h)", lambda file: file.path == "src/base/guarded.h"),
    _forbid("format", r"\bstd::v?format(_to)?\b|#\s*include\s*<(format|expected|print)>",
            "g++ 12 has no <format> or <expected>: fmt in .cc files, Result<T>"),
    _forbid("new", r"(?<!operator )\bnew\b(?!>)",
            "no new: make_unique, or unique_ptr<T>(new T(...)) for a private constructor"),
    _forbid("delete", r"(?<!operator )(?<!= )(?<!=)\bdelete\b", "no delete: an owner's destructor does it"),
    _forbid("thread", r"\.detach\(\)|\bstd::thread\b(?!::)|\bstd::async\b",
            "std::jthread with a stop_token, never detached"),
    _forbid("throw", r"\bthrow\b", "we do not throw: Result<T> or check()"),
    _forbid("using", r"\busing\s+namespace\b(?!\s+std::(chrono_)?literals)(?!\s+std::string_view_literals)",
            "no using namespace", lambda file: file.is_test),
]  # fmt: skip

_HEAVY_HEADERS = r"fmt/|boost/(asio|beast)|simdjson|openvino/|torch/|toml\+\+/|nlohmann/|prometheus/|CLI/"
HEAVY = _forbid("heavy", rf"#\s*include\s*<({_HEAVY_HEADERS})",
                "a header that other folders include stays light: heavy headers belong in .cc files")  # fmt: skip
TODO = re.compile(r"\b(TODO(?!\(#\d+\))|FIXME|XXX)\b")
OWNED_NEW = re.compile(r"unique_ptr<[^;]*?>\s*\w*[({]\s*new\b|reset\(\s*new\b")


def _line_of(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def _forbidden(file: SourceFile, what: Forbidden) -> Iterator[Finding]:
    if what.exempt(file):
        return
    for match in what.pattern.finditer(file.code):
        line = _line_of(file.code, match.start())
        if re.match(r"\s*#\s*include\s*<new>", file.lines[line - 1]):
            continue
        if what.rule == "new" and OWNED_NEW.search(file.code[max(0, match.start() - 120) : match.end()]):
            continue
        if not file.allows(line, what.rule):
            yield Finding(file.path, line, what.rule, what.advice)


def _functions(file: SourceFile) -> list[Function]:
    if file.is_cxx:
        return cxx_functions(file.code)
    if file.is_python:
        return python_functions(file.content)
    return shell_functions(file.lines) if file.is_script else []


def _sizes(file: SourceFile) -> Iterator[Finding]:
    if not (file.is_cxx or file.is_python or file.is_script):
        return
    limit = TEST_FILE_LINES if file.is_test else FILE_LINES
    if len(file.lines) > limit:
        yield Finding(file.path, limit + 1, "size", f"{len(file.lines)} lines, at most {limit}: split the file")
    for function in _functions(file):
        if function.length > FUNCTION_LINES and not file.allows(function.line, "size"):
            advice = f"{function.name} has {function.length} lines, at most {FUNCTION_LINES}"
            yield Finding(file.path, function.line, "size", advice)


def _cxx(file: SourceFile) -> Iterator[Finding]:
    for what in FORBIDDEN_IN_CXX:
        yield from _forbidden(file, what)
    if file.suffix == ".h":
        is_c = "#ifdef __cplusplus" in file.content  # for foreign compilers too: an include guard will do
        if not is_c and not re.search(r"(?m)^#pragma once$", file.content):
            yield Finding(file.path, 1, "pragma", "a header starts with #pragma once")


def _shared_headers(tree: Tree) -> set[str]:
    """Headers of src/ that a file of another folder includes."""
    shared = set()
    for file in tree.cxx:
        for match in re.finditer(r'(?m)^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', file.code):
            if Path(file.path).parent != Path("src", match[1]).parent:
                shared.add(f"src/{match[1]}")
    return shared


def check(tree: Tree) -> list[Finding]:
    findings, shared = [], _shared_headers(tree)
    for file in tree.files:
        findings += _sizes(file)
        if file.is_cxx:
            findings += _cxx(file)
        if file.path in shared:
            findings += _forbidden(file, HEAVY)
        if (file.is_cxx or file.is_python or file.is_script) and "lint" not in file.path:
            for number, line in enumerate(file.lines, start=1):
                if TODO.search(line):
                    findings.append(Finding(file.path, number, "todo", "an open end names its issue: TODO(#12)"))
    return findings
