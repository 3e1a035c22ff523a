"""Hugging Face model directories: config.json, weights, a tokenizer, labels."""

import inspect
import json
import logging
import os
import warnings

import torch

from corelane_tools.failure import Failure, reason
from corelane_tools.specs import Dim, Tensor
from corelane_tools.torch_source import TorchModel

_TASKS = {
    "ForQuestionAnswering": "question-answering",
    "ForSequenceClassification": "text-classification",
    "ForTokenClassification": "token-classification",
    "ForImageClassification": "image-classification",
    "ForObjectDetection": "object-detection",
}
_WEIGHTS = (".safetensors", ".bin")


class _Outputs(torch.nn.Module):
    """Takes its inputs by position and gives the named outputs as a tuple, which is what tracing needs."""

    def __init__(self, model, inputs, outputs):
        super().__init__()
        self.model, self.inputs, self.outputs = model, inputs, outputs

    def forward(self, *values):
        result = self.model(**dict(zip(self.inputs, values, strict=True)), return_dict=True)
        return tuple(result[name] for name in self.outputs)


class _MeanPooled(torch.nn.Module):
    """One vector of length 1 for each text: the mean over the tokens that the mask keeps."""

    def __init__(self, model, inputs, normalise):
        super().__init__()
        self.model, self.inputs, self.normalise = model, inputs, normalise

    def forward(self, *values):
        given = dict(zip(self.inputs, values, strict=True))
        tokens = self.model(**given, return_dict=True).last_hidden_state
        mask = given["attention_mask"].unsqueeze(-1).to(tokens.dtype)
        mean = (tokens * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
        return (torch.nn.functional.normalize(mean, p=2, dim=1) if self.normalise else mean,)


def is_directory(path):
    return os.path.isdir(path)


def _json(path, name):
    file = os.path.join(path, name)
    if not os.path.exists(file):
        return None
    try:
        with open(file, encoding="utf-8") as text:
            return json.load(text)
    except ValueError as error:
        raise Failure(f"{file}: not JSON: {error}") from error


def read(path, request):
    config = _json(path, "config.json")
    if config is None:
        raise Failure(f"{path}: no config.json, so no Hugging Face model directory; give the file of a model instead")
    if not any(name.endswith(_WEIGHTS) for name in os.listdir(path)):
        raise Failure(f"{path}: no weights (*.safetensors or *.bin); save the model with model.save_pretrained('{path}')")
    model = _load(path, config)
    inputs = _described_inputs(path, model, request)
    pooled = _pooling(path, request)
    with torch.no_grad():
        return _traced(model, inputs, pooled)


def _load(path, config):
    os.environ["HF_HUB_OFFLINE"] = "1"
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    warnings.filterwarnings("ignore", category=FutureWarning)
    name = (config.get("architectures") or ["AutoModel"])[0]
    architecture = getattr(transformers, name, None)
    if architecture is None:
        raise Failure(
            f"{path}: architecture {name} is not known to transformers {transformers.__version__}\n"
            "  Export the model to ONNX or TorchScript, and compile that."
        )
    try:
        model, report = architecture.from_pretrained(path, dtype=torch.float32, local_files_only=True, output_loading_info=True)
    except Exception as error:
        raise Failure(
            f"{path}: {name} cannot be loaded: {reason(error)}\n"
            "  Check that all files of the model are there and whole."
        ) from error
    missing = sorted(key for key in report["missing_keys"] if "position_ids" not in key and not key.startswith("pooler."))
    if missing:
        raise Failure(
            f"{path}: the weights of {len(missing)} tensors are missing, such as {missing[0]}\n"
            f"  They are not those of a {name}; correct architectures in config.json or save the model again."
        )
    return model.eval()


def _described_inputs(path, model, request):
    given = {value["name"]: value for value in request["inputs"]}
    takes = inspect.signature(model.forward).parameters
    main = model.main_input_name
    if main == "input_ids":
        tensors = _text_inputs(model.config, takes)
    elif main == "pixel_values":
        tensors = _image_inputs(path, model.config)
    else:
        raise Failure(
            f"{path}: takes '{main}'; only models of texts and of images can be read from a directory\n"
            "  Export the model to ONNX or TorchScript, and compile that."
        )
    for tensor in tensors:
        if tensor.name in given:
            dims = given.pop(tensor.name)["shape"]
            if len(dims) != len(tensor.shape):
                raise Failure(f"--input {tensor.name}: must have {len(tensor.shape)} dimensions")
            tensor.shape = [
                Dim("", d, d) if isinstance(d, int) else Dim(d["name"] or old.name, d["min"], d["max"] or old.high)
                for d, old in zip(dims, tensor.shape, strict=True)
            ]
    if given:
        raise Failure(f"--input {next(iter(given))}: {path} takes {', '.join(t.name for t in tensors)}")
    return tensors


def _text_inputs(config, takes):
    longest = getattr(config, "max_position_embeddings", 0) or 0
    pad = getattr(config, "pad_token_id", 0) or 0
    if config.model_type in ("roberta", "xlm-roberta", "camembert", "mpnet", "longformer"):
        longest -= pad + 1  # their positions begin after the padding's
    names = ["input_ids"] + [n for n in ("attention_mask", "token_type_ids") if n in takes]
    if getattr(config, "type_vocab_size", 0) < 2 and "token_type_ids" in names:
        names.remove("token_type_ids")
    return [Tensor(n, "INT64", [Dim("batch", 1, 0), Dim("tokens", 1, max(longest, 0))], pad if n == "input_ids" else 0) for n in names]


def _image_inputs(path, config):
    size = getattr(config, "image_size", None)
    processor = _json(path, "preprocessor_config.json") or {}
    for key in ("crop_size", "size"):
        wanted = processor.get(key)
        if isinstance(wanted, dict):
            wanted = (wanted.get("height"), wanted.get("width")) if "height" in wanted else wanted.get("shortest_edge")
        size = size or wanted
    height, width = size if isinstance(size, (list, tuple)) else (size or 224, size or 224)
    channels = getattr(config, "num_channels", 3)
    return [Tensor("pixel_values", "FP32", [Dim("batch", 1, 0)] + [Dim("", n, n) for n in (channels, height, width)])]


def _pooling(path, request):
    """What to do with the vectors of the tokens: "mean", "mean-normalised" or "" for nothing."""
    modules = _json(path, "modules.json") or []
    if request["pooling"] == "none":
        return ""
    config = _json(path, os.path.join("1_Pooling", "config.json")) or {}
    if request["pooling"] == "mean":
        return "mean-normalised"
    if not modules and not config:
        return ""
    if not config.get("pooling_mode_mean_tokens") and config.get("pooling_mode") != "mean":
        raise Failure(f"{path}: pools otherwise than by the mean; compile the transformer itself with --pooling none")
    normalised = any(module.get("type", "").endswith("Normalize") for module in modules) or not modules
    return "mean-normalised" if normalised else "mean"


def _traced(model, inputs, pooled):
    names = [t.name for t in inputs]
    values = _example(model.config, inputs, {"batch": 2, "tokens": 16})
    if pooled:
        wrapped, outputs, task = (
            _MeanPooled(model, names, pooled == "mean-normalised"),
            ["sentence_embedding"],
            "embedding",
        )
    else:
        result = model(**dict(zip(names, values, strict=True)), return_dict=True)
        outputs = [key for key, value in result.items() if isinstance(value, torch.Tensor)]
        if not outputs:
            raise Failure(f"{type(model).__name__} gives no tensor by itself; export it to ONNX or TorchScript, and compile that")
        wrapped = _Outputs(model, names, outputs)
        task = next((t for ending, t in _TASKS.items() if type(model).__name__.endswith(ending)), "")
    logging.captureWarnings(True)  # what tracing warns of is checked by running other sizes
    logging.getLogger("py.warnings").addHandler(logging.NullHandler())
    try:
        module = torch.jit.trace(wrapped.eval(), values, strict=False, check_trace=False)
    except Exception as error:
        raise Failure(f"{type(model).__name__} cannot be traced: {reason(error)}") from error
    finally:
        logging.captureWarnings(False)
    _check_generalises(module, wrapped, _example(model.config, inputs, {"batch": 3, "tokens": 11}, masked=4))
    return TorchModel(module, inputs, outputs, task, getattr(model.config, "num_hidden_layers", 0))


def _check_generalises(module, wrapped, values):
    """A trace may have a size of its example baked in: it must agree with the model at other sizes."""
    try:
        apart = max((a - b).abs().max().item() for a, b in zip(module(*values), wrapped(*values), strict=True))
    except RuntimeError as error:
        raise Failure(f"the traced model works with the example's sizes only: {reason(error)}") from error
    if not apart <= 1e-3:
        raise Failure(f"the traced model differs from the model itself by {apart:.2g} at other sizes than the example's")


def _example(config, inputs, sizes, masked=0):
    """Inputs of these sizes where they vary; the mask leaves out the last `masked` tokens."""
    generator = torch.Generator().manual_seed(0)
    values = []
    for tensor in inputs:
        shape = [d.low if d.fixed else max(d.low, min(sizes.get(d.name, d.low), d.high or sizes.get(d.name, d.low))) for d in tensor.shape]
        if tensor.dtype == "FP32":
            values.append(torch.rand(shape, generator=generator))
        elif tensor.name == "input_ids":
            values.append(torch.randint(0, config.vocab_size, shape, generator=generator))
        else:
            value = torch.zeros(shape, dtype=torch.int64)
            if tensor.name == "attention_mask":
                value[:, : max(shape[1] - masked, 1)] = 1
            values.append(value)
    return tuple(values)


def labels(path):
    """The names of the classes in their order, or [] where they are only LABEL_0, LABEL_1, ..."""
    named = (_json(path, "config.json") or {}).get("id2label") or {}
    texts = [named[key] for key in sorted(named, key=int)]
    return [] if all(text == f"LABEL_{k}" for k, text in enumerate(texts)) else texts
