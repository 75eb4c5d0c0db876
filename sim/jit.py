"""The one place that configures numba: cache folder, compile options, records, pure mode.

Pure mode (`NUMBA_DISABLE_JIT=1`) runs the same sources as plain Python; records are then
`__slots__` objects, eleven times faster there than NumPy records.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import time
import types as python_types
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import from_dtype, njit, types
from numba.core.errors import NumbaExperimentalFeatureWarning

ROOT = Path(__file__).resolve().parent.parent
_config: Any = numba.config
PURE = bool(_config.DISABLE_JIT)
if PURE:
    np.seterr(over="ignore")  # streams wrap around, as machine words do
UNUSED_CACHE_DAYS = 30

# First-class functions, and records taken for longer ones (sim/usage.py), are experimental in numba; it is pinned to a tested minor for them.
warnings.simplefilter("ignore", NumbaExperimentalFeatureWarning)


@cache
def source_digest() -> str:
    """Digest (16 hex digits) of every source in sim/ and policies/."""
    digest = hashlib.sha256()
    for path in [*sorted((ROOT / "sim").rglob("*.py")), *sorted((ROOT / "policies").rglob("*.py"))]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def use_cache_folder() -> Path:
    """Point numba at a folder named by everything that compiled code depends on; return it.

    numba stamps a cached function by its own file only, so an edited helper in another file would
    go unnoticed; a folder per digest cannot be stale. Folders unused for a month are removed.
    """
    home = os.environ.get("HOUSECARLO_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "housecarlo"
    settings = sorted((k, v) for k, v in os.environ.items() if k.startswith("NUMBA_"))
    machine = [numba.__version__, np.__version__, platform.python_version(), platform.machine(), cpu_name(), settings]
    folder = Path(home) / hashlib.sha256(f"{source_digest()} {machine}".encode()).hexdigest()[:16]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        for old in Path(home).iterdir():
            if time.time() - old.stat().st_mtime > UNUSED_CACHE_DAYS * 86_400:
                shutil.rmtree(old, ignore_errors=True)
        _config.CACHE_DIR = str(folder)
    except OSError:  # a read-only home only costs the cache: numba then compiles anew
        pass
    return folder


def cache_is_empty() -> bool:
    """Will the first game have to wait for the compiler?"""
    return not PURE and not (_config.CACHE_DIR and any(Path(_config.CACHE_DIR).iterdir()))


def cpu_name() -> str:
    """The processor numba compiles for."""
    from llvmlite import binding

    return str(binding.get_host_cpu_name())


if not PURE:
    use_cache_folder()


_guarded = False


def jit(function: Callable[..., Any], signature: Any = None, inline: bool = True) -> Any:
    """Compile `function` (a decorator too). With a `signature` it is compiled at once.

    `error_model="numpy"` spares the zero-division checks, `nogil` lets threads play side by side, and functions without
    a signature are inlined where they are called: a call of numba's passes a result, a status and an exception to check.
    Code that is not ours is guarded instead: see `guarded`.
    `inline=False` spares compile time where a large function is called from several places.
    """
    options: dict[str, Any] = {"nogil": True, "forceinline": inline and signature is None}
    options |= {"error_model": "python", "boundscheck": True} if _guarded else {"error_model": "numpy", "cache": True}
    return njit(function, **options) if signature is None else njit(signature, **options)(function)


@contextmanager
def guarded() -> Iterator[None]:
    """For a user's own file. Inside, what `jit` compiles raises at an index out of range or a division by zero, where ours would read anything.

    Nothing is kept on disk: numba would not watch the file's neighbours.
    """
    global _guarded
    _guarded = True
    try:
        yield
    finally:
        _guarded = False


def bind(function: Callable[..., Any], name: str, **names: Any) -> Callable[..., Any]:
    """The same code as `function` with some of its global names filled in.

    This is how the one play loop is compiled for each game: numba resolves globals while it
    compiles, and, unlike a closure, a function so made still hits the disk cache.
    """
    bound = python_types.FunctionType(function.__code__, {**function.__globals__, **names}, function.__name__)
    bound.__qualname__ = f"{function.__qualname__}[{name}]"
    bound.__module__ = function.__module__
    return bound


def record_array(dtype: np.dtype[Any], length: int) -> Any:
    """`length` zeroed records: a NumPy record array, or a list of slotted objects in pure mode."""
    if not PURE:
        return np.zeros(length, dtype)
    return [_slotted(dtype)() for _ in range(length)]


@cache
def _slotted(dtype: np.dtype[Any]) -> type:
    names = dtype.names or ()

    def __init__(self: Any) -> None:
        for name in names:
            shape, base = dtype[name].shape, dtype[name].base
            zero: Any = 0.0 if base.kind == "f" else 0
            if base == np.uint64:  # streams need the wrap-around of machine words
                zero = np.uint64(0)
            setattr(self, name, [zero] * shape[0] if shape else zero)

    return type("Record", (), {"__slots__": names, "__init__": __init__})


def records_of(dtype: np.dtype[Any], values: dict[str, Any], length: int) -> Any:
    """`length` records, each filled from `values` (sequences for nested arrays)."""
    records = record_array(dtype, length)
    for n in range(length):
        for name in dtype.names or ():
            set_field(records[n], name, values[name])
    return records


def set_field(record: Any, name: str, value: Any) -> None:
    """Set one field of one record; `name` need not be known when the code is written."""
    if PURE:
        setattr(record, name, list(value) if isinstance(value, list | tuple) else value)
    else:
        record[name] = value


def record_dict(record: Any, dtype: np.dtype[Any], names: Sequence[str]) -> dict[str, Any]:
    """The named fields of one record as plain Python numbers and lists."""
    values = {name: getattr(record, name) if PURE else record[name] for name in names}
    plain = {name: float if dtype[name].base.kind == "f" else int for name in names}
    return {name: [plain[name](v) for v in value] if dtype[name].shape else plain[name](value) for name, value in values.items()}


def int_columns(records: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Records of int64 fields as an int64 array (records, flattened fields), without a copy unless pure."""
    if not PURE:
        return np.asarray(records.view(np.int64).reshape(len(records), -1))
    rows = [np.hstack([getattr(record, name) for name in dtype.names or ()]) for record in records]
    return np.array(rows, dtype=np.int64)


def record_type(dtype: np.dtype[Any]) -> Any:
    """numba's type of one record."""
    return from_dtype(dtype)


def array_type(dtype: np.dtype[Any]) -> Any:
    """numba's type of a one-dimensional, contiguous array of records."""
    return types.Array(from_dtype(dtype), 1, "C")


def tuple_type(of: Any, length: int) -> Any:
    """numba's type of a tuple of `length` alike things."""
    make: Any = types.UniTuple
    return make(of, length)


def allocator(dtype: np.dtype[Any], length: int, name: str) -> Callable[[], Any]:
    """A function, compiled unless pure, that returns `length` zeroed records: work space for a policy."""
    if PURE:
        return lambda: record_array(dtype, length)
    allocate: Callable[[], Any] = jit(bind(_zeroed, name, DTYPE=dtype, LENGTH=length))
    return allocate


DTYPE: Any = None  # filled in by `bind`
LENGTH = 0


def _zeroed() -> Any:
    return np.zeros(LENGTH, DTYPE)
