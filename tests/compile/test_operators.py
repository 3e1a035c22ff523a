"""Operators are counted, and cut into the groups that an engine takes."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from corelane_tools.operators import Node, cover  # noqa: E402


def chain(*kinds):
    """One operator after the other; those in lower case only move data, `plumbing` is none."""
    return [
        Node(kind, [f"v{k}"], [f"v{k + 1}"], kind[0].isupper(), counted=kind != "plumbing") for k, kind in enumerate(kinds)
    ]


def test_all_operators_of_a_chain_are_one_group():
    covered = cover(chain("MatMul", "reshape", "plumbing", "Relu"), {}, "engine 1")
    assert (covered.operators, covered.operators_taken) == (3, 3)
    assert (covered.arithmetic, covered.arithmetic_taken) == (2, 2)
    assert covered.subgraphs == 1


def test_an_operator_not_taken_cuts_the_chain_in_two():
    covered = cover(chain("MatMul", "Warp", "Relu"), {"Warp": 1}, "engine 1")
    assert (covered.operators_taken, covered.arithmetic_taken, covered.subgraphs) == (2, 2, 2)
    assert covered.json()["not_taken"] == ["Warp (1 use)"]


def test_one_at_the_end_cuts_nothing_off():
    assert cover(chain("MatMul", "Relu", "Warp"), {"Warp": 1}, "engine 1").subgraphs == 1


def test_a_shortcut_around_it_does_not_join_what_must_run_before_and_after():
    nodes = [Node("MatMul", ["x"], ["a"]), Node("Warp", ["a"], ["b"]), Node("Add", ["a", "b"], ["y"])]
    assert cover(nodes, {"Warp": 1}, "engine 1").subgraphs == 2


def test_branches_that_never_meet_are_groups_of_their_own():
    nodes = [Node("Relu", ["x"], ["a"]), Node("Relu", ["z"], ["b"])]
    assert cover(nodes, {}, "engine 1").subgraphs == 2


def test_uses_are_counted_by_kind_most_first():
    covered = cover(chain("Warp", "Bend", "Warp", "Relu"), {"Warp": 2, "Bend": 1}, "engine 1")
    assert covered.json()["not_taken"] == ["Warp (2 uses)", "Bend (1 use)"]
    assert (covered.operators_taken, covered.subgraphs) == (1, 1)
