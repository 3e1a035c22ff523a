"""The rest of the v2 protocol over HTTP: configuration, statistics, raw requests, classes, compression."""
import asyncio
import gzip
import json
import shutil
import struct
import zlib

import ml_dtypes
import numpy as np
import pytest
import serving
import tritonclient.http as triton
import tritonclient.http.aio as triton_aio
from serving import tensor

RAW = {"Inference-Header-Content-Length": "0"}
LARGE = np.tile(np.arange(64, dtype=np.float32), 64)  # 16 KiB that pack well


@pytest.fixture(scope="module")
def client(server):
    with triton.InferenceServerClient(server.http, concurrency=4) as made:
        yield made


@pytest.fixture
def pythonic(server):
    """Runs a coroutine with the asynchronous client."""

    def run(use):
        async def with_client():
            async with triton_aio.InferenceServerClient(server.http) as made:
                return await use(made)

        return asyncio.run(with_client())

    return run


def inputs_of(array, datatype="FP32", binary=True):
    made = triton.InferInput("INPUT0", list(array.shape), datatype)
    made.set_data_from_numpy(array, binary_data=binary)
    return [made]


def post(server, model, body, **headers):
    return server.request("POST", f"/v2/models/{model}/infer", body, {k.replace("_", "-"): v for k, v in headers.items()})


def test_the_server_names_the_extensions_that_it_has(client):
    assert client.get_server_metadata()["extensions"] == [
        "binary_tensor_data", "classification", "model_configuration", "model_repository",
        "model_repository(unload_dependents)", "statistics"]


def test_a_models_configuration(client):
    expected = {
        "name": "id_b8", "platform": "probe", "backend": "probe", "version_policy": {"specific": {"versions": [1]}},
        "max_batch_size": 8, "input": [{"name": "INPUT0", "data_type": "TYPE_FP32", "dims": [4]}],
        "output": [{"name": "OUTPUT0", "data_type": "TYPE_FP32", "dims": [4]}],
        "dynamic_batching": {"max_queue_delay_microseconds": 0}, "parameters": {"precision": {"string_value": "f32"}}}
    assert client.get_model_config("id_b8") == expected
    assert client.get_model_config("id_b8", "1") == expected
    strings = client.get_model_config("id_bytes2")
    assert strings["max_batch_size"] == 0 and "dynamic_batching" not in strings
    assert strings["input"] == [{"name": "INPUT0", "data_type": "TYPE_STRING", "dims": [-1, -1]}]
    with pytest.raises(triton.InferenceServerException, match="no version 7"):
        client.get_model_config("id_b8", "7")


def statistics(client, model):
    (found,) = client.get_inference_statistics(model)["model_stats"]
    return found


def test_statistics_add_up(server, client):
    """Counts of requests, rows and runs agree with each other and with /metrics; times only grow."""
    before = statistics(client, "id_b8")
    for rows in (1, 2, 2):
        client.infer("id_b8", inputs_of(np.zeros((rows, 4), np.float32)))
    assert server.infer("id_b8", tensor([0], shape=[1, 1]))[0] == 400  # never accepted: no failure of the model
    after = statistics(client, "id_b8")

    assert after["name"] == "id_b8" and after["version"] == "1"
    assert after["last_inference"] > max(before["last_inference"], 1_700_000_000_000)
    assert after["inference_count"] - before["inference_count"] == 5
    assert after["execution_count"] - before["execution_count"] == 3
    steps = {name: (after["inference_stats"][name]["count"] - before["inference_stats"][name]["count"],
                    after["inference_stats"][name]["ns"] - before["inference_stats"][name]["ns"])
             for name in after["inference_stats"]}
    for name in ("success", "queue", "compute_input", "compute_infer", "compute_output"):
        assert steps[name][0] == 3 and steps[name][1] > 0, (name, steps)
    for name in ("fail", "cache_hit", "cache_miss"):
        assert steps[name] == (0, 0), (name, steps)
    parts = sum(steps[name][1] for name in ("queue", "compute_input", "compute_infer", "compute_output"))
    assert parts == steps["success"][1]

    runs = {b["batch_size"]: b["compute_infer"]["count"] for b in after["batch_stats"]}
    assert sum(runs.values()) == after["execution_count"]
    assert sum(size * count for size, count in runs.items()) == after["inference_count"]
    assert [usage["id"] for usage in after["memory_usage"]] == list(range(len(server.workers())))
    assert all(usage["type"] == "CPU" and usage["byte_size"] >= 0 for usage in after["memory_usage"])
    metrics = server.metrics()
    labels = '{model="id_b8",version="1"}'
    assert metrics[f"corelane_succeeded_requests_total{labels}"] == after["inference_stats"]["success"]["count"]
    assert metrics[f"corelane_items_total{labels}"] == after["inference_count"]


