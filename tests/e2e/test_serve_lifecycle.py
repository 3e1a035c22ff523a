"""Models are loaded, replaced and unloaded while the server runs and is used; a client sees no more than the version."""
import json
import os
import pathlib
import shutil
import signal
import threading

import pytest
import serving
import tritonclient.http
from serving import Load, tensor, wait_for
from tritonclient.utils import InferenceServerException

MODEL = """name = "m"
version = %d
[[input]]
name = "INPUT0"
type = "FP32"
shape = ["n"]
[[output]]
name = "OUTPUT0"
type = "FP32"
shape = ["n"]
[dimensions]
n = { min = 0 }
[precision.f32]
engine = "probe"
options = { behaviour = "%s" }
# %s
"""


def publish(root, version, behaviour="identity", note=""):
    """Puts a version there whole, as compile does."""
    draft = root / ".draft"
    draft.mkdir(parents=True)
    (draft / "model.toml").write_text(MODEL % (version, behaviour, note))
    (root / "m").mkdir(exist_ok=True)
    shutil.rmtree(root / "m" / str(version), ignore_errors=True)
    draft.rename(root / "m" / str(version))


@pytest.fixture
def models(tmp_path):
    root = tmp_path / "models"
    publish(root, 1)
    return root


@pytest.fixture
def client():
    """client(server): tritonclient.http, closed at the end."""
    opened = []

    def connect(server):
        opened.append(tritonclient.http.InferenceServerClient(server.http, network_timeout=60, connection_timeout=60))
        return opened[-1]

    yield connect
    for each in opened:
        each.close()


def values(sender, sent):
    """Numbers that no other request has."""
    return tensor([float(sender * 100_000 + sent * 10 + i) for i in range(1 + sent % 5)])


def same(request, answer):
    got = answer["outputs"][0]
    return None if got["data"] == request["data"] else f"{request} was answered with {got}"


def state_of(triton, name, version="1"):
    found = [each for each in triton.get_model_repository_index() if (each["name"], each["version"]) == (name, version)]
    assert len(found) == 1, found
    return found[0]


def versions_answering(server):
    return {server.infer("m", tensor([1.0]))[1]["model_version"] for _ in range(20)}


def test_the_index_lists_what_is_loaded_and_what_is_not(server, client):
    triton = client(server)
    assert state_of(triton, "reload")["state"] == "READY"
    broken = state_of(triton, "broken")
    assert broken["state"] == "UNAVAILABLE" and broken["reason"]
    status, _, body = server.request("POST", "/v2/repository/index", '{"ready": true}')
    assert status == 200 and all(each["state"] == "READY" for each in json.loads(body))
    assert server.request("POST", "/v2/repository/index", '{"ready": 1}')[0] == 400
    assert "model_repository" in triton.get_server_metadata()["extensions"]


def test_a_model_is_unloaded_and_loaded_again(own_server, client):
    server = own_server()
    triton = client(server)
    triton.unload_model("reload")
    assert not triton.is_model_ready("reload")
    assert state_of(triton, "reload") == {"name": "reload", "version": "1", "state": "UNAVAILABLE", "reason": "unloaded"}
    assert server.infer("reload", tensor([1.0]))[0] == 404
    assert server.get("/v2/health/ready")[0] == 200
    triton.load_model("reload")
    assert triton.is_model_ready("reload")
    status, answer = server.infer("reload", tensor([1.0, 2.0]))
    assert status == 200 and answer["outputs"][0]["data"] == [1.0, 2.0]


def test_what_cannot_be_done_is_a_400_that_says_why(own_server, client):
    server = own_server()
    triton = client(server)
    for name in ("broken", "nosuch", ".."):
        with pytest.raises(InferenceServerException) as refused:
            triton.load_model(name)
        assert refused.value.status() == "400" and name in refused.value.message()
    assert "lane" in state_of(triton, "broken")["reason"]
    with pytest.raises(InferenceServerException) as refused:
        triton.load_model("reload", config="{}")
    assert "config" in refused.value.message()
    with pytest.raises(InferenceServerException) as refused:
        triton.unload_model("broken")
    assert "not loaded" in refused.value.message()
    assert triton.is_model_ready("reload") and triton.is_server_ready()


def test_an_unload_tells_what_each_lane_gave_back(own_server):
    server = own_server()
    status, _, body = server.request("POST", "/v2/repository/models/reload/unload", "{}")
    assert status == 200
    freed = json.loads(body)["freed"]
    assert len(freed) == len(server.workers())
    assert all(each["version"] == "reload@1" and each["before_bytes"] > 0 and each["after_bytes"] > 0 for each in freed)
    assert "reload@1 unloaded; lane" in server.log.read_text()


