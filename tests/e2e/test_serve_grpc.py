"""The v2 protocol over gRPC: the same answers as over HTTP, streams, errors, dying workers, the end of the server."""
import asyncio
import os
import queue
import signal
import subprocess
import threading
import time

import grpc
import ml_dtypes
import numpy as np
import pytest
import serving
import tritonclient.grpc as triton
import tritonclient.grpc.aio as triton_aio
import tritonclient.http as triton_http
from google.protobuf import descriptor_pb2
from serving import wait_for
from tritonclient.grpc import model_config_pb2, service_pb2
from tritonclient.utils import InferenceServerException

PROTOS = serving.ROOT / "src" / "wire" / "proto"
IDENTITIES = {
    "id_fp32": (np.linspace(-1, 1, 7, dtype=np.float32), "FP32"),
    "id_b8": (np.arange(12, dtype=np.float32).reshape(3, 4), "FP32"),
    "id_u8": (np.arange(256, dtype=np.uint8), "UINT8"),
    "id_bool": (np.array([True, False, True]), "BOOL"),
    "id_int64": (np.array([-(2**63), 0, 2**63 - 1], dtype=np.int64), "INT64"),
    "id_fp16": (np.array([1.5, -2.25, 65504], dtype=np.float16), "FP16"),
    "id_bf16": (np.array([1.5, -2.25, 3e38], dtype=ml_dtypes.bfloat16), "BF16"),
    "id_bytes": (np.array([b"", b"one", "zwei ä".encode()], dtype=object), "BYTES"),
    "id_bytes2": (np.array([[b"a", b"bb"], [b"", b"d"]], dtype=object), "BYTES"),
    "nan": (np.ones(1, dtype=np.float32), "FP32"),
}


@pytest.fixture(scope="module")
def client(server):
    with triton.InferenceServerClient(server.grpc) as made:
        yield made


@pytest.fixture(scope="module")
def http_client(server):
    with triton_http.InferenceServerClient(server.http) as made:
        yield made


def inputs_of(array, datatype="FP32", name="INPUT0", package=triton):
    made = package.InferInput(name, list(array.shape), datatype)
    made.set_data_from_numpy(array)
    return [made]


def typed(model, datatype, shape, **contents):
    """A request whose tensor is in typed contents, which tritonclient itself never sends."""
    request = service_pb2.ModelInferRequest(model_name=model)
    tensor = request.inputs.add(name="INPUT0", datatype=datatype, shape=shape)
    tensor.contents.CopyFrom(service_pb2.InferTensorContents(**contents))
    return request


def code_of(call):
    with pytest.raises((InferenceServerException, grpc.RpcError)) as raised:
        call()
    error = raised.value
    if isinstance(error, grpc.RpcError):
        return f"StatusCode.{error.code().name}", error.details()
    return error.status(), error.message()


def test_our_messages_are_the_protocols(tmp_path):
    """Every field that we declare has the protocol's number, type and label."""
    compiled = tmp_path / "ours.binpb"
    subprocess.run(["protoc", f"--proto_path={PROTOS}", f"--descriptor_set_out={compiled}", "inference.proto"], check=True)
    ours = descriptor_pb2.FileDescriptorSet.FromString(compiled.read_bytes()).file[0]
    theirs = descriptor_pb2.FileDescriptorProto()
    service_pb2.DESCRIPTOR.CopyToProto(theirs)
    config = descriptor_pb2.FileDescriptorProto()
    model_config_pb2.DESCRIPTOR.CopyToProto(config)

    def compare(mine, known, path):
        fields = {field.name: (field.number, field.type, field.label) for field in known.field}
        for field in mine.field:
            assert fields.get(field.name) == (field.number, field.type, field.label), f"{path}.{field.name}"
        nested = {message.name: message for message in known.nested_type}
        for message in mine.nested_type:
            compare(message, nested[message.name], f"{path}.{message.name}")

    known = {message.name: message for message in [*theirs.message_type, *config.message_type]}
    for message in ours.message_type:
        compare(message, known[message.name], message.name)
    methods = {method.name: method for method in theirs.service[0].method}
    for method in ours.service[0].method:
        known = methods[method.name]
        assert (method.input_type, method.output_type) == (known.input_type, known.output_type)
        assert (method.client_streaming, method.server_streaming) == (known.client_streaming, known.server_streaming)
    values = {value.name: value.number for enum in config.enum_type for value in enum.value}
    assert all(values[value.name] == value.number for value in ours.enum_type[0].value)


