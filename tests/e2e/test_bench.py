"""`corelane bench` on the probe models: what it keeps, that it goes on where it was, and how it stops."""
import csv
import json
import math
import os
import pathlib
import signal
import subprocess

import pytest
import serving

SLEEP = 0.02  # seconds that the model `slow` takes for each request


def write_plan(folder, models, grid, target="lanes", name="study", load=""):
    plan = folder / "plan.toml"
    plan.write_text(f"""
[study]
name = "{name}"
models = {json.dumps(models)}
target = "{target}"
[grid]
{grid}
[inputs]
INPUT0 = {SLEEP}
[load]
warmup = "100ms"
max_warmup = "1s"
window = "400ms"
max_window = "20s"
min_requests = 10
{load}
""")
    return plan


def command(folder, plan, *args):
    parts = [serving.BUILD / "corelane", "bench", plan, "--models", serving.PROBES, "--results", folder / "results", *args]
    return [str(part) for part in parts]


def bench(folder, plan, *args):
    return subprocess.run(command(folder, plan, *args), capture_output=True, text=True, timeout=120, check=False)


def assert_measured(run):
    """All was measured. Whether it may be trusted is the machine's matter: a busy one makes every result invalid (status 1)."""
    assert run.returncode in (0, 1) and " 0 not run" in run.stderr, run.stderr
    assert (run.returncode == 1) == (" 0 valid" in run.stderr), run.stderr


def results_of(folder, study="study"):
    files = sorted((folder / "results" / study).glob("*.json"))
    return {file.stem: json.loads(file.read_text()) for file in files}


def samples_of(folder, result, study="study"):
    with (folder / "results" / study / result["samples_file"]).open() as file:
        return list(csv.DictReader(file))


def nearest_rank(values, percent):
    return sorted(values)[math.ceil(percent / 100 * len(values)) - 1]


def check_result(folder, result):
    """Counts add up, and the summary is what the samples say."""
    counts = result["counts"]
    assert counts["sent"] == counts["ok"] + counts["failed"] + counts["unfinished"]
    assert counts["ok"] >= 10 and counts["failed"] == 0, result["invalid_because"]
    assert result["items"] == result["experiment"]["batch"] * counts["ok"]
    samples = samples_of(folder, result)
    inside = [sample for sample in samples if sample["phase"] == "window"]
    assert len(inside) == counts["ok"] + counts["failed"]
    assert sum(sample["phase"] == "unfinished" for sample in samples) == counts["unfinished"]
    assert sum(sample["phase"] == "warmup" for sample in samples) == result["warmup_requests"]
    latencies = [(int(sample["done_us"]) - int(sample["scheduled_us"])) / 1000 for sample in inside]
    for percent in (50, 90, 95, 99):
        assert result["latency_ms"][f"p{percent}"] == pytest.approx(nearest_rank(latencies, percent), abs=0.002)
    assert result["machine"]["cores"] >= 1 and result["machine"]["versions"]["corelane"]


def test_every_result_is_what_its_samples_say(tmp_path):
    plan = write_plan(tmp_path, ["slow", "id_b8"], f'batch = [1, 8]\nlanes = ["{serving.two_lanes()}", "all"]')
    run = bench(tmp_path, plan)
    assert_measured(run)
    results = results_of(tmp_path)
    assert len(results) == 6  # id_b8 in two sizes, slow in one, each on two plans
    for result in results.values():
        check_result(tmp_path, result)
        assert set(result["split_ms"]) == {"queue", "gather", "compute", "write"}
        assert result["machine"]["versions"]["probe"]
        assert result["memory_bytes"] > 0
    assert "batch 8 is left out for slow@1" in run.stderr
    assert (tmp_path / "results" / "study" / "plan.toml").read_text() == plan.read_text()


def test_lanes_that_only_sleep_are_measured_as_fast_as_they_are(tmp_path):
    lanes = serving.two_lanes()
    run = bench(tmp_path, write_plan(tmp_path, ["slow"], f'lanes = ["{lanes}"]'))
    assert_measured(run)
    (result,) = results_of(tmp_path).values()
    count = lanes.count("|") + 1
    assert result["experiment"]["concurrency"] == count
    assert result["latency_ms"]["min"] >= SLEEP * 1000
    # A busy machine may be slower than the sleep, never faster.
    assert 0.3 * count / SLEEP < result["items_per_second"] <= 1.02 * count / SLEEP
    assert 0.5 < result["lane_busy"] <= 1.01


