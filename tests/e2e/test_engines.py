"""Each engine plug-in, driven through its C boundary, against its own framework's run in Python.

CORELANE_BUILD names the build folder (build/dev). Engines that the build lacks are skipped by name,
with the reason that the build gives.
"""

import ctypes
import os
import pathlib

import numpy as np
import pytest
from engine_abi import Engine, EngineError

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENGINES = pathlib.Path(os.environ.get("CORELANE_BUILD", ROOT / "build" / "dev")).resolve() / "engines"
# The exporters used here are old on purpose: TorchScript is what users saved.
pytestmark = pytest.mark.filterwarnings("ignore")
F32, BF16 = 1e-4, 2e-2  # largest difference, as a part of the largest logit


def engine(name):
    path = ENGINES / f"libcorelane_{name}.so"
    if not path.exists():
        reason = ENGINES / f"{name}.missing"
        pytest.skip(f"engine {name}: {reason.read_text().strip() if reason.exists() else f'no {path}'}")
    return Engine(path)


def distance(got, expected):
    return float(np.abs(got - expected).max() / np.abs(expected).max())


class Case:
    """A small model with random weights: its artifacts, inputs of two shapes, and what torch answers."""

    def __init__(self, name, folder, module, batches, inputs, outputs, varying):
        import openvino
        import torch

        self.inputs, self.outputs, self.batches = inputs, outputs, batches
        self.script, self.onnx, self.ir = (folder / f"{name}.{ext}" for ext in ("pt", "onnx", "xml"))
        example = tuple(torch.from_numpy(a) for a in batches[0])
        with torch.inference_mode():
            torch.jit.trace(module, example, strict=False).save(self.script)
            torch.onnx.export(
                module, example, self.onnx, input_names=inputs, output_names=outputs, dynamic_axes=varying, dynamo=False
            )
            openvino.save_model(openvino.convert_model(self.onnx), self.ir, compress_to_fp16=False)
            script = torch.jit.load(self.script)
            self.torch = [self.arrays(script(*(torch.from_numpy(a) for a in batch))) for batch in batches]

    @staticmethod
    def arrays(answer):
        return [t.float().numpy() for t in (answer if isinstance(answer, tuple) else (answer,))]

    def openvino(self, artifact, precision):
        import openvino

        compiled = openvino.compile_model(artifact, "CPU", {"INFERENCE_PRECISION_HINT": precision})
        feeds = [dict(zip(self.inputs, batch, strict=True)) for batch in self.batches]
        return [[compiled(feed)[name] for name in self.outputs] for feed in feeds]

    def torch_bf16(self):
        import torch

        script = torch.jit.load(self.script)
        with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
            return [self.arrays(script(*(torch.from_numpy(a) for a in batch))) for batch in self.batches]


def bert(folder):
    import torch
    import transformers

    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=200, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128
    )
    model = transformers.BertForQuestionAnswering._from_config(config, attn_implementation="sdpa").eval()

    class Logits(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, ids, mask):
            answer = self.model(input_ids=ids, attention_mask=mask, return_dict=False)
            return answer[0], answer[1]

    random = np.random.default_rng(7)
    batches = [
        (random.integers(0, 200, (rows, tokens)), np.ones((rows, tokens), np.int64))
        for rows, tokens in ((2, 16), (5, 31))
    ]
    batches[1][1][0, 20:] = 0  # a padded row
    varying = {name: {0: "batch", 1: "tokens"} for name in ("ids", "mask", "start", "end")}
    return Case("bert", folder, Logits().eval(), batches, ["ids", "mask"], ["start", "end"], varying)


def resnet(folder):
    import torch
    import transformers

    torch.manual_seed(0)
    config = transformers.ResNetConfig(
        embedding_size=16, hidden_sizes=[16, 32], depths=[2, 2], layer_type="bottleneck", num_labels=10
    )
    model = transformers.ResNetForImageClassification(config).eval()

    class Logits(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, x):
            return self.model(x, return_dict=False)[0]

    random = np.random.default_rng(7)
    batches = [(random.standard_normal((rows, 3, 64, 64), np.float32),) for rows in (2, 3)]
    return Case("resnet", folder, Logits().eval(), batches, ["x"], ["y"], {"x": {0: "batch"}, "y": {0: "batch"}})


@pytest.fixture(scope="module", params=[bert, resnet], ids=["bert", "resnet"])
def case(request, tmp_path_factory):
    pytest.importorskip("torch")
    return request.param(tmp_path_factory.mktemp("models"))


