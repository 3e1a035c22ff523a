"""ONNX files: their operators and parameters, read without the weights where those are stored apart."""

from math import prod

import onnx

from corelane_tools.failure import Failure, reason

_FLOATS = {
    onnx.TensorProto.FLOAT: 4,
    onnx.TensorProto.DOUBLE: 8,
    onnx.TensorProto.FLOAT16: 2,
    onnx.TensorProto.BFLOAT16: 2,
}


def read(path):
    try:
        model = onnx.load(path, load_external_data=False)
    except Exception as error:  # the parser's own kinds
        raise Failure(
            f"{path}: not an ONNX file that can be read: {reason(error)}\n  Export the model again, or check that the whole file is there."
        ) from error
    if not model.graph.node:
        raise Failure(f"{path}: an ONNX file without operators; export the model again, or check that the whole file is there")
    return model


def input_names(model):
    stored = {tensor.name for tensor in model.graph.initializer}
    return [value.name for value in model.graph.input if value.name not in stored]


def parameters(model):
    stored = [t for t in model.graph.initializer if t.data_type in _FLOATS]
    for node in model.graph.node:
        if node.op_type == "Constant":
            stored += [a.t for a in node.attribute if a.name == "value" and a.t.data_type in _FLOATS and prod(a.t.dims) > 1]
    return sum(prod(t.dims) for t in stored), sum(prod(t.dims) * _FLOATS[t.data_type] for t in stored)
