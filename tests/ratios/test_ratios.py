"""bench/ratios without a peer: how windows alternate, what is made of their figures, and the plan it writes."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

from side_by_side import load, ratios, study  # noqa: E402


def window(rate, p95=10.0):
    return {"rps": rate, "p50_ms": 1.0, "p95_ms": p95, "p99_ms": 20.0, "per_cpu_second": rate / 2, "ok": 1}


def test_every_ratio_has_a_goal_and_a_way_to_measure_it():
    assert list(ratios.GOALS) == list(ratios.MEASURES)


def test_a_summary_holds_medians_so_that_one_bad_window_does_not_count():
    figures = ratios.summary([window(100, p95=9), window(1, p95=500), window(102.1239, p95=11)])
    assert figures == {"per_second": 100, "p50_ms": 1, "p95_ms": 11, "p99_ms": 20, "per_cpu_second": 50}


@pytest.mark.parametrize(("ratio", "met"), [(0.96949, False), (0.97, True), (1.2, True)])
def test_a_ratio_is_met_from_its_goal_on(ratio, met):
    outcome = ratios.verdict("direct-bert", ratio, {"per_second": 2}, {"per_second": 1})
    assert (outcome["met"], outcome["goal"], outcome["ratio"]) == (met, 0.97, round(ratio, 3))
    assert (outcome["corelane"], outcome["other"]) == ({"per_second": 2}, {"per_second": 1})
    assert "why" not in outcome


def test_a_ratio_just_below_its_goal_is_not_rounded_up_to_it():
    assert ratios.verdict("direct-bert", 0.9698, {}, {})["met"] is False


def test_a_ratio_that_was_bought_with_something_else_is_not_met_and_says_so():
    outcome = ratios.verdict("seed-f32-fixed", 9.0, {}, {}, holds=False, why="its P95 is worse")
    assert (outcome["met"], outcome["why"]) == (False, "its P95 is worse")
    assert "why" not in ratios.verdict("seed-f32-fixed", 9.0, {}, {}, holds=True, why="its P95 is worse")


def scripted(name, rates, calls):
    left = iter(rates)

    def measure():
        calls.append(name)
        return next(left)

    return name, measure


def test_the_side_that_goes_first_changes_with_each_round():
    calls = []
    ratios.alternating_rates(scripted("a", [1] * 3, calls), scripted("b", [1] * 3, calls), 3)
    assert calls == ["b", "a", "a", "b", "b", "a"]


def test_the_ratio_is_the_median_of_neighbouring_windows():
    """A machine that slows down to a half in the last round changes the rates but not the ratio."""
    ours, theirs = scripted("a", [110, 120, 55], []), scripted("b", [100, 100, 50], [])
    ratio, mine, other = ratios.alternating_rates(ours, theirs, 3)
    assert ratio == pytest.approx(1.1)
    assert (mine, other) == ({"per_second": 110}, {"per_second": 100})


def test_windows_of_load_take_turns_after_each_side_was_warmed_up(monkeypatch):
    sent = []

    def send(kit, server, body, connections, seconds):
        sent.append((server, body, connections, seconds))
        return window(len(sent))

    monkeypatch.setattr(load, "send", send)
    windows = load.alternate("kit", [("a", "A", "x"), ("b", "B", "y")], 2, 8, 32)
    assert sent[:2] == [("A", "x", 32, 4), ("B", "y", 32, 4)]
    assert sent[2:] == [("A", "x", 32, 8), ("B", "y", 32, 8)] * 2
    assert {name: [w["rps"] for w in side] for name, side in windows.items()} == {"a": [3, 5], "b": [4, 6]}


def test_a_window_without_an_answer_is_no_measurement(monkeypatch):
    monkeypatch.setattr(load, "send", lambda *_: window(0) | {"ok": 0})
    with pytest.raises(SystemExit, match="no answer from a in 8 s"):
        load.alternate("kit", [("a", "A", "x")], 1, 8, 1)


POINT = {"batch": 8, "concurrency": 1, "lanes": "all", "sizes": {"tokens": 128}, "seconds": 8.5, "warmup": 2}


def test_a_plan_for_the_lanes_names_one_point():
    plan = tomllib.loads(study.plan_text("bert", POINT))
    assert plan["study"] == {"name": "ratio", "models": ["bert"], "target": "lanes"}
    assert plan["grid"] == {"batch": [8], "concurrency": [1], "precision": ["f32"], "lanes": ["all"], "tokens": [128]}
    assert plan["load"] == {"warmup": "2s", "window": "8.5s", "min_requests": 1}


def test_a_plan_for_a_server_leaves_precision_and_lanes_to_it():
    plan = tomllib.loads(study.plan_text('a"b', POINT | {"target": "http://127.0.0.1:8000"}))
    assert plan["study"]["target"] == "http://127.0.0.1:8000"
    assert plan["study"]["models"] == ['a"b']
    assert plan["grid"] == {"batch": [8], "concurrency": [1], "tokens": [128]}


class Measures:
    """Stands for the program: each run of bench leaves the next of `results`."""

    def __init__(self, work, results):
        self.work, self.results, self.runs = work, list(results), 0

    def run(self, *arguments, accept):
        assert accept == (0, 1) and "--again" in arguments
        folder = arguments[arguments.index("--results") + 1] / "ratio"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "one.json").write_text(json.dumps(self.results[self.runs]))
        self.runs += 1


INVALID = {"valid": False, "invalid_because": ["the second half was slower"]}


def test_a_window_that_is_not_valid_is_measured_again(tmp_path):
    program = Measures(tmp_path, [INVALID, {"valid": True, "items_per_second": 3}])
    assert study.run_study(program, tmp_path, "bert", POINT)["items_per_second"] == 3
    assert program.runs == 2


def test_a_machine_that_is_never_quiet_gives_no_figure(tmp_path):
    program = Measures(tmp_path, [INVALID] * study.ATTEMPTS)
    with pytest.raises(SystemExit, match="no valid measurement of bert"):
        study.run_study(program, tmp_path, "bert", POINT)


@pytest.mark.parametrize(("arguments", "said"), [(["nonsense"], "unknown: nonsense"), (["direct-bert"], "where are the peers?")])
def test_wrong_usage_is_told_before_anything_is_measured(arguments, said):
    command = [sys.executable, BENCH / "ratios", *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, env={"PATH": "/usr/bin:/bin"})
    assert ended.returncode == 2 and said in ended.stderr, json.dumps(ended.stderr)
