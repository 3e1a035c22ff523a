"""Artifacts of the openvino engine: f32.xml and f32.bin, which bf16 runs from as well (the plug-in converts)."""

import os
from collections import Counter

import openvino as ov
from openvino.frontend import FrontEndManager

from corelane_tools import flops, operators, specs
from corelane_tools.failure import Failure, reason

_TYPES = {
    "boolean": "BOOL",
    "u8": "UINT8",
    "u16": "UINT16",
    "u32": "UINT32",
    "u64": "UINT64",
    "i8": "INT8",
    "i16": "INT16",
    "i32": "INT32",
    "i64": "INT64",
    "f16": "FP16",
    "f32": "FP32",
    "f64": "FP64",
    "bf16": "BF16",
}
_BACK = {value: key for key, value in _TYPES.items()}
_HINT = "Try --engine torch with the TorchScript file, or export the model without it."


def version():
    return "openvino " + ov.__version__.split("-")[0]


def _first_line(error):
    return reason(error, skipping=("Check ", "Exception from", "FrontEnd API"))


def _shape(tensor):
    return ov.PartialShape([ov.Dimension(d.low, d.high) if d.high else ov.Dimension(d.low, -1) for d in tensor.shape])


def _framework_kinds(model, known):
    """Uses of operators that the frontend has left as they were, by their kind in the source."""
    kinds = Counter()
    for op in model.get_ops():
        if "FrameworkNode" in op.get_type_name():
            attributes = op.get_attributes()
            kind = attributes.get("ONNX_META_type", "")
            domain = attributes.get("ONNX_META_domain", "")
            if not kind:  # TorchScript: "aten::digamma", the second of them "aten::digamma_1"
                name = op.get_friendly_name()
                kind = name if name in known else name.rpartition("_")[0]
            kinds[f"{domain}.{kind}" if domain not in ("", "ai.onnx") else kind] += 1
    return kinds


def _named_in(error):
    """The kinds that a failed conversion names."""
    marker = "No conversion rule found for operations:"
    text = str(error)
    return [kind.strip() for kind in text.split(marker)[1].splitlines()[0].split(",")] if marker in text else []


def _refuse(path, nodes, not_taken):
    covered = operators.cover(nodes, not_taken, version())
    listed = covered.json()["not_taken"]
    what = "operator " + listed[0] + " is" if len(listed) == 1 else "operators " + ", ".join(listed) + " are"
    raise Failure(
        f"{path}: {what} not taken by {version()} on cpu\n"
        f"  {covered.operators_taken} of {covered.operators} operators are, in {covered.subgraphs} subgraph"
        f"{'s' if covered.subgraphs != 1 else ''}. {_HINT}"
    )


def from_torch(path, source):
    nodes = operators.torch_nodes(source.module.inlined_graph)
    given = [(_shape(t), getattr(ov.Type, _BACK[t.dtype])) for t in source.inputs]
    try:
        model = ov.convert_model(source.module, input=given)
    except Exception as error:
        not_taken = _torch_not_taken(source.module, {node.kind for node in nodes})
        for kind in _named_in(error):
            not_taken[kind] = not_taken[kind] or sum(node.kind == kind for node in nodes)
        if not_taken:
            _refuse(path, nodes, not_taken)
        raise Failure(f"{path}: {version()} cannot convert this model: {_first_line(error)}\n  Try --engine torch.") from error
    if len(model.inputs) != len(source.inputs):
        raise Failure(
            f"{path}: {version()} sees {len(model.inputs)} inputs where the model takes {len(source.inputs)}\n"
            "  Remove inputs that the model does not use, or try --engine torch."
        )
    for port, tensor in zip(model.inputs, source.inputs, strict=True):
        port.get_tensor().set_names({tensor.name})
        port.get_node().set_friendly_name(tensor.name)
    made_up = ["output"] if len(model.outputs) == 1 else [f"output_{k}" for k in range(len(model.outputs))]
    for port, name in zip(model.outputs, source.output_names or made_up, strict=True):
        port.get_tensor().set_names({name})
    return model, nodes


def _torch_not_taken(module, known):
    from openvino.frontend.pytorch.ts_decoder import TorchScriptPythonDecoder

    try:
        frontend = FrontEndManager().load_by_framework("pytorch")
        return _framework_kinds(frontend.convert_partially(frontend.load(TorchScriptPythonDecoder(module))), known)
    except Exception:  # the report is then what the failed conversion named
        return Counter()


def from_onnx(path, source):
    nodes = operators.onnx_nodes(source)
    try:
        frontend = FrontEndManager().load_by_framework("onnx")
        loaded = frontend.load(path)
        model = frontend.convert_partially(loaded)
        not_taken = _framework_kinds(model, {node.kind for node in nodes})
        if not not_taken:
            model = ov.convert_model(path)
    except Exception as error:
        kinds = {kind: sum(node.kind == kind for node in nodes) for kind in _named_in(error)}
        if any(kinds.values()):
            _refuse(path, nodes, kinds)
        raise Failure(f"{path}: {version()} cannot read this model: {_first_line(error)}") from error
    if not_taken:
        _refuse(path, nodes, not_taken)
    return model, nodes


def from_ir(path):
    if not os.path.exists(os.path.splitext(path)[0] + ".bin"):
        raise Failure(f"{path}: its weights, the .bin file of the same name, are missing; put them beside it")
    try:
        model = ov.Core().read_model(path)
    except Exception as error:
        raise Failure(f"{path}: {version()} cannot read this model: {_first_line(error)}") from error
    return model, operators.openvino_nodes(model)