def test_statistics_of_all_models_or_of_one_version(server, client):
    every = client.get_inference_statistics()["model_stats"]
    assert {"id_b8", "null", "slow"} <= {model["name"] for model in every}
    assert len(client.get_inference_statistics("null", "1")["model_stats"]) == 1
    assert server.get("/v2/models/nothing/stats")[0] == 404
    assert server.get("/v2/models/null/versions/9/stats")[0] == 404


@pytest.mark.parametrize("model,body,shape,data", [
    ("id_fp32", struct.pack("<3f", 1, 2, 3), [3], [1, 2, 3]),
    ("id_fp32", b"", [0], []),
    ("id_b8", struct.pack("<4f", 1, 2, 3, 4), [1, 4], [1, 2, 3, 4]),
    ("id_u8", b"abc", [3], [97, 98, 99]),
])
def test_a_raw_request_is_the_bytes_of_the_only_input(server, model, body, shape, data):
    status, headers, answer = post(server, model, body, **RAW)
    assert status == 200, answer
    cut = int(headers.get("Inference-Header-Content-Length", len(answer)))
    (output,) = json.loads(answer[:cut])["outputs"]
    assert output["shape"] == shape and output["parameters"] == {"binary_data_size": len(body)}
    assert answer[cut:] == body
    assert np.frombuffer(answer[cut:], np.uint8 if model == "id_u8" else np.float32).tolist() == data


def test_a_raw_string_comes_without_its_length(server):
    status, headers, answer = post(server, "id_bytes", "zwei \u00e4".encode(), **RAW)
    assert status == 200, answer
    cut = int(headers["Inference-Header-Content-Length"])
    assert json.loads(answer[:cut])["outputs"][0]["shape"] == [1]
    assert answer[cut:] == struct.pack("<I", 7) + "zwei \u00e4".encode()


@pytest.mark.parametrize("model,body,status,part", [
    ("add2", b"", 400, "add2@1 has 2 inputs"),
    ("id_b8", b"\0" * 15, 400, "input 'INPUT0': a raw request of 15 bytes is not [1,4] of FP32"),
    ("id_fp32", b"\0" * 6, 400, "input 'INPUT0'"),
    ("id_bytes2", b"x", 400, "input 'INPUT0': more than one of its dimensions varies"),
    ("nothing", b"x", 404, "model 'nothing'"),
])
def test_raw_requests_that_cannot_be_are_named(server, model, body, status, part):
    got, _, answer = post(server, model, body, **RAW)
    assert got == status and part in json.loads(answer)["error"], answer


def test_classes_instead_of_scores(client):
    scores = np.array([[0.25, 3, -1, 0.5], [7, 7, 9, 8]], np.float32)
    for binary in (False, True):
        wanted = [triton.InferRequestedOutput("OUTPUT0", binary_data=binary, class_count=2)]
        got = client.infer("id_b8", inputs_of(scores), outputs=wanted)
        classes = [[x.decode() if isinstance(x, bytes) else x for x in row] for row in got.as_numpy("OUTPUT0")]
        assert classes == [["3:1", "0.5:3"], ["9:2", "8:3"]]
        assert got.get_output("OUTPUT0")["datatype"] == "BYTES"


def test_classes_have_the_names_that_the_version_gives_them(own_server, tmp_path):
    version = tmp_path / "models" / "id_b8" / "1"
    shutil.copytree(serving.PROBES / "id_b8" / "1", version)
    text = (version / "model.toml").read_text()
    (version / "model.toml").write_text(text.replace('[[output]]', '[[output]]\nlabels = "names.txt"'))
    (version / "names.txt").write_text("cat\ndog\n\nfish\n")
    running = own_server(models=tmp_path / "models")
    status, answer = running.infer("id_b8", tensor([1, 2, 3, 4], shape=[1, 4]),
                                   outputs=[{"name": "OUTPUT0", "parameters": {"classification": 9}}])
    assert status == 200
    assert answer["outputs"] == [{"name": "OUTPUT0", "datatype": "BYTES", "shape": [1, 4],
                                  "data": ["4:3:fish", "3:2", "2:1:dog", "1:0:cat"]}]
    config = json.loads(running.get("/v2/models/id_b8/config")[2])
    assert config["output"][0]["label_filename"] == "names.txt"


