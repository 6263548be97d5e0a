# SPDX-License-Identifier: BSD-3-Clause
"""Arrays and a table as bytes, and back: a word that says what it is, a hash, and what that is of, compressed.

Whoever makes bytes can make their hash too, so nothing that they say is believed: no size is allocated that is not
there, nothing is unpickled, and a table is looked at before its columns are used.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Iterator
from typing import Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from swftools.errors import StateError
from swftools.simulator.engine.replay import ReplayState, with_views
from swftools.simulator.machine.state import read_only
from swftools.simulator.state.arena import Arena
from swftools.simulator.state.columns import (
    PER_EDGE,
    PER_END,
    PER_RUN,
    array_at,
    columns_of,
    made_of,
    sizes_in,
    sizes_of,
)

Arrays = dict[str, npt.NDArray[Any]]

WORD = b"swftools simulation\n"

MOST_BYTES, MOST_TIMES = 2**28, 1000
"""Bytes of a state that is not compressed: so many, or so many times those that it is read from."""

_KINDS = re.compile(
    r"arrow|object|str|string|bool|boolean|category|datetime64\[\w+(, UTC)?\]|[Uu]?[Ii]nt\d+|[Ff]loat\d+"
)
_HASH, _SIZE = 32, 8
_WRONG = (pa.ArrowException, OSError, ValueError, MemoryError)


def pack(arrays: Arrays) -> bytes:
    """Return arrays as bytes."""
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **arrays)
    raw = file.getvalue()
    rest = len(raw).to_bytes(_SIZE, "little") + pa.Codec("zstd").compress(raw, asbytes=True)
    return WORD + hashlib.sha256(rest).digest() + rest


def unpack(state: Any) -> Arrays:
    """Return the arrays of bytes.

    Raises
    ------
    StateError
        They are others, were changed on their way, or hold something else than they say.
    """
    if not isinstance(state, bytes | bytearray | memoryview):
        raise StateError(f"a state is bytes, as to_bytes returns them, not {type(state).__name__}")
    state = bytes(state)
    if not state.startswith(WORD):
        raise StateError("these bytes are not the state of a simulation: give what to_bytes returned")
    digest, rest = state[len(WORD) : len(WORD) + _HASH], state[len(WORD) + _HASH :]
    if hashlib.sha256(rest).digest() != digest:
        raise StateError("the state of the simulation is damaged, or was cut off: save it anew")
    size = int.from_bytes(rest[:_SIZE], "little")
    if size > max(MOST_BYTES, MOST_TIMES * len(rest)):
        raise StateError(f"the state says that it is {size:,} bytes, of {len(rest):,} compressed ones: save it anew")
    try:
        raw = pa.Codec("zstd").decompress(rest[_SIZE:], size, asbytes=True)
        return _arrays_in(raw)
    except (*_WRONG, BadZipFile, EOFError, RuntimeError) as error:
        if isinstance(error, StateError):
            raise
        raise StateError(f"the state is damaged, or was changed: {error}; save it anew") from error


def _arrays_in(raw: bytes) -> Arrays:
    """Return the arrays of the file that ``numpy.savez`` writes."""
    arrays: Arrays = {}
    with ZipFile(io.BytesIO(raw)) as file:
        members = file.infolist()
        if sum(member.file_size for member in members) > len(raw):
            raise ValueError("its parts are larger than it is")
        for member in members:
            if member.compress_type != ZIP_STORED or member.file_size != member.compress_size:
                raise ValueError("a part is compressed once more")
            arrays[member.filename.removesuffix(".npy")] = _array_in(file.read(member))
    return arrays


def _array_in(content: bytes) -> npt.NDArray[Any]:
    """Return the array of a file of numpy's."""
    file = io.BytesIO(content)
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("an array of an unknown version")
    shape, is_by_column, kind = np.lib.format.read_array_header_1_0(file)
    begin = file.tell()
    if kind.hasobject or kind.fields is not None or kind.kind not in "biuf" or not kind.isnative or is_by_column:
        raise ValueError(f"an array of {kind}")
    count = 1
    for length in shape:
        count *= length
    if min(shape, default=0) < 0 or count * kind.itemsize != len(content) - begin:
        raise ValueError(f"an array of shape {shape} in {len(content) - begin:,} bytes")
    if kind.kind == "b" and max(content[begin:], default=0) > 1:
        raise ValueError("truth values beside 0 and 1")
    return np.frombuffer(content, kind, count, begin).reshape(shape).copy()


def json_in(array: npt.NDArray[Any]) -> Any:
    """Return what an array of letters says in JSON.

    Raises
    ------
    StateError
        It is none.
    """
    try:
        return json.loads(array.tobytes())
    except (ValueError, RecursionError) as error:
        raise StateError(f"the state is damaged, or was changed: its head: {error}; save it anew") from error


