"""The command line's flags as keyword arguments, and arrays as inputs."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Mapping, Tuple

import numpy as np

from . import _core
from ._errors import UsageError

INPUTS = ("Q", "K", "V", "dO", "X", "bias", "bias2")
SWITCHES = ("l2", "turns", "overlap", "specialised")  # flags that take on and off


def word(value: Any) -> str:
    """A value as it is typed."""
    if isinstance(value, _core.Machine):
        return value.json()
    if isinstance(value, Mapping):
        return json.dumps(value)
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    return str(value)


def words(flags: Mapping[str, Any]) -> List[str]:
    """seq_q=16, causal=True -> ["--seq-q=16", "--causal"]; None is a flag that was not given."""
    all: List[str] = []
    for name, value in flags.items():
        flag = "--" + name.replace("_", "-")
        if isinstance(value, Mapping) and name != "gpu":
            each = ", ".join(f"{key}={word(v)}" for key, v in value.items())
            raise UsageError(_core.message("call.dict_for_flag", flag, each))
        if value is True and name not in SWITCHES:
            all.append(flag)
        elif name in SWITCHES and isinstance(value, bool):
            all.append(flag + ("=on" if value else "=off"))
        elif value is not None:
            all.append(f"{flag}={word(value)}")
    return all


def _is_bf16(a: "np.ndarray[Any, Any]") -> bool:
    """As ml_dtypes has it, or as numpy.load() gives back what was saved of it: two bytes without a meaning."""
    return a.dtype.itemsize == 2 and a.dtype.kind == "V" and a.dtype.names is None


def _readable(name: str, a: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """Numbers that NumPy has: bf16 as float32; a bias of booleans, or of whole numbers 0 and 1, as 0 where True and
    -inf where False."""
    if _is_bf16(a):
        return (np.ascontiguousarray(a).view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    whole = a.dtype.kind in "iu" and name in ("bias", "bias2")
    if a.dtype != np.bool_ and not whole:
        return a
    if whole and not np.isin(a, (0, 1)).all():
        raise UsageError(_core.message("call.no_mask", name, a.dtype))
    if name not in ("bias", "bias2"):
        raise UsageError(_core.message("call.booleans", name, a.dtype))
    return np.where(a != 0, np.float32(0), np.float32(-np.inf))


def _split(name: str, array: Any, bshd: bool) -> "np.ndarray[Any, Any]":
    """[batch, heads, rows, cols], whatever was left out of it."""
    a = _readable(name, np.asarray(array))
    if a.dtype not in (np.float16, np.float32, np.float64):
        raise UsageError(_core.message("call.other_type", name, a.dtype))
    if a.size == 0:
        raise UsageError(_core.message("call.no_elements", name, a.shape))
    if not 2 <= a.ndim <= 4:
        raise UsageError(_core.message("call.other_dimensions", name, a.ndim))
    if bshd and a.ndim > 2:
        a = np.swapaxes(a, -3, -2)
    return a.reshape((1,) * (4 - a.ndim) + a.shape)


def _axes(a: "np.ndarray[Any, Any]") -> str:
    """The axes of a bias as --bias has them: those along which it is not shared."""
    return "".join(axis for axis, size in zip("bhq", a.shape) if size > 1) + "k"


def take_arrays(flags: Dict[str, Any]) -> Tuple[Dict[str, Any], int, bool]:
    """Takes the arrays out of the flags, and puts the sizes that follow from them there, where they are not given.

    The arrays as [slices, rows, columns], the rank of the first one, and whether they are [batch, seq, heads, dim].
    """
    given = {name: flags.pop(name) for name in INPUTS if name in flags and not isinstance(flags[name], str)}
    given = {name: a for name, a in given.items() if a is not None}
    layout = flags.pop("layout", "bhsd")
    if layout not in ("bhsd", "bshd"):
        raise UsageError(_core.message("call.no_layout", layout))
    if not given:
        return {}, 0, False
    biases = [name for name in ("bias", "bias2") if name in given]
    arrays = {name: _split(name, a, layout == "bshd" and name not in biases) for name, a in given.items()}
    if biases:
        flags["bias"] = "+".join(_axes(arrays[name]) for name in biases)
    needed = ("X",) if "X" in arrays else ("Q", "K", "V")
    for name in needed:
        if name not in arrays:
            raise UsageError(_core.message("call.all_are_needed", ", ".join(needed), name))
    q = arrays[needed[0]]
    for name in ("K", "V", "dO"):
        if name in arrays and "dtype" not in flags and (arrays[name].dtype == np.float16) != (q.dtype == np.float16):
            raise UsageError(_core.message("call.stored_alike", name, arrays[name].dtype, q.dtype))
    sizes = {"batch": q.shape[0], "heads": q.shape[1], "seq_q": q.shape[2]}
    if "X" in arrays:
        sizes["seq_k"] = q.shape[3]
    else:
        k, v = arrays["K"], arrays["V"]
        sizes.update(kv_heads=k.shape[1], seq_k=k.shape[2], dim=q.shape[3], dim_v=v.shape[3])
    if flags.get("seq") is not None:  # which means both
        both = flags.pop("seq")
        flags.setdefault("seq_q", both)
        flags.setdefault("seq_k", both)
    for name, size in sizes.items():
        flags.setdefault(name, size)
    bf16 = _is_bf16(np.asarray(given[needed[0]]))
    flags.setdefault("dtype", "f16" if q.dtype == np.float16 else "bf16" if bf16 else "f32")
    rank = np.asarray(given[needed[0]]).ndim
    return {name: _flat(a) for name, a in arrays.items()}, rank, layout == "bshd"


def _flat(a: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """[slices, rows, columns] in C order: the same memory, where it lies like that already."""
    half = a.dtype == np.float16
    return np.ascontiguousarray(a.reshape(-1, *a.shape[2:]), dtype=np.float16 if half else np.float32)