def test_health_and_metadata(client, http_client):
    assert client.is_server_live() and client.is_server_ready()
    assert client.is_model_ready("id_fp32") and client.is_model_ready("id_fp32", "1")
    assert not client.is_model_ready("broken")  # load_at_start = false
    assert code_of(lambda: client.is_model_ready("id_fp32", "one"))[0] == "StatusCode.INVALID_ARGUMENT"
    assert client.get_server_metadata().name == "corelane"
    for model in ("id_b8", "add2", "id_bytes"):
        ours = client.get_model_metadata(model, as_json=True)
        expected = http_client.get_model_metadata(model)
        for tensor in ours["inputs"] + ours["outputs"]:
            tensor["shape"] = [int(size) for size in tensor["shape"]]
        assert ours == expected


def test_grpcs_own_health_check(server):
    with grpc.insecure_channel(server.grpc) as channel:
        check = channel.unary_unary("/grpc.health.v1.Health/Check")
        assert check(b"") == b"\x08\x01"  # SERVING
        name = b"inference.GRPCInferenceService"
        assert check(b"\x0a" + bytes([len(name)]) + name) == b"\x08\x01"
        assert code_of(lambda: check(b"\x0a\x01x"))[0] == "StatusCode.NOT_FOUND"


def test_configuration_and_statistics_tell_what_http_tells(client, http_client):
    client.infer("id_b8", inputs_of(np.zeros((2, 4), np.float32)))
    ours = client.get_model_config("id_b8", as_json=True)["config"]
    theirs = http_client.get_model_config("id_b8")
    assert ours["name"] == theirs["name"] and ours["max_batch_size"] == theirs["max_batch_size"] == 8
    assert ours["backend"] == theirs["backend"] and ours["parameters"] == theirs["parameters"]
    assert ours["input"] == [{"name": "INPUT0", "data_type": "TYPE_FP32", "dims": ["4"]}]
    assert "dynamic_batching" in ours
    stats = client.get_inference_statistics("id_b8").model_stats[0]
    told = http_client.get_inference_statistics("id_b8")["model_stats"][0]
    assert stats.inference_count == told["inference_count"] >= 2
    assert stats.inference_stats.success.ns == told["inference_stats"]["success"]["ns"] > 0
    assert [batch.batch_size for batch in stats.batch_stats] == [batch["batch_size"] for batch in told["batch_stats"]]
    assert {each.name for each in client.get_inference_statistics().model_stats} > {"id_b8", "null"}
    assert code_of(lambda: client.get_inference_statistics("nothing"))[0] == "StatusCode.NOT_FOUND"


@pytest.mark.parametrize("model", [*IDENTITIES])
def test_answers_are_those_of_http(client, http_client, model):
    array, datatype = IDENTITIES[model]
    ours = client.infer(model, inputs_of(array, datatype), request_id="mine")
    theirs = http_client.infer(model, inputs_of(array, datatype, package=triton_http))
    assert ours.get_response().id == "mine" and ours.get_response().model_version == "1"
    got = ours.as_numpy("OUTPUT0")
    assert got.shape == theirs.as_numpy("OUTPUT0").shape
    assert got.tobytes() == theirs.as_numpy("OUTPUT0").tobytes() if datatype != "BYTES" else (got == array).all()


def test_two_inputs(client):
    a, b = np.array([1, 2, 3], np.float32), np.array([10, 20, 30], np.float32)
    got = client.infer("add2", [*inputs_of(b, name="INPUT1"), *inputs_of(a, name="INPUT0")]).as_numpy("OUTPUT0")
    assert (got == a + b).all()


