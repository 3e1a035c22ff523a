"""What other tools check: clang-format, shellcheck, ruff and Python's own compiler."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from linting.files import Finding, Tree

_AT = re.compile(r"^(?P<path>[^:\s]+):(?P<line>\d+):(?:\d+:)?\s*(?P<what>.*)$")


def venv_tool(root: Path, name: str) -> str | None:
    """The tool as the virtual environment has it, or else as PATH does."""
    beside = Path(os.environ.get("CORELANE_VENV") or root / ".venv") / "bin" / name
    return str(beside) if beside.exists() else shutil.which(name)


def _run(tree: Tree, rule: str, tool: str | None, arguments: list[str], paths: list[str]) -> list[Finding]:
    if not paths:
        return []
    if tool is None:
        return [Finding(".", 0, rule, "not installed: tools/setup --tests")]
    done = subprocess.run([tool, *arguments, *paths], cwd=tree.root, capture_output=True, text=True)
    if done.returncode == 0:
        return []
    findings = []
    for line in (done.stdout + done.stderr).splitlines():
        match = _AT.match(line)
        if match:
            path = os.path.relpath(tree.root / match["path"], tree.root)
            findings.append(Finding(path, int(match["line"]), rule, match["what"]))
    return findings or [Finding(".", 0, rule, (done.stdout + done.stderr).strip()[-400:])]


def check(tree: Tree) -> list[Finding]:
    cxx = [file.path for file in tree.cxx]
    scripts = [file.path for file in tree.files if file.is_script]
    python = [file.path for file in tree.files if file.is_python]
    findings = _run(tree, "clang-format", shutil.which("clang-format-19"), ["--dry-run", "--Werror"], cxx)
    findings += _run(tree, "shellcheck", shutil.which("shellcheck"), ["--format=gcc", "--external-sources"], scripts)
    ruff = ["check", "--quiet", "--no-cache", "--output-format=concise", "--config", "python/ruff.toml"]
    findings += _run(tree, "ruff", venv_tool(tree.root, "ruff"), ruff, python)
    for path in python:
        try:
            compile((tree.root / path).read_text(), path, "exec")
        except SyntaxError as error:
            findings.append(Finding(path, error.lineno or 0, "python", str(error.msg)))
    return findings