def test_a_killed_study_goes_on_where_it_was(tmp_path):
    plan = write_plan(tmp_path, ["slow"], "concurrency = [1, 2, 3, 4]")
    study = tmp_path / "results" / "study"
    process = subprocess.Popen(command(tmp_path, plan), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    serving.wait_for(lambda: list(study.glob("*.json")) if study.exists() else False, "a first result")
    process.kill()
    process.wait()
    before = {file: file.stat().st_mtime_ns for file in study.glob("*.json")}
    assert 1 <= len(before) < 4
    run = bench(tmp_path, plan)
    assert_measured(run)
    assert run.stdout.count("(measured before)") == len(before)
    assert len(results_of(tmp_path)) == 4
    assert {file: file.stat().st_mtime_ns for file in before} == before
    for result in results_of(tmp_path).values():
        check_result(tmp_path, result)
    again = bench(tmp_path, plan)
    assert again.stdout.count("(measured before)") == 4


def workers_of(pid):
    pids = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        pids += [int(child) for child in (task / "children").read_text().split()]
    return pids


def test_control_c_keeps_what_is_finished_and_says_how_to_go_on(tmp_path):
    plan = write_plan(tmp_path, ["slow"], "concurrency = [1, 2, 3, 4, 5, 6]")
    study = tmp_path / "results" / "study"
    process = subprocess.Popen(command(tmp_path, plan), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    serving.wait_for(lambda: list(study.glob("*.json")) if study.exists() else False, "a first result")
    workers = workers_of(process.pid)
    assert workers
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    assert process.returncode == 130, stderr
    finished = len(results_of(tmp_path))
    assert 1 <= finished < 6
    assert f"the same command goes on with the {6 - finished} that are left" in stderr
    serving.wait_for(lambda: not any(pathlib.Path(f"/proc/{pid}").exists() for pid in workers), "the workers' end")


def test_results_are_printed_as_json(tmp_path):
    run = bench(tmp_path, write_plan(tmp_path, ["id_b8"], "batch = [1, 4]"), "--json")
    assert_measured(run)
    document = json.loads(run.stdout)
    assert [result["experiment"]["batch"] for result in document["results"]] == [1, 4]
    assert not document["stopped"] and document["not_run"] == 0
    assert "id_b8" in run.stderr  # the table


@pytest.mark.parametrize("tensors", ["binary", "json"])
def test_a_running_server_is_measured(tmp_path, server, tensors):
    plan = write_plan(tmp_path, ["id_b8", "add2", "slow"], "batch = [1, 8]\nconcurrency = [3]", target=f"http://{server.http}")
    plan.write_text(plan.read_text().replace("[grid]", f'tensors = "{tensors}"\n[grid]'))
    before = server.metrics()
    run = bench(tmp_path, plan)
    assert_measured(run)
    results = results_of(tmp_path)
    for result in results.values():
        check_result(tmp_path, result)
        assert result["experiment"]["tensors"] == tensors and result["experiment"]["lanes"] == ""
        assert result["machine"]["versions"]["server"].startswith("corelane")
    served = sum(value - before.get(name, 0) for name, value in server.metrics().items() if name.startswith("corelane_requests_total"))
    sent = sum(len(samples_of(tmp_path, result)) for result in results.values())
    assert served == sent, "the server answered as many requests as were sent"


def test_a_server_that_is_not_there_is_named(tmp_path):
    run = bench(tmp_path, write_plan(tmp_path, ["id_b8"], "", target="http://127.0.0.1:9"))
    assert run.returncode == 1
    assert "http://127.0.0.1:9" in run.stderr


def test_a_model_that_does_not_load_is_passed_over(tmp_path):
    run = bench(tmp_path, write_plan(tmp_path, ["broken", "id_b8"], ""))
    assert run.returncode == 1
    assert "broken f32 batch 1" in run.stderr and "not run:" in run.stderr
    assert [result["experiment"]["model"] for result in results_of(tmp_path).values()] == ["id_b8"]


def test_a_wrong_plan_is_refused_with_its_line(tmp_path):
    plan = write_plan(tmp_path, ["id_b8"], "bacth = [1]")
    run = bench(tmp_path, plan)
    assert run.returncode == 2
    assert "bacth" in run.stderr and "did you mean 'batch'" in run.stderr
    plan.write_text(plan.read_text().replace("bacth = [1]", "").replace('"400ms"', '"400"'))
    run = bench(tmp_path, plan)
    assert run.returncode == 2
    line = plan.read_text()[: plan.read_text().index("window")].count("\n") + 1
    assert f"plan.toml:{line}: [load]: window: '400' is not a duration" in run.stderr


def test_an_unknown_model_is_named_with_what_there_is(tmp_path):
    run = bench(tmp_path, "id_b9")
    assert run.returncode == 1
    assert "no model 'id_b9'" in run.stderr and "did you mean 'id_b8'" in run.stderr


def test_a_limit_that_nothing_keeps_is_exit_status_3(tmp_path):
    plan = write_plan(tmp_path, ["slow"], "")
    plan.write_text(plan.read_text() + '[slo]\np95 = "1ms"\n')
    for _ in range(5):  # until the machine is quiet enough for a valid result
        run = bench(tmp_path, plan, "--again")
        if run.returncode != 1:
            break
    assert run.returncode == 3, run.stderr
    assert "valid, over SLO" in run.stdout


def test_a_model_alone_gets_a_sound_plan(tmp_path):
    run = bench(tmp_path, "id_b8", "--quick", "--seconds", "0.3")
    assert_measured(run)
    results = results_of(tmp_path, "id_b8-quick")
    assert sorted({result["experiment"]["batch"] for result in results.values()}) == [1, 8]


MINILM = serving.ROOT / "models" / "minilm"


@pytest.mark.skipif(not MINILM.exists() or os.environ.get("CORELANE_BUILD_SANITIZED"), reason="models/minilm is not made")
def test_a_real_model_is_measured(tmp_path):
    (tmp_path / "lengths.txt").write_text("12\n40\n7\n25\n")
    plan = write_plan(tmp_path, ["minilm"], 'batch = [1, 4]\nprecision = ["f32"]\ntokens = [32, "lengths.txt"]')
    plan.write_text(plan.read_text().replace(f"INPUT0 = {SLEEP}", ""))
    parts = [part if part != str(serving.PROBES) else str(serving.ROOT / "models") for part in command(tmp_path, plan)]
    run = subprocess.run(parts, capture_output=True, text=True, timeout=120, check=False)
    assert_measured(run)
    results = results_of(tmp_path)
    assert len(results) == 4
    for result in results.values():
        check_result(tmp_path, result)
        assert result["machine"]["versions"]["openvino"]
    assert (tmp_path / "results" / "study" / "lengths.txt").exists()