@pytest.mark.parametrize("model,datatype,contents,expected", [
    ("id_fp32", "FP32", {"fp32_contents": [0.5, -1]}, np.array([0.5, -1], np.float32).tobytes()),
    ("id_int64", "INT64", {"int64_contents": [-(2**63), 2**63 - 1]}, np.array([-(2**63), 2**63 - 1]).tobytes()),
    ("id_u8", "UINT8", {"uint_contents": [0, 255]}, b"\0\xff"),
    ("id_bool", "BOOL", {"bool_contents": [True, False]}, b"\1\0"),
    ("id_bytes", "BYTES", {"bytes_contents": [b"", b"ab"]}, b"\0\0\0\0\2\0\0\0ab"),
])
def test_typed_contents(server, model, datatype, contents, expected):
    with grpc.insecure_channel(server.grpc) as channel:
        stub = triton.service_pb2_grpc.GRPCInferenceServiceStub(channel)
        assert stub.ModelInfer(typed(model, datatype, [2], **contents)).raw_output_contents == [expected]


def test_classes(client, http_client):
    scores = np.array([[3, 9, 1, 5]], np.float32)
    wanted = triton.InferRequestedOutput("OUTPUT0", class_count=2)
    got = client.infer("id_b8", inputs_of(scores), outputs=[wanted]).as_numpy("OUTPUT0")
    wanted = triton_http.InferRequestedOutput("OUTPUT0", binary_data=True, class_count=2)
    expected = http_client.infer("id_b8", inputs_of(scores, package=triton_http), outputs=[wanted]).as_numpy("OUTPUT0")
    assert got.tolist() == expected.tolist() and got[0][0].startswith(b"9")


@pytest.mark.parametrize("megabytes", [1, 5, 64])
def test_large_tensors(server, megabytes):
    array = np.random.default_rng(1).integers(0, 256, megabytes << 20, dtype=np.uint8)
    with triton.InferenceServerClient(server.grpc) as client:
        assert (client.infer("id_u8", inputs_of(array, "UINT8")).as_numpy("OUTPUT0") == array).all()


ERRORS = [
    (typed("nothing", "FP32", [1], fp32_contents=[1]), "NOT_FOUND", "model 'nothing' is not served here"),
    (typed("id_fp32", "FP32", [2], fp32_contents=[1]), "INVALID_ARGUMENT", "input 'INPUT0'"),
    (typed("id_fp32", "FP64", [1], fp64_contents=[1]), "INVALID_ARGUMENT", "datatype FP64 where id_fp32@1 takes FP32"),
    (typed("id_u8", "UINT8", [1], uint_contents=[256]), "INVALID_ARGUMENT", "256"),
    (typed("id_b8", "FP32", [1, 3], fp32_contents=[1, 2, 3]), "INVALID_ARGUMENT", "where id_b8@1 takes [batch,4]"),
    (service_pb2.ModelInferRequest(model_name="id_fp32"), "INVALID_ARGUMENT", "'INPUT0' is missing"),
    (service_pb2.ModelInferRequest(model_name="id_fp32", model_version="x"), "INVALID_ARGUMENT", "version 'x'"),
    (service_pb2.ModelInferRequest(model_name="id_fp32", model_version="7"), "NOT_FOUND", "no version 7"),
    (service_pb2.ModelInferRequest(), "INVALID_ARGUMENT", "model_name is missing"),
]


@pytest.mark.parametrize("request_message,code,part", ERRORS)
def test_a_fault_of_the_client_is_named(server, request_message, code, part):
    with grpc.insecure_channel(server.grpc) as channel:
        stub = triton.service_pb2_grpc.GRPCInferenceServiceStub(channel)
        status, details = code_of(lambda: stub.ModelInfer(request_message))
        assert status == f"StatusCode.{code}" and part in details
        (answer,) = list(stub.ModelStreamInfer(iter([request_message])))
        assert part in answer.error_message


