"""Batches under load, dying workers, and the end of the server."""
import os
import random
import signal
import subprocess
import time

import pytest
from serving import BUILD, PROBES, Load, tensor, wait_for

TOKENS_MODEL = """format = 1
name = "tokens"
version = 1

[[input]]
name = "INPUT0"
type = "FP32"
shape = ["batch", "tokens"]
pad = -1

[[output]]
name = "OUTPUT0"
type = "FP32"
shape = ["batch", "tokens"]

[dimensions]
batch = { max = 8 }
tokens = { max = 128, buckets = [16, 32, 64, 128] }

[precision.f32]
engine = "probe"
options = { behaviour = "identity" }
"""


def same(request, answer):
    """None, or what is wrong with an identity's answer."""
    output = answer["outputs"][0]
    if output["shape"] == request["shape"] and output["data"] == request["data"]:
        return None
    return f"sent {request}, got {output}"


def rows(client, sent):
    """One to three rows of four numbers that no other request has."""
    count = 1 + (client + sent) % 3
    return tensor([float(client * 100_000 + sent * 10 + i) for i in range(count * 4)], shape=[count, 4])


def test_batches_give_everybody_their_own_rows(own_server):
    server = own_server()
    load = Load(server, "id_b8", 16, rows, same)
    wait_for(lambda: load.ok > 1500 or load.failures, "1500 answers")
    load.stop()
    assert not load.failures
    metrics = server.metrics()
    labels = '{model="id_b8",version="1"}'
    assert metrics[f"corelane_batches_total{labels}"] < metrics[f"corelane_succeeded_requests_total{labels}"]
    assert metrics['corelane_requests_total{model="id_b8",code="200"}'] == load.ok


def test_mixed_lengths_share_batches_and_come_back_unpadded(own_server, tmp_path):
    folder = tmp_path / "models" / "tokens" / "1"
    folder.mkdir(parents=True)
    (folder / "model.toml").write_text(TOKENS_MODEL)
    lengths = random.Random(1)

    def make(client, sent):
        length = lengths.randint(1, 24)
        return tensor([float(client * 1000 + sent + i) for i in range(length)], shape=[1, length])

    server = own_server(models=tmp_path / "models")
    load = Load(server, "tokens", 16, make, same)
    wait_for(lambda: load.ok > 1500 or load.failures, "1500 answers")
    load.stop()
    assert not load.failures
    labels = '{model="tokens",version="1"}'
    metrics = server.metrics()
    assert metrics[f"corelane_batches_total{labels}"] < metrics[f"corelane_succeeded_requests_total{labels}"]


def test_killed_workers_lose_no_request_and_are_back_soon(own_server):
    server = own_server()
    if len(server.workers()) < 2:
        pytest.skip("needs two lanes")
    load = Load(server, "id_b8", 8, rows, same)
    not_ready = []
    for kills in range(1, 4):
        wait_for(lambda goal=load.ok + 200: load.ok > goal or load.failures, "answers before the kill")
        os.kill(server.workers()[kills % 2], signal.SIGKILL)

        def back(expected=kills):
            if server.get("/v2/health/ready")[0] != 200:
                not_ready.append(expected)
            return server.restarts() == expected and server.lanes_up() == 2

        assert wait_for(back, "the worker's return") < 2
    wait_for(lambda goal=load.ok + 200: load.ok > goal or load.failures, "answers after the kills")
    load.stop()
    assert not load.failures
    assert not not_ready


def test_inputs_that_kill_every_worker_are_not_run_again(own_server, tmp_path):
    folder = tmp_path / "models" / "tokens" / "1"
    folder.mkdir(parents=True)
    text = TOKENS_MODEL.replace('behaviour = "identity"', 'behaviour = "identity", crash_on_value = 666')
    (folder / "model.toml").write_text(text)
    server = own_server(models=tmp_path / "models")
    poison = tensor([1, 666], shape=[1, 2])
    status, answer = server.infer("tokens", poison)
    assert status == 500 and "workers that died" in answer["error"]
    wait_for(lambda: server.restarts() >= 3, "three workers are back")
    status, answer = server.infer("tokens", poison)
    assert status == 500 and "not run again" in answer["error"]
    assert server.infer("tokens", tensor([1, 665], shape=[1, 2]))[0] == 200
    assert server.restarts() == 3
    metrics = server.metrics()
    assert metrics['corelane_poison_requests_total{model="tokens",version="1"}'] == 1
    assert metrics['corelane_requests_total{model="tokens",code="500"}'] == 2


