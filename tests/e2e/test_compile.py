"""`corelane compile` as a user runs it: small models of every kind, and everything that can be wrong with them."""

import json
import pathlib
import signal
import subprocess
import tomllib

import numpy as np
import pytest
from serving import BUILD, wait_for

pytestmark = pytest.mark.filterwarnings("ignore")


class Compiler:
    """Runs the command in a folder of its own."""

    def __init__(self, folder):
        self.folder = folder

    def start(self, *arguments):
        command = [str(BUILD / "corelane"), "compile", *map(str, arguments)]
        return subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *arguments):
        process = self.start(*arguments)
        out, err = process.communicate(timeout=300)
        return process.returncode, out, err

    def made(self, *arguments):
        """(folder, manifest) of a version that must come about."""
        status, out, err = self.run(*arguments, "--json")
        assert status == 0, err
        folder = self.folder / json.loads(out)["folder"]
        return folder, tomllib.loads((folder / "model.toml").read_text())

    def refused(self, *arguments, status=1):
        """What it says when it must fail; nothing may be left behind."""
        before = sorted(self.folder.rglob("*"))
        got, out, err = self.run(*arguments)
        assert (got, out) == (status, ""), err
        assert sorted(self.folder.rglob("*")) == before
        return err


@pytest.fixture
def compiler(tmp_path):
    return Compiler(tmp_path)


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """A folder with tiny models of every kind, all with weights from seed 0."""
    folder = tmp_path_factory.mktemp("sources")
    write_torchscript(folder)
    write_onnx(folder)
    write_directory(folder / "bert")
    return folder


def write_torchscript(folder):
    import torch

    class Classifier(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.out = torch.nn.Embedding(50, 8), torch.nn.Linear(8, 3)

        def forward(self, ids, mask):
            words = self.words(ids) * mask.unsqueeze(-1).float()
            return self.out(words), words.sum(1)

    class Rare(torch.nn.Module):
        def forward(self, x):
            return torch.relu(torch.special.bessel_j0(torch.relu(x)))

    torch.manual_seed(0)
    ids = torch.ones(2, 5, dtype=torch.long)
    torch.jit.trace(Classifier().eval(), (ids, ids)).save(folder / "classifier.pt")
    torch.jit.trace(Rare(), (torch.rand(2, 4),)).save(folder / "rare.pt")


def write_onnx(folder):
    import onnx
    from onnx import helper, numpy_helper

    def save(name, nodes, weights, opsets):
        tensors = [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, ["rows", 4]) for n in ("x", "y")]
        graph = helper.make_graph(nodes, "g", tensors[:1], tensors[1:], weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid(*o) for o in opsets]), folder / name)

    weight = numpy_helper.from_array(np.eye(4, dtype=np.float32), "w")
    node = helper.make_node
    plain = [node("MatMul", ["x", "w"], ["a"]), node("Identity", ["a"], ["b"]), node("Relu", ["b"], ["y"])]
    save("plain.onnx", plain, [weight], [("", 17)])
    custom = [node("Relu", ["x"], ["a"]), node("Warp", ["a"], ["b"], domain="maps"), node("Add", ["b", "x"], ["y"])]
    save("custom.onnx", custom, [], [("", 17), ("maps", 1)])


def write_directory(folder):
    import torch
    from transformers import BertConfig, BertForQuestionAnswering, BertTokenizerFast

    torch.manual_seed(0)
    config = BertConfig(vocab_size=12, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
                        max_position_embeddings=64)
    BertForQuestionAnswering(config).save_pretrained(folder)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "who", "wrote", "this", "book", "?", "a", "poet"]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n")
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)


INPUTS = ("--input", "input_ids:int64[?,1..64]", "--input", "attention_mask:int64[?,1..64]")


