"""Every command that README.md and CONTRIBUTING.md show is run by a test: here, or by a script that CI runs."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORELANE = ROOT / "build/dev/corelane"

# What is too large for a test of its own, and the script that runs it.
RUN_BY = {
    "./demo": ("test", "./demo --quick"),
    "./test": (".ci/run", "exec ./test"),
    "tools/setup --tests": ("test", "tools/setup --tests"),
    "cmake --workflow --preset dev": ("test", "cmake --workflow --preset dev"),
    "tools/lint": ("test", "tools/lint"),
}


def shell_lines() -> list[str]:
    text = (ROOT / "README.md").read_text() + (ROOT / "CONTRIBUTING.md").read_text()
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    return [line.strip() for block in blocks for line in block.splitlines() if line.strip()]


def table_commands() -> list[str]:
    return re.findall(r"(?m)^\| `corelane ([^`]+)` \|", (ROOT / "README.md").read_text())


@pytest.mark.parametrize("line", shell_lines())
def test_a_script_of_ci_runs_the_line(line):
    script, text = RUN_BY[line]
    assert text in (ROOT / script).read_text()


@pytest.mark.parametrize("command", table_commands())
def test_a_command_of_the_table_exists_with_the_options_it_is_shown_with(command):
    name, *words = command.split()
    done = subprocess.run([CORELANE, name, "--help"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    for option in (word for word in words if word.startswith("--")):
        assert re.search(rf"(?m)^\s+{option}\b", done.stdout), f"{option} is not in the help of {name}"


@pytest.mark.parametrize("topic", ["models", "inputs", "exit-status"])
def test_the_help_topics_of_the_table_have_a_text(topic):
    done = subprocess.run([CORELANE, "help", topic], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) >= 4
