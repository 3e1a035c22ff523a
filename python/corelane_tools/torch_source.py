"""TorchScript files, and what tracing a module gives: a script module with its inputs and outputs described."""

from dataclasses import dataclass, field

import torch

from corelane_tools import specs
from corelane_tools.failure import Failure, reason

_TYPES = {
    "BOOL": torch.bool,
    "UINT8": torch.uint8,
    "INT8": torch.int8,
    "INT16": torch.int16,
    "INT32": torch.int32,
    "INT64": torch.int64,
    "FP16": torch.float16,
    "FP32": torch.float32,
    "FP64": torch.float64,
    "BF16": torch.bfloat16,
}
_NAMES = {value: key for key, value in _TYPES.items()}


@dataclass
class TorchModel:
    module: object  # a torch.jit.ScriptModule
    inputs: list
    output_names: list = field(default_factory=list)  # empty: to be made up
    task: str = ""
    layers: int = 0
    tokenizer: dict = None
    file: str = None  # the file that the module was read from, if that may be used as it is


def read(path, request):
    """A TorchScript file, whose inputs the user has described."""
    if not request["inputs"]:
        raise Failure(
            f"{path}: a TorchScript file does not say what its inputs look like\n"
            "  Describe each with --input, such as --input 'input_ids:int64[?,1..512]'; "
            "`corelane help inputs` has the rules."
        )
    try:
        module = torch.jit.load(path, map_location="cpu").eval()
    except Exception as error:  # torch throws RuntimeError, ValueError and its own kinds
        raise Failure(_why_not_read(path, error)) from error
    inputs = [specs.tensor_from_json(value) for value in request["inputs"]]
    arguments = module.forward.schema.arguments[1:]
    needed = [a.name for a in arguments if not a.has_default_value()]
    if not len(needed) <= len(inputs) <= len(arguments):
        names = ", ".join(a.name for a in arguments)
        raise Failure(f"{path}: the model takes {len(arguments)} inputs ({names}), but {len(inputs)} --input are given")
    return TorchModel(module, inputs, file=path)


def _why_not_read(path, error):
    unknown = str(error).partition("Unknown builtin op:")[2].split()
    if unknown:
        return (
            f"{path}: operator {unknown[0].rstrip('.')} is not taken by torch {torch.__version__}\n"
            "  It belongs to an extension that is not installed here. Export the model without it."
        )
    return (
        f"{path}: not a TorchScript file that torch {torch.__version__} can read: {reason(error).split('. ')[0]}\n"
        "  Save one with torch.jit.trace(model, example).save(path) or torch.jit.script(model).save(path)."
    )


def example(model, sizes):
    """Inputs of the given sizes: ones for masks, zeros for other integers, random numbers from seed 0."""
    generator = torch.Generator().manual_seed(0)
    values = []
    for tensor in model.inputs:
        if tensor.dtype not in _TYPES:
            raise Failure(f"input '{tensor.name}': torch has no {tensor.dtype}")
        dtype, shape = _TYPES[tensor.dtype], specs.concrete(tensor, sizes)
        if dtype.is_floating_point:
            values.append(torch.rand(shape, generator=generator).to(dtype))
        else:
            values.append((torch.ones if "mask" in tensor.name else torch.zeros)(shape, dtype=dtype))
    return tuple(values)


def _flattened(value):
    if isinstance(value, torch.Tensor):
        return [("", value)]
    if isinstance(value, dict):
        return [(key, v) for key, item in value.items() for _, v in _flattened(item)]
    if isinstance(value, (list, tuple)):
        return [("", v) for item in value for _, v in _flattened(item)]
    raise Failure(f"the model gives a {type(value).__name__}, which is no tensor; let it return tensors only")


def run(model, sizes):
    """The outputs of a run as a list of (name or "", tensor)."""
    values = example(model, sizes)
    try:
        with torch.no_grad():
            return _flattened(model.module(*values))
    except Failure:
        raise
    except Exception as error:
        shapes = ", ".join(f"{t.name} {list(v.shape)}" for t, v in zip(model.inputs, values, strict=True))
        last = str(error).strip().splitlines()[-1:] or [type(error).__name__]  # before it stands torch's traceback
        raise Failure(
            f"the model cannot be run with {shapes}: {last[0]}\n"
            "  Give types and ranges with --input in which it works; `corelane help inputs` has the rules."
        ) from error


def outputs(model, limits):
    """The outputs as the manifest has them, seen from two runs of different sizes."""
    sizes = [specs.sizes_to_try(limits, turn) for turn in (0, 1)]
    first, second = run(model, sizes[0]), run(model, sizes[1])
    described = []
    for k, ((key, a), (_, b)) in enumerate(zip(first, second, strict=True)):
        made_up = "output" if len(first) == 1 else f"output_{k}"
        name = model.output_names[k] if model.output_names else key or made_up
        if a.dtype not in _NAMES:
            raise Failure(f"output '{name}' is of type {a.dtype}, which the protocol does not have")
        shape = specs.output_shape(name, a.shape, b.shape, *sizes)
        described.append({"name": name, "type": _NAMES[a.dtype], "shape": shape})
    return described


def parameters(module):
    """Number of parameters and their bytes; of a frozen module, which has none, its large constants."""
    tensors = list(module.parameters())
    if not tensors:
        graph = module.inlined_graph  # its nodes live no longer than it
        constants = [node for node in graph.findAllNodes("prim::Constant") if node.hasAttribute("value")]  # None has none
        tensors = [node.t("value") for node in constants if node.kindOf("value") == "t"]
        tensors = [tensor for tensor in tensors if tensor.is_floating_point()]
    return sum(t.numel() for t in tensors), sum(t.numel() * t.element_size() for t in tensors)