def test_what_has_no_order_has_no_classes(server):
    wanted = [{"name": "OUTPUT0", "parameters": {"classification": 1}}]
    status, answer = server.infer("id_bytes", tensor(["a"], "BYTES"), outputs=wanted)
    assert status == 400 and "output 'OUTPUT0': BYTES cannot be classified" in answer["error"]
    wanted[0]["parameters"]["classification"] = 0
    status, answer = server.infer("id_fp32", tensor([1]), outputs=wanted)
    assert status == 400 and "output 'OUTPUT0': classification is 0" in answer["error"]


@pytest.mark.parametrize("response", [None, "gzip", "deflate"])
@pytest.mark.parametrize("request_", [None, "gzip", "deflate"])
@pytest.mark.parametrize("binary", [False, True], ids=["json", "binary"])
def test_packed_both_ways(client, pythonic, binary, request_, response):
    how = {"request_compression_algorithm": request_, "response_compression_algorithm": response}
    outputs = [triton.InferRequestedOutput("OUTPUT0", binary_data=binary)]
    answers = [
        client.infer("id_fp32", inputs_of(LARGE, binary=binary), outputs=outputs, **how),
        client.async_infer("id_fp32", inputs_of(LARGE, binary=binary), outputs=outputs, **how).get_result(),
        pythonic(lambda made: made.infer("id_fp32", inputs_of(LARGE, binary=binary), outputs=outputs, **how)),
    ]
    for answer in answers:
        assert (answer.as_numpy("OUTPUT0") == LARGE).all()


BODY = json.dumps({"inputs": [tensor(LARGE.tolist())]}).encode()


@pytest.mark.parametrize("accepted,encoding", [
    ("gzip", "gzip"), ("deflate", "deflate"), ("deflate;q=0.9, gzip;q=0.8", "deflate"), ("*", "gzip"),
    ("gzip;q=0", None), ("br", None), ("identity, gzip;q=0.5", None)])
def test_an_answer_is_packed_as_the_client_likes_it(server, accepted, encoding):
    status, headers, answer = post(server, "id_fp32", BODY, Accept_Encoding=accepted)
    assert status == 200 and headers.get("Content-Encoding") == encoding
    assert int(headers["Content-Length"]) == len(answer)
    unpack = {"gzip": gzip.decompress, "deflate": zlib.decompress, None: bytes}[encoding]
    assert json.loads(unpack(answer))["outputs"][0]["data"] == LARGE.tolist()


def test_a_small_answer_is_not_worth_packing(server):
    body = json.dumps({"inputs": [tensor([1])]}).encode()
    _, headers, _ = post(server, "id_fp32", body, Accept_Encoding="gzip")
    assert "Content-Encoding" not in headers


@pytest.mark.parametrize("body,encoding,status,part", [
    (BODY, "gzip", 400, "not valid gzip"),
    (gzip.compress(BODY), "deflate", 400, "not valid deflate"),
    (gzip.compress(BODY)[:-1], "gzip", 400, "cut short"),
    (zlib.compress(BODY) + b"x", "deflate", 400, "something follows"),
    (BODY, "br", 501, "'br' is not served"),
    (gzip.compress(gzip.compress(BODY)), "gzip, gzip", 501, "not served"),
    (gzip.compress(bytes(65 << 20)), "gzip", 413, "67108864 bytes allowed"),
    (BODY, "identity", 200, ""),
])
def test_bodies_that_cannot_be_unpacked_are_named(server, body, encoding, status, part):
    got, headers, answer = post(server, "id_fp32", body, Content_Encoding=encoding)
    assert got == status, answer
    if status != 200:
        assert part in json.loads(answer)["error"]
    assert headers.get("Accept-Encoding") == ("gzip, deflate" if status == 501 else None)


