"""The report as a person meets it: the command's outputs, and its page in a real Chromium at two widths, light and dark.

The results are synthetic (tests/data/results/README.md). CORELANE_BUILD names the build folder, CORELANE_CHROMIUM the browser,
CORELANE_SCREENSHOTS a folder to leave pictures of the page in.
"""
import csv
import io
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORELANE = Path(os.environ.get("CORELANE_BUILD", ROOT / "build/dev")) / "corelane"
RESULTS = ROOT / "tests/data/results/example"
VENV = Path(os.environ.get("CORELANE_VENV", ROOT / ".venv"))
DONE, FAILED, USAGE, DOES_NOT_HOLD = 0, 1, 2, 3


def report(*arguments, status=DONE):
    done = subprocess.run([CORELANE, "report", *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert done.returncode == status, done.stderr
    return done


def node():
    found = shutil.which("node", path=f"{VENV / 'bin'}:{os.environ['PATH']}")
    assert found, "node is missing: tools/setup --tests"
    return found


def look_at(page, width, scheme):
    """What web/probe_page.mjs saw of the page."""
    command = [node(), ROOT / "web/probe_page.mjs", page, str(width), scheme]
    if folder := os.environ.get("CORELANE_SCREENSHOTS"):
        command.append(Path(folder) / f"{page.stem}-{width}-{scheme}.png")
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    file = tmp_path_factory.mktemp("report") / "report.html"
    report(RESULTS, "--usd-per-hour", "0.0893", "--p95", "200ms", "--html", file)
    return file


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_looks_right(page, width, scheme):
    seen = look_at(page, width, scheme)
    assert seen["console"] == []
    assert seen["requests"] == []
    assert seen["overflow"] == 0 and seen["too_wide"] == []
    assert "is cheapest on this machine in bf16" in seen["answer"]
    charts = {chart["id"]: chart for chart in seen["charts"]}
    # Three workloads: curve, throughput, latency, dollars, precisions; and one split over all.
    assert len(charts) == 3 * 5 + 1
    for chart in charts.values():
        assert chart["marks"] > 0, chart
        assert 0 < chart["width"] <= width
    # Each of the 20 points of BERT-base is drawn; rings, lines and the limit's band come on top.
    assert charts["curve-0"]["marks"] >= 20 + 4 + 1
    assert seen["ascending"] == sorted(seen["ascending"]) and len(seen["ascending"]) == 20
    assert seen["descending"] == seen["ascending"][::-1]
    assert seen["aria_sort"] == "descending"


def test_light_and_dark_differ_in_page_and_charts(page):
    light, dark = look_at(page, 1280, "light"), look_at(page, 1280, "dark")
    assert light["background"] != dark["background"]
    fills = [{chart["id"]: chart["fills"] for chart in seen["charts"]} for seen in (light, dark)]
    assert all(fills[0][name] != fills[1][name] for name in fills[0])


def test_the_page_shows_what_a_person_needs_without_scripts(page):
    text = page.read_text()
    for words in ["times cheaper than where one starts", "Example CPU (synthetic)", "openvino 2026.4.1",
                  "given by hand", "only 6 requests were answered", "corelane report"]:
        assert words in text
    assert "<script src" not in text and "<link rel=\"stylesheet\"" not in text
    assert "default-src 'none'" in text
    assert "Redistribution and use in source and binary forms" in text  # the licence of what is carried


def test_json_has_the_choice_by_id():
    read = json.loads(report(RESULTS, "--usd-per-hour", "0.0893", "--p95", "200ms", "--json").stdout)
    bert = read["here"]["workloads"][0]
    points = {point["id"]: point for point in bert["points"]}
    chosen = points[bert["choice"]["chosen"]]
    inside = [point for point in points.values() if point["latency_ms"]["p95"] <= 200]
    assert chosen in inside
    assert chosen["items_per_second"] == max(point["items_per_second"] for point in inside)
    assert chosen["usd_per_million"] == pytest.approx(0.0893 / (chosen["items_per_second"] * 3600) * 1e6)
    assert read["here"]["price"]["basis"] == "given by hand"


def test_csv_has_a_line_for_each_experiment(tmp_path):
    report(RESULTS, "--csv", tmp_path / "r.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "r.csv").read_text())))
    assert {row["id"] for row in rows} == {file.stem for file in RESULTS.glob("*.json")}
    assert [row["valid"] for row in rows].count("false") == 1
    assert all(row["usd_per_million"] == "" for row in rows)


def test_without_a_price_the_rest_is_shown_and_it_says_so(tmp_path):
    done = report(RESULTS, "--html", tmp_path / "r.html")
    assert "No price was given" in done.stdout and "$" not in done.stdout
    seen = look_at(tmp_path / "r.html", 1280, "light")
    assert seen["console"] == [] and len(seen["charts"]) == 3 * 4 + 1


def test_a_limit_that_nothing_holds_exits_with_3():
    done = report(RESULTS, "--p95", "1ms", status=DOES_NOT_HOLD)
    assert "No configuration of resnet50 holds P95 1 ms" in done.stdout


def test_an_instance_is_priced_with_basis_region_and_date():
    done = report(RESULTS, "--price", "c7i.large", "--prices", ROOT / "prices.toml")
    assert "c7i.large at $0.08925 an hour (on demand, us-east-1, 2026-09-24)" in done.stdout


def test_two_machines_stand_in_the_published_layout():
    done = report(RESULTS, "--price", "g5.xlarge", "--against", RESULTS, "--against-price", "g4dn.xlarge",
                  "--prices", ROOT / "prices.toml")
    lines = done.stdout.splitlines()
    start = lines.index("g5.xlarge against g4dn.xlarge")
    at = next(i for i in range(start, len(lines)) if lines[i].split()[:1] == ["Model"])
    assert lines[at].split() == ["Model", "Batch", "Precision"] + ["g5.xlarge", "g4dn.xlarge"] * 3 + ["Cost-benefit"]
    # The same throughput on both sides: what differs is the hourly price.
    assert lines[at + 1].split()[-1] == f"{0.526 / 1.006:.2f}"


@pytest.mark.parametrize("arguments, status, words", [
    (["/nowhere"], FAILED, "/nowhere"),
    ([RESULTS, "--p95", "fast"], USAGE, "a time such as 50ms"),
    ([RESULTS, "--price", "c9.large", "--prices", ROOT / "prices.toml"], FAILED, "no price for c9.large"),
    ([RESULTS, "--price", "inf1.xlarge", "--prices", ROOT / "prices.toml"], USAGE, "say which with --basis or --region"),
    ([RESULTS, "--price", "c7i.large", "--prices", "/nowhere.toml"], FAILED, "/nowhere.toml"),
    ([RESULTS, "--html", "/nowhere/r.html"], FAILED, "writing /nowhere/r.html"),
])
def test_errors_say_what_and_where(arguments, status, words):
    assert words in report(*arguments, status=status).stderr


def test_a_damaged_result_is_told_and_left_out(tmp_path):
    for file in RESULTS.glob("*.json"):
        shutil.copy(file, tmp_path)
    (tmp_path / "torn.json").write_text('{"format": 1, "id": "to')
    done = report(tmp_path, "--json")
    assert "torn.json" in done.stderr
    read = json.loads(done.stdout)
    assert sum(len(w["points"]) + len(w["invalid"]) for w in read["here"]["workloads"]) == 48


def test_colours_are_for_terminals_only():
    assert "\033" not in report(RESULTS).stdout
