"""Element types: Tare's names and NumPy's."""

import sys

import numpy as np

from . import _tare

_STORAGE = {
    "f64": "<f8",
    "f32": "<f4",
    "f16": "<f2",
    "i64": "<i8",
    "i32": "<i4",
    "i16": "<i2",
    "i8": "i1",
    "u64": "<u8",
    "u32": "<u4",
    "u16": "<u2",
    "u8": "u1",
    "bool": "?",
}
_LOGICAL = {"complex64": "<c8", "complex128": "<c16"}
# Tare's names of types in safetensors' spelling.
SAFETENSORS = {
    "f64": "F64", "f32": "F32", "f16": "F16", "bf16": "BF16", "i64": "I64", "i32": "I32", "i16": "I16", "i8": "I8",
    "u64": "U64", "u32": "U32", "u16": "U16", "u8": "U8", "bool": "BOOL", "f8_e4m3fn": "F8_E4M3", "f8_e5m2": "F8_E5M2",
    "f8_e4m3fnuz": "F8_E4M3FNUZ", "f8_e5m2fnuz": "F8_E5M2FNUZ", "f8_e8m0": "F8_E8M0", "complex64": "C64",
    "packed.f4_e2m1": "F4", "packed.f6_e2m3": "F6_E2M3", "packed.f6_e3m2": "F6_E3M2",
}  # fmt: skip
# Types that NumPy gets from the package ml_dtypes: the name there, and the type of the bits without it.
_EXTRA = {
    "bf16": ("bfloat16", "<u2"),
    "f8_e4m3fn": ("float8_e4m3fn", "u1"),
    "f8_e5m2": ("float8_e5m2", "u1"),
    "f8_e4m3fnuz": ("float8_e4m3fnuz", "u1"),
    "f8_e5m2fnuz": ("float8_e5m2fnuz", "u1"),
    "f8_e8m0": ("float8_e8m0fnu", "u1"),
}
# Layouts of 4- and 6-bit floats, which ml_dtypes stores in a byte each.
PACKED = {
    "packed.f4_e2m1": "float4_e2m1fn",
    "packed.f6_e2m3": "float6_e2m3fn",
    "packed.f6_e3m2": "float6_e3m2fn",
}

PACKED_NAMES = {name: layout for layout, name in PACKED.items()}

_ml_dtypes = None


def ml_dtypes():
    """The package ml_dtypes, or None."""
    global _ml_dtypes
    if _ml_dtypes is None:
        try:
            import ml_dtypes as found
        except ImportError:
            found = False
        _ml_dtypes = found
    return _ml_dtypes or None


def _extra(name):
    attribute, bits = _EXTRA[name]
    package = ml_dtypes()
    found = getattr(package, attribute, None) if package else None
    return np.dtype(found if found is not None else bits)


def numpy_dtype(storage, logical):
    """The NumPy type for a storage type and a logical type (or ''); called by the extension, once for each."""
    if logical in _LOGICAL:
        return np.dtype(_LOGICAL[logical])
    if logical in _EXTRA:
        return _extra(logical)
    if storage in _EXTRA:
        return _extra(storage)
    return np.dtype(_STORAGE[storage])


_BY_KIND = {np.dtype(code).newbyteorder("=").str[1:]: name for name, code in _STORAGE.items()}
_BY_NAME = {attribute: name for name, (attribute, _) in _EXTRA.items()}


_known = {}  # results of tare_dtype: NumPy makes the name of a type anew each time, which is as slow as the rest of a save


def tare_dtype(dtype):
    """Tare's (storage, logical) for a NumPy type, which may be one of ml_dtypes. TypeError for others."""
    found = _known.get(dtype)
    if found is None:
        found = _tare_dtype(dtype)
        if dtype.isbuiltin:  # there are few of these, unlike types with metadata
            _known[dtype] = found
    return found


def _tare_dtype(dtype):
    name = _BY_NAME.get(dtype.name)
    if name is not None:
        return ("bf16", "") if name == "bf16" else ("u8", name)
    if dtype.kind in "fiu":
        found = _BY_KIND.get(dtype.str[1:])
        if found:
            return found, ""
    if dtype.kind == "b":
        return "bool", ""
    if dtype.kind == "c" and dtype.itemsize in (8, 16):
        return ("f32", "complex64") if dtype.itemsize == 8 else ("f64", "complex128")
    raise TypeError(f"an array of type {dtype} cannot be stored; there are bool, integers, floats and complex numbers")


def packed_layout(dtype):
    """The layout of floats of 4 or 6 bits, which ml_dtypes has in a byte each; else None."""
    return None if dtype.kind in "fiub" else PACKED_NAMES.get(dtype.name)


def name_of(dtype):
    """Tare's name of a type: 'bf16' and the like as they are, NumPy's ('float16', np.float16) in Tare's spelling."""
    if isinstance(dtype, str) and dtype in TARE_NAMES:
        return dtype
    try:
        storage, logical = tare_dtype(np.dtype(dtype))
    except TypeError:
        raise ValueError(no_such_type(dtype)) from None
    return logical or storage


def no_such_type(name):
    """The sentence about what is not a type."""
    if not isinstance(name, str):
        return f"there is no type {name!r}"
    near = _tare.nearest(name, [*TARE_NAMES, "float16", "bfloat16", "float32", "float64"], 1)
    return f"there is no type {name}" + (f"; did you mean {near[0]}?" if near else "")


def is_native(dtype):
    """Whether the bytes in memory are little-endian, as files have them."""
    return dtype.itemsize == 1 or dtype.byteorder in "|<" or (dtype.byteorder == "=" and sys.byteorder == "little")


# Tare's names of types: (storage, logical).
TARE_NAMES = {name: (name, "") for name in (*_STORAGE, "bf16")}
TARE_NAMES |= {name: ("u8", name) for name in _EXTRA if name != "bf16"}
TARE_NAMES |= {"complex64": ("f32", "complex64"), "complex128": ("f64", "complex128")}