def test_requests_wait_while_every_worker_is_being_replaced(own_server):
    server = own_server()
    load = Load(server, "slow", 2, lambda client, sent: tensor([0.05]), lambda request, answer: None)
    wait_for(lambda: load.ok > 3, "answers")
    for pid in server.workers():
        os.kill(pid, signal.SIGKILL)
    wait_for(lambda goal=load.ok + 3: load.ok > goal or load.failures, "answers of the new workers")
    load.stop()
    assert not load.failures


def test_sigterm_under_load_answers_what_was_accepted(own_server):
    server = own_server()
    load = Load(server, "slow", 6, lambda client, sent: tensor([0.2]), lambda request, answer: None)
    wait_for(lambda: load.ok > 6, "answers")
    load.ending = True
    began = time.monotonic()
    server.terminate()
    assert server.process.wait(timeout=10) == 0
    assert time.monotonic() - began < 5
    load.stop()
    assert not load.failures


def test_a_second_signal_stops_at_once(own_server, tmp_path):
    server = own_server()
    load = Load(server, "slow", 1, lambda client, sent: tensor([30.0]), lambda request, answer: None)
    load.ending = True
    wait_for(lambda: server.metrics()['corelane_running_requests{model="slow",version="1"}'] == 1, "a slow request")
    workers = server.workers()
    server.terminate()
    wait_for(lambda: "a second signal" in server.log.read_text(), "the first signal")
    began = time.monotonic()
    server.terminate()
    assert server.process.wait(timeout=10) != 0
    assert time.monotonic() - began < 1
    load.stop()
    wait_for(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in workers), "the workers' end", 5)
    server.process.returncode = 0  # what it answers to the fixture's question


@pytest.mark.parametrize("path", ["reload", "reload/1", "reload/1/model.toml"])
def test_one_model_is_served_under_its_name_even_if_it_is_not_loaded_at_the_start(own_server, path):
    server = own_server(models=PROBES / path)
    status, answer = server.infer("reload", tensor([1.5]))
    assert (status, answer["outputs"][0]["data"]) == (200, [1.5])
    assert server.infer("id_fp32", tensor([1.5]))[0] == 404


def test_a_model_that_is_not_compiled_gets_the_commands_to_type(tmp_path):
    (tmp_path / "net.onnx").write_bytes(b"")
    ended = subprocess.run([BUILD / "corelane", "serve", "net.onnx"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert "\n  corelane compile net.onnx --name net\n  corelane serve models/net\n" in ended.stderr


def test_a_timeout_is_kept_while_every_lane_is_busy(own_server):
    server = own_server()
    held = Load(server, "slow", len(server.workers()), lambda client, sent: tensor([1.0]), lambda request, answer: None)
    wait_for(lambda: server.metrics()['corelane_running_requests{model="slow",version="1"}'] == len(held.threads),
             "busy lanes")
    began = time.monotonic()
    status, answer = server.infer("slow", tensor([0.0]), parameters={"timeout": 50_000})
    assert status == 503 and "timeout" in answer["error"]
    assert time.monotonic() - began < 0.5
    held.stop()
    assert not held.failures


def test_a_full_queue_refuses_at_once(own_server):
    server = own_server("--queue", "2")
    lanes = len(server.workers())
    held = Load(server, "slow", lanes + 2, lambda client, sent: tensor([0.5]), lambda request, answer: None)
    wait_for(lambda: server.metrics()['corelane_waiting_requests{model="slow",version="1"}'] == 2, "a full queue")
    status, headers, body = server.request("POST", "/v2/models/slow/infer",
                                           '{"inputs":[{"name":"INPUT0","shape":[1],"datatype":"FP32","data":[0]}]}')
    held.stop()
    assert status == 503 and b"queue full (2 waiting" in body and int(headers["Retry-After"]) >= 1
    assert not held.failures
