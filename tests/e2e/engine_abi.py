"""An engine plug-in driven from Python, straight through its C boundary (src/engine/engine_abi.h) by ctypes.

engine = Engine("build/dev/engines/libcorelane_openvino.so")
model = engine.load("model.xml", inputs=["x"], outputs=["y"], precision="f32", threads=2)
y, = model.infer(x)
"""

import ctypes as c
import json

import numpy as np

ABI_VERSION, MAX_RANK = 1, 8
STATUS = {1: "invalid argument", 2: "unsupported", 3: "out of memory", 4: "not found", 5: "failed"}
# cl_tensor.dtype; BYTES and BF16 have no numpy type of their own
DTYPES = {
    1: np.bool_,
    2: np.uint8,
    3: np.uint16,
    4: np.uint32,
    5: np.uint64,
    6: np.int8,
    7: np.int16,
    8: np.int32,
    9: np.int64,
    10: np.float16,
    11: np.float32,
    12: np.float64,
}
NUMBERS = {np.dtype(kind): number for number, kind in DTYPES.items()}


class EngineError(Exception):
    def __init__(self, status, text):
        super().__init__(f"{STATUS.get(status, status)}: {text}")
        self.status = STATUS.get(status)


class Tensor(c.Structure):
    _fields_ = [
        ("dtype", c.c_uint32),
        ("rank", c.c_uint32),
        ("dims", c.c_int64 * MAX_RANK),
        ("data", c.c_void_p),
        ("bytes", c.c_uint64),
    ]


class LoadOptions(c.Structure):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("threads", c.c_int32),
        ("artifact", c.c_char_p),
        ("precision", c.c_char_p),
        ("device", c.c_char_p),
        ("inputs", c.POINTER(c.c_char_p)),
        ("outputs", c.POINTER(c.c_char_p)),
        ("input_count", c.c_uint32),
        ("output_count", c.c_uint32),
        ("options", c.c_char_p),
    ]


class Table(c.Structure):
    _fields_ = [
        ("abi_version", c.c_uint32),
        ("struct_size", c.c_uint32),
        ("name", c.c_char_p),
        ("version", c.c_char_p),
        ("load", c.CFUNCTYPE(c.c_int, c.POINTER(LoadOptions), c.POINTER(c.c_void_p))),
        ("describe", c.CFUNCTYPE(c.c_char_p, c.c_void_p)),
        ("infer", c.CFUNCTYPE(c.c_int, c.c_void_p, c.POINTER(Tensor), c.POINTER(Tensor))),
        ("unload", c.CFUNCTYPE(None, c.c_void_p)),
        ("last_error", c.CFUNCTYPE(c.c_char_p)),
    ]


def strings(texts):
    return (c.c_char_p * max(1, len(texts)))(*[t.encode() for t in texts])


def aligned(array):
    """A copy whose data starts at a multiple of 64 bytes, as the boundary promises for inputs."""
    array = np.ascontiguousarray(array)
    raw = np.empty(array.nbytes + 64, np.uint8)
    start = -raw.ctypes.data % 64
    copy = raw[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


class Engine:
    def __init__(self, path):
        self.library = c.CDLL(str(path))
        self.library.corelane_engine.restype = c.POINTER(Table)
        self.table = self.library.corelane_engine().contents
        assert self.table.abi_version == ABI_VERSION and self.table.struct_size == c.sizeof(Table)
        self.name, self.version = self.table.name.decode(), self.table.version.decode()

    def check(self, status):
        if status:
            raise EngineError(status, self.table.last_error().decode())

    def load(self, artifact, inputs, outputs, precision="f32", threads=1, device="cpu", options=None):
        asked = LoadOptions(
            c.sizeof(LoadOptions),
            threads,
            str(artifact).encode(),
            precision.encode(),
            device.encode(),
            strings(inputs),
            strings(outputs),
            len(inputs),
            len(outputs),
            json.dumps(options or {}).encode(),
        )
        handle = c.c_void_p()
        self.check(self.table.load(c.byref(asked), c.byref(handle)))
        return Model(self, handle, len(outputs))


class Model:
    def __init__(self, engine, handle, outputs):
        self.engine, self.handle, self.outputs = engine, handle, (Tensor * outputs)()

    def infer(self, *arrays):
        arrays = [aligned(a) for a in arrays]
        inputs = (Tensor * max(1, len(arrays)))(
            *[
                Tensor(NUMBERS[a.dtype], a.ndim, (c.c_int64 * MAX_RANK)(*a.shape), a.ctypes.data, a.nbytes)
                for a in arrays
            ]
        )
        self.engine.check(self.engine.table.infer(self.handle, inputs, self.outputs))
        return [self.array(t) for t in self.outputs]

    @staticmethod
    def array(tensor):
        raw = c.string_at(tensor.data, tensor.bytes)
        return np.frombuffer(raw, DTYPES[tensor.dtype]).reshape(tensor.dims[: tensor.rank])

    def describe(self):
        return json.loads(self.engine.table.describe(self.handle))

    def close(self):
        if self.handle:
            self.engine.table.unload(self.handle)
            self.handle = None