def test_what_is_not_served_is_unimplemented(server, client):
    assert code_of(client.get_system_shared_memory_status)[0] == "StatusCode.UNIMPLEMENTED"
    assert code_of(client.get_trace_settings)[0] == "StatusCode.UNIMPLEMENTED"
    data = inputs_of(np.ones(1, np.float32))
    assert code_of(lambda: client.infer("id_fp32", data, sequence_id=3))[0] == "StatusCode.UNIMPLEMENTED"
    assert code_of(lambda: client.infer("id_fp32", data, priority=1))[0] == "StatusCode.UNIMPLEMENTED"
    assert code_of(lambda: client.infer("id_fp32", data, compression_algorithm="gzip"))[0] == "StatusCode.UNIMPLEMENTED"
    with grpc.insecure_channel(server.grpc) as channel:
        infer = channel.unary_unary("/inference.GRPCInferenceService/ModelInfer")
        assert code_of(lambda: infer(b"\xff\xff\xff"))[0] == "StatusCode.INVALID_ARGUMENT"


def test_the_asynchronous_call(client):
    answers = queue.Queue()
    for number in range(20):
        array = np.full(3, number, np.float32)
        client.async_infer("id_fp32", inputs_of(array), lambda result, error: answers.put((result, error)))
    got = [answers.get(timeout=serving.PATIENCE) for _ in range(20)]
    assert not [error for _, error in got if error]
    assert sorted(result.as_numpy("OUTPUT0")[0] for result, _ in got) == list(range(20))


def test_a_stream_answers_in_order_and_goes_on_after_an_error(server):
    answers = queue.Queue()
    with triton.InferenceServerClient(server.grpc) as client:
        client.start_stream(lambda result, error: answers.put((result, error)))
        for number in range(300):  # more than a stream may have unanswered
            model = "nothing" if number == 7 else "id_fp32"
            client.async_stream_infer(model, inputs_of(np.full(2, number, np.float32)), request_id=str(number))
        got = [answers.get(timeout=serving.PATIENCE) for _ in range(300)]
        client.stop_stream()
    for number, (result, error) in enumerate(got):
        if number == 7:
            assert "model 'nothing' is not served here" in error.message()
        else:
            assert error is None and result.get_response().id == str(number)
            assert (result.as_numpy("OUTPUT0") == number).all()


def test_a_stream_marks_its_last_answers_when_asked(server):
    answers = queue.Queue()
    with triton.InferenceServerClient(server.grpc) as client:
        client.start_stream(lambda result, error: answers.put((result, error)))
        client.async_stream_infer("id_fp32", inputs_of(np.ones(1, np.float32)), enable_empty_final_response=True)
        result, error = answers.get(timeout=serving.PATIENCE)
        client.stop_stream()
    assert error is None and result.get_response().parameters["triton_final_response"].bool_param


def test_asyncio(server):
    async def use():
        async with triton_aio.InferenceServerClient(server.grpc) as client:
            asked = [client.infer("id_fp32", inputs_of(np.full(1, i, np.float32), package=triton_aio)) for i in range(10)]
            return [answer.as_numpy("OUTPUT0")[0] for answer in await asyncio.gather(*asked)]

    assert asyncio.run(use()) == list(range(10))


def test_deadlines_are_kept_while_lanes_are_busy(own_server):
    server = own_server()
    with triton.InferenceServerClient(server.grpc) as client:
        seconds = np.array([1.0], np.float32)
        busy = [client.async_infer("slow", inputs_of(seconds), lambda result, error: None) for _ in range(4)]
        wait_for(lambda: server.metrics()['corelane_running_requests{model="slow",version="1"}'] >= 2, "busy lanes")
        began = time.monotonic()
        code, _ = code_of(lambda: client.infer("slow", inputs_of(seconds), client_timeout=0.1))
        assert code == "StatusCode.DEADLINE_EXCEEDED" and time.monotonic() - began < 0.5
        code, details = code_of(lambda: client.infer("slow", inputs_of(seconds), timeout=50_000))
        assert code == "StatusCode.UNAVAILABLE" and time.monotonic() - began < 0.9, details
        assert len(busy) == 4
        failed = 'corelane_failed_requests_total{model="slow",version="1"}'
        wait_for(lambda: server.metrics()[failed] == 2, "both given up in the queue, neither computed")


def test_answers_are_counted_with_those_of_http(server, client):
    counted = 'corelane_requests_total{model="id_fp32",code="%d"}'
    before = server.metrics()
    client.infer("id_fp32", inputs_of(np.ones(1, np.float32)))
    code_of(lambda: client.infer("id_fp32", inputs_of(np.ones((1, 1), np.float32))))
    after = server.metrics()
    assert after[counted % 200] == before.get(counted % 200, 0) + 1
    assert after[counted % 400] == before.get(counted % 400, 0) + 1


