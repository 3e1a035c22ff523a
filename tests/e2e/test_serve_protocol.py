"""The v2 protocol as a client sees it: health, metadata, JSON and binary tensors, errors, metrics."""
import json
import struct

import numpy as np
import pytest
import tritonclient.http as triton
from serving import tensor


@pytest.fixture(scope="module")
def client(server):
    with triton.InferenceServerClient(server.http, concurrency=4) as made:
        yield made


def send(client, model, arrays, binary, outputs=("OUTPUT0",)):
    inputs = []
    for name, (array, datatype) in arrays.items():
        made = triton.InferInput(name, list(array.shape), datatype)
        made.set_data_from_numpy(array, binary_data=binary)
        inputs.append(made)
    wanted = [triton.InferRequestedOutput(name, binary_data=binary) for name in outputs]
    return client.infer(model, inputs, outputs=wanted)


def test_health_and_metadata(server, client):
    assert client.is_server_live() and client.is_server_ready()
    assert client.is_model_ready("id_fp32") and client.is_model_ready("id_fp32", "1")
    assert not client.is_model_ready("broken")  # load_at_start = false
    assert client.get_server_metadata()["name"] == "corelane"
    assert client.get_model_metadata("id_b8") == {
        "name": "id_b8", "versions": ["1"], "platform": "probe",
        "inputs": [{"name": "INPUT0", "datatype": "FP32", "shape": [-1, 4]}],
        "outputs": [{"name": "OUTPUT0", "datatype": "FP32", "shape": [-1, 4]}]}
    assert server.get("/v2/health/live")[2] == b""


IDENTITIES = {
    "id_fp32": (np.linspace(-1, 1, 7, dtype=np.float32), "FP32"),
    "id_b8": (np.arange(12, dtype=np.float32).reshape(3, 4), "FP32"),
    "id_u8": (np.arange(256, dtype=np.uint8), "UINT8"),
    "id_int64": (np.array([-(2**63), 0, 2**63 - 1], dtype=np.int64), "INT64"),
    "id_bytes": (np.array([b"", b"one", "zwei \u00e4".encode()], dtype=object), "BYTES"),
    "id_bytes2": (np.array([[b"a", b"bb"], [b"", b"d"]], dtype=object), "BYTES"),
    "reload": (np.zeros(1, dtype=np.float32), "FP32"),
}


@pytest.mark.parametrize("binary", [False, True], ids=["json", "binary"])
@pytest.mark.parametrize("model", [*IDENTITIES])
def test_identities_come_back_as_they_went(client, model, binary):
    if model == "reload" and not client.is_model_ready(model):
        pytest.skip("reload is loaded on demand only")
    array, datatype = IDENTITIES[model]
    got = send(client, model, {"INPUT0": (array, datatype)}, binary).as_numpy("OUTPUT0")
    if datatype == "BYTES":
        got = np.array([x.encode() if isinstance(x, str) else x for x in got.flat], dtype=object).reshape(got.shape)
    assert got.shape == array.shape and (got == array).all()


def test_fp16_comes_back_in_binary_and_is_rounded_from_json(server, client):
    array = np.array([1.5, -2.25, 65504], dtype=np.float16)
    got = send(client, "id_fp16", {"INPUT0": (array, "FP16")}, True).as_numpy("OUTPUT0")
    assert (got == array).all()
    status, answer = server.infer("id_fp16", tensor([1.5, 0.1], "FP16"))
    assert status == 200 and answer["outputs"][0]["data"] == pytest.approx([1.5, 0.1], abs=1e-4)


@pytest.mark.parametrize("binary", [False, True], ids=["json", "binary"])
def test_two_inputs(client, binary):
    a, b = np.array([1, 2, 3], np.float32), np.array([10, 20, 30], np.float32)
    got = send(client, "add2", {"INPUT1": (b, "FP32"), "INPUT0": (a, "FP32")}, binary).as_numpy("OUTPUT0")
    assert (got == a + b).all()


def test_an_empty_tensor_is_a_value(server):
    status, answer = server.infer("id_fp32", tensor([]))
    assert status == 200 and answer["outputs"][0]["shape"] == [0] and answer["outputs"][0]["data"] == []


def test_nothing_is_asked_for_so_all_outputs_come_and_the_id_comes_back(server):
    status, answer = server.infer("id_fp32", tensor([1, 2]), id="mine")
    assert status == 200
    assert answer == {"model_name": "id_fp32", "model_version": "1", "id": "mine",
                      "outputs": [{"name": "OUTPUT0", "datatype": "FP32", "shape": [2], "data": [1, 2]}]}


def test_not_a_number_is_a_string_that_strict_parsers_take(server):
    status, answer = server.infer("nan", tensor([1]))
    assert status == 200  # json.loads of the answer refuses nothing here, so look at the types
    assert answer["outputs"][0]["data"] == ["NaN", "Infinity", "-Infinity"]


def test_not_a_number_in_binary_is_one(client):
    got = send(client, "nan", {"INPUT0": (np.ones(1, np.float32), "FP32")}, True).as_numpy("OUTPUT0")
    assert np.isnan(got[0]) and got[1] == np.inf and got[2] == -np.inf