def table_as_bytes(jobs: pd.DataFrame) -> bytes:
    """Return a table as an Arrow stream, with the types that its columns have in pandas."""
    kinds = {str(name): "arrow" if isinstance(kind, pd.ArrowDtype) else str(kind) for name, kind in jobs.dtypes.items()}
    table = pa.Table.from_pandas(jobs, preserve_index=False).replace_schema_metadata({"kinds": json.dumps(kinds)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def table_of_bytes(state: bytes) -> pd.DataFrame:
    """Return the table of such a stream.

    Raises
    ------
    StateError
        It is none, or its columns do not hold what they say.
    """
    try:
        table = pa.ipc.open_stream(state).read_all()
        table.validate(full=True)
        kinds = _checked_kinds(json.loads((table.schema.metadata or {})[b"kinds"]), table.column_names)
        return pd.DataFrame({name: _column(table[name], kind) for name, kind in kinds.items()})
    except (*_WRONG, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise StateError(f"the state is damaged, or was changed: its jobs: {error}; save it anew") from error


def _checked_kinds(kinds: dict[str, str], names: list[str]) -> dict[str, str]:
    """Return the types of columns; refuse others than a table of jobs has."""
    if wrong := [kind for kind in kinds.values() if not _KINDS.fullmatch(kind)]:
        raise ValueError(f"a column of {wrong[0]!r:.40}")
    if list(kinds) != names:
        raise ValueError("columns of other names")
    return kinds


def _column(column: Any, kind: str) -> Any:
    """Return a column in the type that it had."""
    if kind == "arrow":
        return pd.Series(pd.arrays.ArrowExtensionArray(column))
    if kind.startswith(("Int", "Float", "boolean")):  # by way of pandas' own missing values, so that no digit is lost
        kinds = {pa.int64(): pd.Int64Dtype(), pa.float64(): pd.Float64Dtype(), pa.bool_(): pd.BooleanDtype()}
        return column.to_pandas(types_mapper=kinds.get).astype(kind)
    return column.to_pandas().astype(kind)


FIRST_FORM = {
    "coming": (
        *("row", "run_time", "limit", "told", "submit_time", "processors", "user_id", "queue_id", "priority_rank"),
        *("checkpoint_interval", "speedup", "utility", "restart_overhead"),
    ),
    "machine": (
        *("counts", "clock", "predicted", "queue.least", "queue.job", "queue.place", "queue.used", "held_until"),
        *("held", "running", "started", "stops.run", "stops.how", "stops.work", "ended", "allocated", "run"),
        *("start_time", "expected_end", "done", "overhead", "restart"),
    ),
    "replay": (
        *("requests.submit_time", "requests.processors", "requests.requested_time", "requests.limit"),
        *("requests.user_id", "requests.queue_id", "requests.priority_rank", "requests.checkpoint_interval"),
        *("requests.speedup", "requests.utility", "requests.restart_overhead"),
        *("log.job", "log.start", "log.end", "log.processors", "log.ended_by", "log.before", "log.work"),
        *("log.overhead", "log.size", "ends.times", "ends.runs", "ends.size", "counts", "until"),
    ),
}
"""Arrays of a state of version 1, which has them by number."""

STATE = "state."
"""What the names of the arrays of the engine begin with."""


def arrays_of(state: ReplayState) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    """Yield the arrays of a state, zero where nothing was written yet, so that equal states are equal bytes."""
    used = {PER_RUN: int(state.replay.log.size[0]), PER_END: int(state.replay.ends.size[0])}
    for path, column in columns_of(ReplayState).items():  # of nodes others are saved
        array = array_at(state, path)
        if not len(array) and (column.is_optional or column.per == PER_EDGE):
            continue
        if (count := used.get(column.per)) is not None:
            array = np.concatenate([array[:count], np.zeros(len(array) - count, array.dtype)])
        yield f"{STATE}{path}", array


def _named(arrays: Arrays) -> Arrays:
    """Return the arrays of a state of version 1 by their paths."""
    named: Arrays = {}
    for part, names in FIRST_FORM.items():
        if sum(key.startswith(f"{part}.") for key in arrays) != len(names):
            raise StateError(f"{part} has another number of arrays than here")
        named |= {f"{STATE}{part}.{name}": arrays[f"{part}.{i}"] for i, name in enumerate(names)}
    del named[f"{STATE}machine.predicted"]  # which shows another
    return named


def _state_in(arrays: Arrays) -> ReplayState:
    """Return what the engine goes on with; arrays that came to be later are empty."""
    columns = columns_of(ReplayState)
    found = {key.removeprefix(STATE): array for key, array in arrays.items() if key.startswith(STATE)}
    if unknown := found.keys() - columns.keys():
        raise StateError(f"it has {min(unknown)}, which is nothing here")
    for path, array in found.items():
        column = columns[path]
        if array.dtype != column.kind or array.ndim != 1 + len(column.further):
            raise StateError(f"{path} is an array of {array.dtype} where one of {column.kind} is here")
        if not column.per and len(array) < column.times:  # what it counts came later
            found[path] = np.append(array, np.full(column.times - len(array), column.empty, column.kind))
    sizes = sizes_in(ReplayState, found)
    for path in columns.keys() - found.keys():  # which came later
        one = columns[path]
        found[path] = np.full(one.shape(sizes, path.rpartition(".")[2]), one.empty, one.kind)
    state: ReplayState = made_of(ReplayState, found)
    return with_views(state)


def arena_of(state: ReplayState) -> Arena[ReplayState]:
    """Return a state in memory of its own."""
    columns = columns_of(ReplayState)
    given = {path: read_only(array_at(state, path)) for path, column in columns.items() if column.is_given}
    first = {path: array_at(state, path) for path in columns if path not in given}
    return Arena(ReplayState, sizes_of(state), given, with_views, first)


def state_in(arrays: Arrays, version: int) -> ReplayState:
    """Return what the engine goes on with, of the arrays of a saved state of a version.

    Raises
    ------
    StateError
        It has other arrays than the engine.
    """
    return _state_in(_named(arrays) if version == 1 else arrays)