class Load:
    """Closed loop over gRPC: each thread sends, checks the answer, and sends again, until stop()."""

    def __init__(self, server, model, threads, make):
        self.server, self.model, self.make = server, model, make
        self.stopping, self.lock = threading.Event(), threading.Lock()
        self.ok, self.failures, self.refused = 0, [], []
        self.threads = [threading.Thread(target=self._run, args=(i,)) for i in range(threads)]
        for thread in self.threads:
            thread.start()

    def _run(self, number):
        with triton.InferenceServerClient(self.server.grpc) as client:
            sent = 0
            while not self.stopping.is_set():
                sent += 1
                array = self.make(number, sent)
                began = time.monotonic()
                try:
                    got = client.infer(self.model, inputs_of(array)).as_numpy("OUTPUT0")
                except InferenceServerException as error:
                    with self.lock:
                        self.refused.append((began, error.status(), error.message()))
                    return
                with self.lock:
                    if got.shape == array.shape and (self.model == "slow" or (got == array).all()):
                        self.ok += 1
                    else:
                        self.failures.append((array, got))

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join(timeout=serving.PATIENCE)


def rows(number, sent):
    count = 1 + (number + sent) % 3
    return (number * 100_000 + sent * 10 + np.arange(count * 4, dtype=np.float32)).reshape(count, 4)


def test_killed_workers_lose_no_request(own_server):
    server = own_server()
    if len(server.workers()) < 2:
        pytest.skip("needs two lanes")
    load = Load(server, "id_b8", 8, rows)
    for kills in range(1, 4):
        wait_for(lambda goal=load.ok + 200: load.ok > goal or load.failures or load.refused, "answers before the kill")
        os.kill(server.workers()[kills % 2], signal.SIGKILL)
        wait_for(lambda expected=kills: server.restarts() == expected and server.lanes_up() == 2, "the worker's return")
    wait_for(lambda goal=load.ok + 200: load.ok > goal or load.failures or load.refused, "answers after the kills")
    load.stop()
    assert not load.failures and not load.refused


def test_sigterm_under_load_answers_what_was_accepted(own_server):
    server = own_server()
    load = Load(server, "slow", 6, lambda number, sent: np.array([0.2], np.float32))
    wait_for(lambda: load.ok > 6, "answers")
    answers = queue.Queue()
    client = triton.InferenceServerClient(server.grpc)
    client.start_stream(lambda result, error: answers.put((result, error)))
    client.async_stream_infer("slow", inputs_of(np.array([0.2], np.float32)))
    waiting, running = (f'corelane_{state}_requests{{model="slow",version="1"}}' for state in ("waiting", "running"))
    wait_for(lambda: server.metrics()[waiting] + server.metrics()[running] >= 7, "all to be accepted")
    began = time.monotonic()
    server.terminate()
    result, error = answers.get(timeout=serving.PATIENCE)
    assert error is None and result.as_numpy("OUTPUT0") is not None
    _, error = answers.get(timeout=serving.PATIENCE)  # the stream's end
    assert "shutting down" in error.message()
    assert server.process.wait(timeout=10) == 0, server.log.read_text()
    assert time.monotonic() - began < 5
    load.stop()
    client.close()
    assert not load.failures
    # A call that had been on its way for longer than a moment was accepted, and none of those may fail.
    assert not [refusal for refusal in load.refused if refusal[0] < began - 0.05], load.refused
    assert {status for _, status, _ in load.refused} <= {"StatusCode.UNAVAILABLE"}, load.refused


def test_grpc_can_be_off_and_cannot_share_a_port(own_server, tmp_path):
    assert own_server("--grpc", "off").grpc is None
    server = own_server()
    taken = subprocess.run([serving.BUILD / "corelane", "serve", serving.PROBES, "--http", "127.0.0.1:0",
                            "--grpc", server.grpc], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert taken.returncode == 1 and "cannot be listened on for gRPC" in taken.stderr