def openvino_answers(folder, values):
    import openvino

    model = openvino.compile_model(str(folder / "f32.xml"), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    answer = model(values)
    return {port.get_any_name(): answer[port] for port in model.outputs}


def test_a_torchscript_file_becomes_a_version_that_openvino_runs_alike(compiler, sources):
    import torch

    folder, manifest = compiler.made(sources / "classifier.pt", *INPUTS)
    assert folder == compiler.folder / "models" / "classifier" / "1"
    assert [i["name"] for i in manifest["input"]] == ["input_ids", "attention_mask"]
    assert [o["shape"] for o in manifest["output"]] == [["batch", "tokens", 3], ["batch", 8]]
    assert manifest["dimensions"] == {"batch": {"max": 32}, "tokens": {"max": 64, "buckets": [16, 32, 48, 64]}}
    assert {p: v["file"] for p, v in manifest["precision"].items()} == {"f32": "f32.xml", "bf16": "f32.xml"}
    ids, mask = np.random.default_rng(0).integers(0, 50, (3, 9)), np.ones((3, 9), dtype=np.int64)
    expected = torch.jit.load(sources / "classifier.pt")(torch.from_numpy(ids), torch.from_numpy(mask))
    answers = openvino_answers(folder, {"input_ids": ids, "attention_mask": mask})
    np.testing.assert_allclose(answers["output_0"], expected[0].detach().numpy(), atol=1e-4)
    np.testing.assert_allclose(answers["output_1"], expected[1].detach().numpy(), atol=1e-4)


def test_the_torch_engine_gets_the_file_itself(compiler, sources):
    folder, manifest = compiler.made(sources / "classifier.pt", *INPUTS, "--engine", "torch", "--precision", "f32")
    assert (folder / "model.pt").read_bytes() == (sources / "classifier.pt").read_bytes()
    assert [o["shape"] for o in manifest["output"]] == [["batch", "tokens", 3], ["batch", 8]]
    assert manifest["precision"] == {"f32": {"engine": "torch", "file": "model.pt"}}
    assert manifest["coverage"]["operators"] == manifest["coverage"]["operators_taken"] > 0
    assert manifest["size"]["parameters"] == 50 * 8 + 8 * 3 + 3
    assert manifest["size"]["flops"] == 2 * 64 * 8 * 3  # the linear layer at [1,64]


def test_an_onnx_file_is_counted_operator_by_operator(compiler, sources):
    folder, manifest = compiler.made(sources / "plain.onnx", "--max-batch", "8")
    assert (folder / "f32.bin").exists()
    assert manifest["input"][0]["shape"] == ["batch", 4]
    assert manifest["dimensions"]["batch"]["max"] == 8
    counts = {key: manifest["coverage"][key] for key in ("operators", "operators_taken", "arithmetic", "subgraphs")}
    assert counts == {"operators": 3, "operators_taken": 3, "arithmetic": 2, "subgraphs": 1}
    assert manifest["size"]["parameters"] == 16
    assert manifest["size"]["flops"] == 2 * 4 * 4
    again, _ = compiler.made(folder / "f32.xml", "--name", "again")
    x = np.random.default_rng(0).standard_normal((3, 4), dtype=np.float32)
    for made in (folder, again):
        np.testing.assert_allclose(openvino_answers(made, {"x": x})["y"], np.maximum(x, 0), atol=1e-6)


def test_the_same_source_and_options_make_no_second_version(compiler, sources):
    compiler.made(sources / "plain.onnx", "--name", "m")
    status, out, _ = compiler.run(sources / "plain.onnx", "--name", "m", "--json")
    assert (status, json.loads(out)["unchanged"]) == (0, True)
    folder, _ = compiler.made(sources / "plain.onnx", "--name", "m", "--max-batch", "4")
    assert folder.name == "2"
    status, _, err = compiler.run(sources / "plain.onnx", "--name", "m", "--version", "1")
    assert status == 1 and "exists" in err
    assert sorted(p.name for p in (compiler.folder / "models" / "m").iterdir()) == ["1", "2"]


def test_a_directory_becomes_a_version_with_tokenizer_that_runs_as_transformers_do(compiler, sources):
    import torch
    from transformers import BertForQuestionAnswering

    status, out, err = compiler.run(sources / "bert", "--name", "qa")
    assert status == 0, err
    assert "preparing the tokenizer" in err
    assert "2 layers" in out and "WordPiece, 12 tokens" in out and "task        question-answering" in out
    folder = compiler.folder / "models" / "qa" / "1"
    manifest = tomllib.loads((folder / "model.toml").read_text())
    assert [i["name"] for i in manifest["input"]] == ["input_ids", "attention_mask", "token_type_ids"]
    assert [o["name"] for o in manifest["output"]] == ["start_logits", "end_logits"]
    assert manifest["dimensions"]["tokens"]["max"] == 64
    assert (folder / "tokenizer" / "vocab.txt").exists() or (folder / "tokenizer" / "tokenizer.json").exists()
    assert (folder / "tokenizer.xml").exists()
    ids = np.random.default_rng(0).integers(0, 12, (3, 11))
    mask = np.array([[1] * n + [0] * (11 - n) for n in (11, 4, 7)])
    values = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    with torch.no_grad():
        expected = BertForQuestionAnswering.from_pretrained(sources / "bert").eval()(
            **{name: torch.from_numpy(value) for name, value in values.items()}
        )
    answers = openvino_answers(folder, values)
    for name in ("start_logits", "end_logits"):
        np.testing.assert_allclose(answers[name], expected[name].numpy(), atol=1e-4)


def test_no_tokenizer_is_prepared_where_there_is_none(compiler, sources):
    folder = compiler.folder / "bare"
    folder.mkdir()
    for name in ("config.json", "model.safetensors"):
        (folder / name).write_bytes((sources / "bert" / name).read_bytes())
    status, out, err = compiler.run(folder)
    assert status == 0, err
    assert "preparing the tokenizer" not in err and "tokenizer " not in out
    assert not (compiler.folder / "models" / "bare" / "1" / "tokenizer").exists()


def test_an_operator_that_the_engine_does_not_take_is_named(compiler, sources):
    said = compiler.refused(sources / "custom.onnx")
    assert "operator maps.Warp (1 use) is not taken by openvino" in said
    assert "2 of 3 operators are, in 2 subgraphs" in said
    said = compiler.refused(sources / "rare.pt", "--input", "x:fp32[?,4]")
    assert "operator aten::special_bessel_j0 (1 use) is not taken by openvino" in said
    assert "--engine torch" in said


def test_what_cannot_be_read_is_said_with_what_to_do(compiler, sources):
    (compiler.folder / "bad.onnx").write_bytes(b"\x08nonsense")
    (compiler.folder / "bad.pt").write_bytes(b"nonsense")
    (compiler.folder / "model.h5").write_bytes(b"nonsense")
    assert "no such file or folder" in compiler.refused("missing.onnx")
    assert "not an ONNX file that can be read" in compiler.refused("bad.onnx")
    assert "neither TorchScript (.pt), ONNX" in compiler.refused("model.h5")
    assert "torch.jit.trace" in compiler.refused("bad.pt", "--input", "x:fp32[?,4]")
    assert "takes TorchScript" in compiler.refused(sources / "plain.onnx", "--engine", "torch")


def test_inputs_that_are_missing_or_wrong_are_said_with_the_right_form(compiler, sources):
    classifier = sources / "classifier.pt"
    assert "Describe each with --input" in compiler.refused(classifier)
    assert "takes 2 inputs (ids, mask), but 1" in compiler.refused(classifier, "--input", "ids:int64[?,1..64]")
    assert "name:dtype[dims]" in compiler.refused(classifier, "--input", "ids:int64", status=2)
    assert "name:dtype[dims]" in compiler.refused(classifier, "--input", "ids:text[?]", status=2)
    wrong = ("--input", "ids:fp32[?,4]", "--input", "mask:fp32[?,4]", "--engine", "torch")
    assert "cannot be run with ids" in compiler.refused(classifier, *wrong)
    assert "takes x" in compiler.refused(sources / "plain.onnx", "--input", "other:fp32[?,4]")


def test_a_directory_without_weights_or_config_is_refused(compiler, sources):
    bare = compiler.folder / "bare"
    bare.mkdir()
    assert "no config.json" in compiler.refused(bare)
    (bare / "config.json").write_text((sources / "bert" / "config.json").read_text())
    assert "no weights" in compiler.refused(bare)
    (bare / "config.json").write_text("{")
    assert "not JSON" in compiler.refused(bare)


def test_ctrl_c_leaves_nothing_behind(compiler, sources):
    process = compiler.start(sources / "bert", "--name", "qa")
    drafts = pathlib.Path(compiler.folder, "models")
    wait_for(lambda: drafts.exists() and any(drafts.iterdir()), "a draft")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted; nothing was written" in err
    assert not drafts.exists()