def test_an_unload_answers_what_was_accepted(own_server, client):
    server = own_server()
    slow = Load(server, "slow", 4, lambda sender, sent: tensor([0.3]), lambda request, answer: None)
    running = 'corelane_running_requests{model="slow",version="1"}'
    wait_for(lambda: server.metrics()[running] == len(server.workers()), "slow requests")
    slow.stopping.set()
    client(server).unload_model("slow")
    slow.stop()
    assert slow.ok >= 4 and not slow.failures


def test_versions_swap_under_traffic_and_every_answer_is_right(own_server, client, models):
    server = own_server(models=models)
    triton = client(server)
    load = Load(server, "m", 6, values, same)
    for version in range(2, 12):
        publish(models, version)
        triton.load_model("m")
        assert versions_answering(server) == {str(version)}
    wait_for(lambda goal=load.ok + 200: load.ok > goal or load.failures, "answers after the swaps")
    load.stop()
    assert not load.failures
    assert state_of(triton, "m", "11")["state"] == "READY"
    assert state_of(triton, "m", "1")["state"] == "UNAVAILABLE"


def test_a_build_that_fails_to_load_leaves_the_old_one_serving(own_server, client, models):
    server = own_server(models=models)
    triton = client(server)
    load = Load(server, "m", 4, values, same)
    publish(models, 1, "fail_load")
    with pytest.raises(InferenceServerException):
        triton.load_model("m")
    (models / "m" / "1" / "model.toml").write_text("this is no manifest")
    with pytest.raises(InferenceServerException):
        triton.load_model("m")
    assert triton.is_model_ready("m")
    wait_for(lambda goal=load.ok + 200: load.ok > goal or load.failures, "answers after the failures")
    load.stop()
    assert not load.failures


def test_a_worker_is_killed_while_loads_go_on(own_server, client, models):
    server = own_server(models=models)
    if len(server.workers()) < 2:
        pytest.skip("needs two lanes")
    load = Load(server, "m", 4, values, same)
    refused = []

    def change():
        triton = tritonclient.http.InferenceServerClient(server.http, network_timeout=60)  # one a thread
        for version in range(2, 22):
            publish(models, version)
            try:
                triton.load_model("m")
            except InferenceServerException as error:
                refused.append(error)

    changes = threading.Thread(target=change)
    changes.start()
    for kills in range(1, 4):
        wait_for(lambda goal=load.ok + 100: load.ok > goal or load.failures, "answers before the kill")
        os.kill(server.workers()[kills % 2], signal.SIGKILL)
        wait_for(lambda expected=kills: server.restarts() == expected and server.lanes_up() == 2, "the worker's return")
    changes.join(timeout=serving.PATIENCE)
    load.stop()
    assert not load.failures and not refused
    assert versions_answering(server) == {"21"}
    entries = [each["state"] for each in client(server).get_model_repository_index() if each["name"] == "m"]
    assert entries.count("READY") == 1
    os.kill(server.workers()[0], signal.SIGKILL)
    wait_for(lambda: server.restarts() == 4 and server.lanes_up() == 2, "the worker's return")
    assert versions_answering(server) == {"21"}


def own_memory(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(("RssAnon", "RssFile")))


def test_fifty_loads_and_unloads_leave_memory_as_it_was(own_server, client):
    server = own_server()
    triton = client(server)
    pids = [server.process.pid, *server.workers()]

    def cycle():
        triton.unload_model("reload")
        triton.load_model("reload")
        assert server.infer("reload", tensor([3.0]))[1]["outputs"][0]["data"] == [3.0]

    for _ in range(10):
        cycle()
    before = [own_memory(pid) for pid in pids]
    for _ in range(50):
        cycle()
    grown = [after - was for after, was in zip([own_memory(pid) for pid in pids], before, strict=True)]
    assert max(grown) < 2048, f"kB of server and workers: {grown}"
    labels = '{model="reload",version="1"}'
    assert server.metrics()[f"corelane_succeeded_requests_total{labels}"] == 60


def test_load_names_the_models_of_the_start(own_server, client):
    server = own_server("--load", "reload,id_b8")
    ready = json.loads(server.request("POST", "/v2/repository/index", '{"ready":true}')[2])
    assert sorted(each["name"] for each in ready) == ["id_b8", "reload"]
    client(server).load_model("id_fp32")
    assert server.infer("id_fp32", tensor([4.0]))[0] == 200


def test_watch_loads_what_changed_and_stayed(own_server, models):
    server = own_server("--watch", "0.05", models=models)
    wait_for(lambda: versions_answering(server) == {"1"}, "the first version")
    publish(models, 2)
    wait_for(lambda: versions_answering(server) == {"2"}, "the second version")