ERRORS = [
    ("id_fp32", [tensor([1, 2], shape=[3])], 400, "INPUT0"),
    ("id_fp32", [tensor([1], "INT32")], 400, "datatype INT32 where id_fp32@1 takes FP32"),
    ("id_fp32", [tensor([1], shape=[1, 1])], 400, "has rank 2 where id_fp32@1 takes [n]"),
    ("id_fp32", [tensor([1], name="x")], 400, "'INPUT0' is missing"),
    ("id_fp32", [], 400, ""),
    ("id_fp32", [tensor([1]), tensor([1], name="more")], 400, "input 'more'"),
    ("id_b8", [tensor([0] * 36, shape=[9, 4])], 400, "shape [9,4] exceeds batch <= 8 of id_b8@1"),
    ("id_b8", [tensor([0] * 3, shape=[1, 3])], 400, "shape [1,3] where id_b8@1 takes [batch,4]"),
    ("id_b8", [tensor([], shape=[0, 4])], 400, "below batch >= 1"),
    ("add2", [tensor([1, 2]), tensor([1], name="INPUT1")], 400, "has n = 1 where input 'INPUT0' has 2"),
    ("id_u8", [tensor([256], "UINT8")], 400, "256"),
    ("id_fp32", [tensor([1], shape=[-1])], 400, "-1"),
    ("nothing", [tensor([1])], 404, "model 'nothing' is not served here"),
    ("id_fp32/versions/7", [tensor([1])], 404, "no version 7"),
]


@pytest.mark.parametrize("model,inputs,status,part", ERRORS)
def test_a_fault_of_the_client_is_named(server, model, inputs, status, part):
    got, answer = server.infer(model, *inputs)
    assert got == status and part in answer["error"], answer


@pytest.mark.parametrize("body,headers", [
    (b"", {}), (b"{", {}), (b"[]", {}), (b'{"inputs": 3}', {}), (b"\xff\xfe", {}),
    (b"{}", {"Inference-Header-Content-Length": "3"}),
    (b"{}", {"Inference-Header-Content-Length": "-1"}),
    (b"{}", {"Inference-Header-Content-Length": "two"}),
])
def test_malformed_bodies_are_400(server, body, headers):
    status, _, answer = server.request("POST", "/v2/models/id_fp32/infer", body, headers)
    assert status == 400 and json.loads(answer)["error"]


@pytest.mark.parametrize("data", [b"", b"\0" * 7, b"\0" * 9])
def test_binary_data_must_be_as_long_as_declared(server, data):
    head = json.dumps({"inputs": [{"name": "INPUT0", "shape": [2], "datatype": "FP32",
                                   "parameters": {"binary_data_size": 8}}]}).encode()
    status, _, answer = server.request("POST", "/v2/models/id_fp32/infer", head + data,
                                       {"Inference-Header-Content-Length": str(len(head))})
    assert status == 400 and json.loads(answer)["error"]


def test_binary_answers_say_where_the_json_ends(server):
    data = struct.pack("<2f", 1, 2)
    head = json.dumps({"inputs": [{"name": "INPUT0", "shape": [2], "datatype": "FP32",
                                   "parameters": {"binary_data_size": 8}}],
                       "parameters": {"binary_data_output": True}}).encode()
    status, headers, answer = server.request("POST", "/v2/models/id_fp32/infer", head + data,
                                             {"Inference-Header-Content-Length": str(len(head))})
    assert status == 200 and headers["Content-Type"] == "application/octet-stream"
    cut = int(headers["Inference-Header-Content-Length"])
    assert json.loads(answer[:cut])["outputs"][0]["parameters"] == {"binary_data_size": 8}
    assert answer[cut:] == data


def test_unknown_paths_and_wrong_methods_are_json_errors(server):
    for method, path, expected in [("GET", "/", 404), ("GET", "/v2/models/id_fp32/versions/abc", 404),
                                   ("GET", "/v2/models/id_fp32/infer", 405), ("POST", "/v2/health/live", 405),
                                   ("DELETE", "/v2/models/id_fp32", 405)]:
        status, _, answer = server.request(method, path)
        assert status == expected and json.loads(answer)["error"], (method, path)


def test_metrics_add_up(server):
    def picture():
        m = server.metrics()
        labels = '{model="id_b8",version="1"}'
        return {"ok": m.get('corelane_requests_total{model="id_b8",code="200"}', 0),
                "bad": m.get('corelane_requests_total{model="id_b8",code="400"}', 0),
                "accepted": m[f"corelane_accepted_requests_total{labels}"],
                "succeeded": m[f"corelane_succeeded_requests_total{labels}"],
                "items": m[f"corelane_items_total{labels}"],
                "batches": m[f"corelane_batches_total{labels}"],
                "computed": m[f"corelane_compute_seconds_count{labels}"],
                "queued": m[f"corelane_queue_seconds_count{labels}"],
                "up": sum(value for name, value in m.items() if name.startswith("corelane_lane_up"))}

    before = picture()
    for rows in (1, 2, 3):
        assert server.infer("id_b8", tensor([0] * rows * 4, shape=[rows, 4]))[0] == 200
    assert server.infer("id_b8", tensor([0], shape=[1, 1]))[0] == 400
    after = picture()
    grown = {key: after[key] - before[key] for key in before}
    assert grown == {"ok": 3, "bad": 1, "accepted": 3, "succeeded": 3, "items": 6, "batches": 3, "computed": 3,
                     "queued": 3, "up": 0}
    assert after["up"] == len(server.workers()) and after["up"] > 0
