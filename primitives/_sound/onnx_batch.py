"""An ONNX graph that takes one input at a time, made to take several: the first dimension of its inputs is set free.

Only that name of a dimension changes, in place (protobuf: field 1, the number 1, becomes field 2, an empty name).
"""

from __future__ import annotations

from collections.abc import Iterator

_ONE, _ANY = b"\x08\x01", b"\x12\x00"
_GRAPH, _INPUT, _TYPE, _TENSOR, _SHAPE, _DIMENSION = 7, 11, 2, 1, 2, 1
_FIXED_SIZES = {1: 8, 5: 4}


def any_batch(model: bytes) -> bytes:
    """The model with any number of inputs at once; as it was where they are not fixed to one."""
    freed = bytearray(model)
    for graph in _fields(model, (0, len(model)), _GRAPH):
        for given in _fields(model, graph, _INPUT):
            for dimension in _first_dimension(model, given):
                if model[slice(*dimension)] == _ONE:
                    freed[slice(*dimension)] = _ANY
    return bytes(freed)


def _first_dimension(model: bytes, given: tuple[int, int]) -> Iterator[tuple[int, int]]:
    spans = [given]
    for field in (_TYPE, _TENSOR, _SHAPE):
        spans = [inner for span in spans for inner in _fields(model, span, field)]
    for shape in spans:
        yield from list(_fields(model, shape, _DIMENSION))[:1]


def _fields(model: bytes, span: tuple[int, int], wanted: int) -> Iterator[tuple[int, int]]:
    """Where the contents of a message's fields of one number lie, those that have a length."""
    at, end = span
    while at < end:
        key, at = _number(model, at)
        kind = key & 7
        if kind == 0:
            _, at = _number(model, at)
        elif kind == 2:
            length, at = _number(model, at)
            if key >> 3 == wanted:
                yield at, at + length
            at += length
        else:
            at += _FIXED_SIZES[kind]


def _number(model: bytes, at: int) -> tuple[int, int]:
    """A number of seven bits a byte, the lowest first, and where it ends."""
    value = shift = 0
    while True:
        byte = model[at]
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return value, at
