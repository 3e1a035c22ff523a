"""Floating-point operations of one run, an addition and a multiplication counting as two.

Counted are matrix products, convolutions, attention and recurrent cells, as is usual; what is done element by
element is left out (a few in a hundred of the whole).
"""

from math import prod


def _static(port):
    shape = port.get_partial_shape()
    return list(shape.to_shape()) if shape.is_static else None


def _matmul(op):
    a, out = _static(op.input(0)), _static(op.output(0))
    if not a or out is None:
        return 0
    transposed = op.get_attributes().get("transpose_a", False)
    return 2 * prod(out) * (a[-2] if transposed and len(a) > 1 else a[-1])


def _convolution(op, inner_axes):
    weights, out = _static(op.input(1)), _static(op.output(0))
    if weights is None or out is None:
        return 0
    return 2 * prod(out) * prod(weights[inner_axes:])


def _deconvolution(op, outer_axis):
    data, weights = _static(op.input(0)), _static(op.input(1))
    if weights is None or data is None:
        return 0
    return 2 * prod(data) * prod(weights[outer_axis:])


def _attention(op):
    q, k, v = (_static(op.input(index)) for index in range(3))
    if not q or not k or not v:
        return 0
    return 2 * prod(q[:-1]) * k[-2] * (q[-1] + v[-1])


def _recurrent(op):
    x, weights, recurrence = (
        _static(op.input(0)),
        _static(op.input(op.get_input_size() - 3)),
        _static(op.input(op.get_input_size() - 2)),
    )
    if not x or weights is None or recurrence is None:
        return 0
    return 2 * prod(x[:-1]) * (prod(weights) + prod(recurrence))


_RULES = {
    "MatMul": _matmul,
    "Convolution": lambda op: _convolution(op, 1),
    "GroupConvolution": lambda op: _convolution(op, 2),
    "ConvolutionBackpropData": lambda op: _deconvolution(op, 1),
    "GroupConvolutionBackpropData": lambda op: _deconvolution(op, 2),
    "ScaledDotProductAttention": _attention,
    "LSTMSequence": _recurrent,
    "GRUSequence": _recurrent,
    "RNNSequence": _recurrent,
}


def of_openvino(model):
    """Of a model whose input shapes are static."""
    return float(sum(_RULES[op.get_type_name()](op) for op in model.get_ordered_ops() if op.get_type_name() in _RULES))


def of_torch(module, example):
    """Of one run of a module with the given inputs."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    def attention(query, key, value, *_, **__):
        return 2 * prod(query[:-1]) * key[-2] * (query[-1] + value[-1])

    # The counter knows the attention kernels of GPUs only.
    kernels = {torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: attention}
    counter = FlopCounterMode(display=False, custom_mapping=kernels)
    with torch.no_grad(), counter:
        module(*example)
    return float(counter.get_total_flops())