def described_inputs(path, model, request):
    """Inputs as the model has them, with what the user says about their sizes."""
    given = {value["name"]: value for value in request["inputs"]}
    tensors = []
    for port in model.inputs:
        name = port.get_any_name()
        kind = port.get_element_type().get_type_name()
        if kind not in _TYPES:
            raise Failure(f"{path}: input '{name}' is of type {kind}, which the protocol does not have")
        if port.get_partial_shape().rank.is_dynamic and name not in given:
            raise Failure(
                f"{path}: input '{name}' may have any number of dimensions\n"
                f"  Describe it with --input, such as --input '{name}:{_TYPES[kind].lower()}[?,3,224,224]'."
            )
        if name in given:
            tensor = specs.tensor_from_json(given.pop(name))
            if tensor.dtype != _TYPES[kind]:
                raise Failure(f"--input {name}: the model's type is {_TYPES[kind]}, not {tensor.dtype}")
        else:
            dims = [specs.Dim("", max(d.get_min_length(), 1), max(d.get_max_length(), 0)) for d in port.get_partial_shape()]
            tensor = specs.Tensor(name, _TYPES[kind], dims)
        tensors.append(tensor)
    if given:
        raise Failure(f"--input {next(iter(given))}: {path} takes {', '.join(t.name for t in tensors)}")
    return tensors


def reshape(path, model, tensors):
    try:
        model.reshape({port: _shape(tensor) for port, tensor in zip(model.inputs, tensors, strict=True)})
    except Exception as error:
        raise Failure(
            f"{path}: {version()} cannot give the inputs these sizes: {_first_line(error)}\n"
            "  Say with --input which sizes the model takes; `corelane help inputs` has the rules."
        ) from error


def _with_sizes(path, model, tensors, sizes):
    copy = model.clone()
    try:
        copy.reshape({port: ov.PartialShape(specs.concrete(t, sizes)) for port, t in zip(copy.inputs, tensors, strict=True)})
    except Exception as error:
        shapes = ", ".join(f"{t.name} {specs.concrete(t, sizes)}" for t in tensors)
        raise Failure(
            f"{path}: the model cannot be run with {shapes}: {_first_line(error)}\n"
            "  Say with --input which sizes it takes; `corelane help inputs` has the rules."
        ) from error
    return copy


def outputs(path, model, tensors, limits):
    """The outputs as the manifest has them, from the shapes that two sets of sizes lead to."""
    sizes = [specs.sizes_to_try(limits, turn) for turn in (0, 1)]
    first, second = (_with_sizes(path, model, tensors, s) for s in sizes)
    described = []
    for k, (port, a, b) in enumerate(zip(model.outputs, first.outputs, second.outputs, strict=True)):
        if not port.get_names():
            port.get_tensor().set_names({f"output_{k}" if len(model.outputs) > 1 else "output"})
        name = port.get_any_name()
        if a.get_partial_shape().rank.is_dynamic:
            raise Failure(f"{path}: output '{name}' may have any number of dimensions, which cannot be served")
        of = [[d.get_length() if d.is_static else None for d in p.get_partial_shape()] for p in (a, b)]
        kind = port.get_element_type().get_type_name()
        if kind not in _TYPES:
            raise Failure(f"{path}: output '{name}' is of type {kind}, which the protocol does not have")
        described.append({"name": name, "type": _TYPES[kind], "shape": specs.output_shape(name, *of, *sizes)})
    return described


def flops_at(path, model, tensors, sizes):
    return flops.of_openvino(_with_sizes(path, model, tensors, sizes))


def check_runs(path, model, nodes):
    """That the cpu plug-in takes every operator and can build the model. Returns the coverage."""
    core = ov.Core()
    taken = core.query_model(model, "CPU")
    not_taken = Counter()
    for op in model.get_ops():
        if op.get_friendly_name() not in taken and op.get_type_name() not in ("Parameter", "Result", "Constant"):
            not_taken[_source_kind(op, nodes)] += 1
    if not_taken:
        _refuse(path, nodes, not_taken)
    try:
        core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    except Exception as error:
        raise Failure(f"{path}: {version()} cannot build this model for cpu: {_first_line(error)}\n  Try --engine torch.") from error
    return operators.cover(nodes, Counter(), version())


def _source_kind(op, nodes):
    """The source's operator that became `op`: frontends keep its name or put its kind in front."""
    name = op.get_friendly_name()
    kind = name.split("/")[0]
    for node in nodes:
        if name == node.name or kind == node.kind or kind.rpartition("_")[0] == node.kind:
            return node.kind
    return op.get_type_name()


def parameters(model):
    stored = [op for op in model.get_ops() if op.get_type_name() == "Constant" and op.get_element_type().is_real()]
    counts = [op.get_output_shape(0) for op in stored]
    sizes = [1 if not len(shape) else int(ov.Shape(shape).__len__() and _product(shape)) for shape in counts]
    return sum(sizes), sum(n * op.get_element_type().size for n, op in zip(sizes, stored, strict=True))


def _product(shape):
    result = 1
    for size in shape:
        result *= int(size)
    return result


def save(model, out):
    ov.save_model(model, os.path.join(out, "f32.xml"), compress_to_fp16=False)
    return "f32.xml"