def runs(plugin, case, artifact, precision):
    """Every batch twice, so that a shape seen before is covered too."""
    try:
        model = plugin.load(artifact, case.inputs, case.outputs, precision=precision, threads=2)
    except EngineError as error:
        if error.status == "unsupported" and precision == "bf16":
            pytest.skip(str(error))
        raise
    answers = [model.infer(*batch) for batch in case.batches * 2]
    report = model.describe()
    model.close()
    assert report["device"] == "cpu" and report["threads"] == 2
    assert report["precision"].get(precision, 0) > 0, report
    return answers


def assert_equal(got, expected, tolerance):
    for answer, wanted in zip(got, expected * 2, strict=True):
        for a, b in zip(answer, wanted, strict=True):
            assert a.shape == b.shape
            assert distance(a, b) <= tolerance


@pytest.mark.parametrize("artifact", ["onnx", "ir"])
def test_openvino_f32_equals_its_python_run(case, artifact):
    got = runs(engine("openvino"), case, getattr(case, artifact), "f32")
    assert_equal(got, case.openvino(getattr(case, artifact), "f32"), F32)
    assert_equal(got, case.torch, F32)


def test_openvino_bf16_is_near_f32_and_its_python_run(case):
    got = runs(engine("openvino"), case, case.ir, "bf16")
    assert_equal(got, case.openvino(case.ir, "bf16"), BF16)
    assert_equal(got, case.openvino(case.ir, "f32"), BF16)


def test_torch_f32_equals_its_python_run(case):
    assert_equal(runs(engine("torch"), case, case.script, "f32"), case.torch, F32)


def test_torch_bf16_is_near_f32_and_its_python_run(case):
    got = runs(engine("torch"), case, case.script, "bf16")
    assert_equal(got, case.torch_bf16(), BF16)
    assert_equal(got, case.torch, BF16)


def resident_mb():
    """After free memory has gone back to the system."""
    ctypes.CDLL(None).malloc_trim(0)
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6


@pytest.mark.parametrize("precision", ["f32", "bf16"])
def test_torch_gives_a_models_memory_back_with_the_model(precision, tmp_path):
    import torch

    size, layers = 2048, 4  # 67 MB of weights, 34 MB in bf16
    module = torch.nn.Sequential(*[torch.nn.Linear(size, size) for _ in range(layers)]).eval()
    torch.jit.trace(module, torch.zeros(1, size)).save(tmp_path / "wide.pt")
    del module
    plugin, left = engine("torch"), []
    for _ in range(4):
        model = plugin.load(tmp_path / "wide.pt", ["x"], ["y"], precision=precision)
        for _ in range(3):
            model.infer(np.ones((1, size), np.float32))
        model.close()
        left.append(resident_mb())
    assert left[-1] - left[0] < 30, left


@pytest.mark.parametrize("name, suffix", [("openvino", "xml"), ("torch", "pt")])
def test_refusals_say_what_is_wrong(name, suffix, tmp_path):
    plugin = engine(name)
    broken = tmp_path / f"broken.{suffix}"
    broken.write_text("this is no model")
    for artifact, wishes, status in [
        (tmp_path / f"absent.{suffix}", {}, "not found"),
        (broken, {}, "failed"),
        (broken, {"precision": "f3"}, "unsupported"),
        (broken, {"device": "cuda:0"}, "unsupported"),
        (broken, {"options": {"speed": 11}}, "invalid argument"),
    ]:
        with pytest.raises(EngineError) as refusal:
            plugin.load(artifact, ["x"], ["y"], **wishes)
        assert refusal.value.status == status
        assert "\n" not in str(refusal.value) and len(str(refusal.value)) > 20


@pytest.mark.parametrize("name", ["openvino", "torch"])
def test_a_wrong_input_is_refused_and_the_model_goes_on(case, name):
    plugin = engine(name)
    model = plugin.load(case.ir if name == "openvino" else case.script, case.inputs, case.outputs)
    with pytest.raises(EngineError):
        model.infer(*[np.zeros((1, 2, 3), np.float32) for _ in case.inputs])
    for a, b in zip(model.infer(*case.batches[0]), case.torch[0], strict=True):
        assert distance(a, b) <= F32
    model.close()


def test_openvino_names_the_inputs_that_there_are(case):
    plugin = engine("openvino")
    with pytest.raises(EngineError, match=f"no input 'nope'; it has: {', '.join(case.inputs)}"):
        plugin.load(case.onnx, ["nope"], case.outputs)


def test_probe_speaks_the_same_boundary():
    model = engine("probe").load("", ["INPUT0", "INPUT1"], ["OUTPUT0"], options={"behaviour": "add"})
    (answer,) = model.infer(np.array([[1, 2]], np.int32), np.array([[3, -4]], np.int32))
    assert answer.tolist() == [[4, -2]]
    model.close()