def test_lengths_are_those_of_the_unpacked_body(server):
    head = json.dumps({"inputs": [{"name": "INPUT0", "shape": [4096], "datatype": "FP32",
                                   "parameters": {"binary_data_size": 16384}}]}).encode()
    length = {"Inference_Header_Content_Length": str(len(head))}
    status, _, answer = post(server, "id_fp32", gzip.compress(head + LARGE.tobytes()), Content_Encoding="gzip", **length)
    assert status == 200 and json.loads(answer)["outputs"][0]["data"] == LARGE.tolist()
    status, _, answer = post(server, "id_fp32", gzip.compress(head + LARGE.tobytes()[1:]), Content_Encoding="gzip",
                             **length)
    assert status == 400 and "1 more are expected" in json.loads(answer)["error"]
    status, _, answer = post(server, "id_fp32", gzip.compress(LARGE.tobytes()), Content_Encoding="gzip", **RAW)
    assert status == 200 and answer.endswith(LARGE.tobytes())


@pytest.mark.parametrize("parameter", ["priority", "sequence_id", "sequence_start", "headers", "triton_enable"])
def test_a_parameter_is_honoured_or_refused(server, parameter):
    status, answer = server.infer("id_fp32", tensor([1]), parameters={parameter: 1})
    assert status in (400, 501) and f"'{parameter}'" in answer["error"]


def test_the_default_of_a_parameter_asks_for_nothing(server):
    status, _ = server.infer("id_fp32", tensor([1]), parameters={"priority": 0, "timeout": 0, "binary_data_output": False})
    assert status == 200


@pytest.mark.parametrize("datatype,values,rounded", [
    ("FP16", [0.1, -65504, 5.960464477539063e-08], [0.099975586, -65504, 5.9604645e-08]),
    ("FP16", [2049, 2051], [2048, 2052]),  # ties go to even
])
def test_fp16_in_json_rounds_to_nearest_even(server, datatype, values, rounded):
    status, answer = server.infer("id_fp16", tensor(values, datatype))
    assert status == 200 and answer["outputs"][0]["data"] == pytest.approx(rounded, rel=1e-6, abs=0)


def test_bf16_goes_both_ways(server, client):
    array = np.array([1.5, -2.25, 3.0e38], ml_dtypes.bfloat16)
    got = client.infer("id_bf16", inputs_of(array, "BF16")).as_numpy("OUTPUT0")
    assert (got.astype(np.float32) == array.astype(np.float32)).all()
    status, answer = server.infer("id_bf16", tensor([1.00390625, 1.01171875, -0.0], "BF16"))
    assert status == 200 and answer["outputs"][0]["data"] == [1, 1.015625, 0]  # ties go to even
    status, answer = server.infer("id_bf16", tensor([3.4e38], "BF16"))
    assert status == 400 and "data element 0 is 3.4e+38" in answer["error"]


def test_booleans_go_both_ways(server, client):
    array = np.array([True, False, True])
    assert (client.infer("id_bool", inputs_of(array, "BOOL")).as_numpy("OUTPUT0") == array).all()
    status, answer = server.infer("id_bool", tensor([True, False], "BOOL"))
    assert status == 200 and answer["outputs"][0]["data"] == [True, False]
    status, answer = server.infer("id_bool", tensor([1], "BOOL"))
    assert status == 400 and "data element 0 is 1, but BOOL takes true or false" in answer["error"]


@pytest.mark.parametrize("value", [65520, -1e9])
def test_fp16_in_json_is_checked_for_its_range(server, value):
    status, answer = server.infer("id_fp16", tensor([0, value], "FP16"))
    assert status == 400 and "input 'INPUT0': data element 1" in answer["error"] and "65504" in answer["error"]


def test_head_is_get_without_the_body(server):
    status, headers, body = server.request("HEAD", "/v2/models/id_b8")
    assert status == 200 and body == b"" and int(headers["Content-Length"]) == len(server.get("/v2/models/id_b8")[2])


def test_a_wrong_method_is_told_the_right_one(server):
    for method, path, allowed in [("POST", "/v2", "GET"), ("PUT", "/v2/models/id_b8/config", "GET"),
                                  ("GET", "/v2/models/id_b8/infer", "POST"), ("POST", "/v2/models/stats", "GET")]:
        status, headers, answer = server.request(method, path)
        assert status == 405 and headers["Allow"] == allowed and json.loads(answer)["error"], path
