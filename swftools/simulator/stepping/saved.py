# SPDX-License-Identifier: BSD-3-Clause
"""The state of a simulation as bytes: all that it takes to go on in another process, and nothing that is executed.

A word that says what it is, a hash, and what that is of: a head of JSON and arrays (``numpy.savez``), compressed.
A state that was changed on its way, or is of another version, is one error.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from swftools.errors import ParameterError, StateError
from swftools.header import HeaderEntry, SwfHeader
from swftools.output.package import swftools_package
from swftools.simulator.assumptions import Assumed
from swftools.simulator.engine.calling import called_for
from swftools.simulator.engine.driver import Driver
from swftools.simulator.engine.entry import Own
from swftools.simulator.engine.loop import Options
from swftools.simulator.engine.replay import Coming, Log, Replay, begin_replay
from swftools.simulator.job_table import JobTable
from swftools.simulator.machine.state import CAPACITY, Machine, empty_machine, no_requests, with_requests
from swftools.simulator.predictors.kinds import Predictor
from swftools.simulator.predictors.registry import find_predictor
from swftools.simulator.registry import Policy, find_policy
from swftools.simulator.simulation import Simulation
from swftools.simulator.stepping.forking import Numbers
from swftools.simulator.workload import Workload
from swftools.trace import Trace

WORD = b"swftools simulation\n"
VERSION = 1
"""Of the form: raised when older states cannot be gone on with any more."""

_DRAWS = "Philox"

ALWAYS_COUNTED = 5
"""Counts of ``Assumed`` that every state has; of others only a state that has something to count."""


def state_of(simulation: Simulation, own: dict[str, Any], *, is_fork: bool = False) -> bytes:
    """Return all that a simulation knows, and what its owner knows beside that, in plain words and numbers.

    Raises
    ------
    StateError
        A predictor in Python goes with it, or policy or predictor were never registered under a name.
    """
    driver = simulation._driver
    if driver.asked:
        raise StateError("a simulation with a predictor in Python cannot be saved: the predictor may hold anything")
    trace, workload, users = simulation.trace, simulation._workload, simulation._users
    jobs, excluded, rows = trace.jobs, workload.excluded, simulation._own_rows
    if is_fork and rows is not None:  # of the rest of the trace nothing is known to it
        kept, place = np.unique(rows[: driver.jobs], return_inverse=True)
        rows = np.full_like(rows, -1)
        rows[: driver.jobs] = place
        jobs, excluded = jobs.iloc[kept].reset_index(drop=True), excluded.iloc[:0]
    policy, predictor = driver.policy, driver.predictor
    head = {
        "version": VERSION,
        "own": own,
        "swftools": swftools_package().__version__,
        "policy": [_name_of(policy, policy.decide), policy.version, _given(simulation)],
        "predictor": [simulation.options["predictor"], predictor.version],
        "options": simulation.options,
        "engine": list(driver.options),
        "jobs": driver.jobs,
        "has_rows": rows is not None,
        "header": [[entry.label, entry.text] for entry in trace.header.entries],
        "machine_processors": trace.machine_processors,
        "assumed": [count for place, count in enumerate(workload.assumed) if count or place < ALWAYS_COUNTED],
        "excluded": [excluded["row"].tolist(), excluded["reason"].tolist()],
        "users": None if users is None else list(users.items()),
        "draws": [_draws(driver.observer.rng), _draws(driver.decider.rng)],
    }
    parts = {
        "coming": driver.coming,
        "machine": driver.machine._replace(requests=(), predicted=np.zeros(0)),  # type: ignore[arg-type]
        "replay": _without_rest(driver.replay),
        "observer": (driver.observer.parameters, driver.observer.memory),
        "decider": (driver.decider.parameters, driver.decider.memory),
        "rows": () if rows is None else rows,
        "cut": () if simulation._is_cut is None else simulation._is_cut,
        "taken_out": simulation._taken_out,
    }
    arrays = {f"{name}.{i}": each for name, part in parts.items() for i, each in enumerate(_leaves(part))}
    arrays["trace"] = np.frombuffer(_table_as_bytes(jobs), np.uint8)
    arrays["head"] = np.frombuffer(json.dumps(head).encode(), np.uint8)
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **arrays)
    raw = file.getvalue()
    rest = len(raw).to_bytes(8, "little") + pa.Codec("zstd").compress(raw, asbytes=True)
    return WORD + hashlib.sha256(rest).digest() + rest


def simulation_of(state: bytes) -> tuple[Simulation, dict[str, Any]]:
    """Return the simulation whose state it is, and what its owner knew.

    Raises
    ------
    StateError
        It is none, was changed on its way, or is of another version of the form or of the policy.
    """
    arrays = _arrays_of(state)
    head = json.loads(arrays["head"].tobytes())
    try:
        return _made(head, arrays), head["own"]
    except (KeyError, TypeError, ValueError, IndexError) as error:
        if isinstance(error, StateError | ParameterError):
            raise StateError(f"the state cannot be continued here: {error}") from error
        raise StateError(
            f"the state is of another version of swftools, {head.get('swftools')}: save it anew"
        ) from error


def _arrays_of(state: bytes) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of a state."""
    if not isinstance(state, bytes | bytearray | memoryview):
        raise StateError(f"a state is bytes, as to_bytes returns them, not {type(state).__name__}")
    state = bytes(state)
    if not state.startswith(WORD):
        raise StateError("these bytes are not the state of a simulation: give what to_bytes returned")
    digest, rest = state[len(WORD) : len(WORD) + 32], state[len(WORD) + 32 :]
    if hashlib.sha256(rest).digest() != digest:
        raise StateError("the state of the simulation is damaged, or was cut off: save it anew")
    raw = pa.Codec("zstd").decompress(rest[8:], int.from_bytes(rest[:8], "little"), asbytes=True)
    with np.load(io.BytesIO(raw), allow_pickle=False) as file:
        arrays = dict(file)
    version = json.loads(arrays["head"].tobytes())["version"]
    if version != VERSION:
        raise StateError(f"the state has the form of version {version}, and this is {VERSION}: save it anew")
    return arrays


def _made(head: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> Simulation:
    """Return the simulation of a state that is whole."""
    text, version, given = head["policy"]
    policy: Policy = find_policy(text)
    found = find_predictor(head["predictor"][0])
    if not isinstance(found, Predictor):
        raise StateError(f"predictor {head['predictor'][0]!r} is one in Python")
    for what, was, now in (("policy", version, policy.version), ("predictor", head["predictor"][1], found.version)):
        if was != now:
            raise StateError(f"it was saved with version {was} of its {what}, and this is {now}: they decide otherwise")
    chosen = policy.chosen(given)
    options, jobs = head["options"], head["jobs"]
    restart = np.zeros(2)
    machine_like = empty_machine(no_requests(1), 1, restart)._replace(requests=(), predicted=restart)  # type: ignore[arg-type]
    replay = _filled(begin_replay(no_requests(1), 1), arrays, "replay")
    machine: Machine = _filled(machine_like, arrays, "machine")
    machine = with_requests(machine._replace(restart=_read_only(machine.restart)), replay.requests)
    size = int(machine.counts[CAPACITY])
    coming = _filled(_like_coming(), arrays, "coming")
    called = called_for(policy, chosen, found, compiled=True)
    observer, decider = head["draws"]
    memories = found.empty_memory(1, size), policy.empty_memory(1, size, chosen)
    owns = []
    for name, memory, draws in zip(("observer", "decider"), memories, (observer, decider), strict=True):
        parameters, filled = _filled((np.zeros(0), memory), arrays, name)
        owns.append(Own(parameters, filled, _generator(draws)))
    jobs_of = _table_of_bytes(arrays["trace"].tobytes())
    header = SwfHeader(tuple(HeaderEntry(label, words) for label, words in head["header"]))
    table = JobTable(Trace(header, jobs_of, machine_processors=head["machine_processors"]))
    rows = arrays["rows.0"] if head["has_rows"] else None
    excluded = pd.DataFrame(
        {"row": np.array(head["excluded"][0], np.int64), "reason": np.array(head["excluded"][1], dtype=object)}
    )
    cut = arrays.get("cut.0")
    known = np.zeros(len(coming.row), np.bool_) if cut is None else cut
    made = object.__new__(Simulation)
    driver = Driver(
        policy=policy,
        predictor=found,
        called=called,
        coming=coming,
        machine=machine,
        replay=replay,
        options=Options(*head["engine"]),
        observer=owns[0],
        decider=owns[1],
        asked=None,
        number_of=made._number_of if rows is None else Numbers(table, rows),
    )
    driver.jobs = jobs
    made.__dict__.update(
        policy=policy,
        options=options,
        _table=table,
        _own_rows=rows,
        _workload=Workload(coming, known, excluded, machine.restart, Assumed(*head["assumed"])),
        _is_cut=cut,
        _users=None if head["users"] is None else {int(user): number for user, number in head["users"]},
        _taken_out=arrays["taken_out.0"],
        _chosen=chosen,
        _driver=driver,
    )
    return made


def _like_coming() -> Coming:
    """Return jobs to come, of the kinds that they have."""
    real, whole, short = np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int32)
    return Coming(
        *(short, real, real, real, real, whole, short, whole, whole, real),
        *(np.zeros((0, 5)), np.zeros((0, 0, 2)), real),
    )


def _leaves(part: Any) -> Iterator[npt.NDArray[Any]]:
    """Yield the arrays of a tuple, or of tuples in it."""
    if isinstance(part, tuple):
        for each in part:
            yield from _leaves(each)
    else:
        yield part


def _filled(like: Any, arrays: dict[str, npt.NDArray[Any]], name: str) -> Any:
    """Return a tuple of the same kind with the arrays of a part of a state, which must be of the same types."""
    found = iter([arrays[key] for key in arrays if key.startswith(f"{name}.")])
    number = sum(1 for _ in _leaves(like))
    if number != sum(key.startswith(f"{name}.") for key in arrays):
        raise StateError(f"{name} has another number of arrays than here")

    def fill(part: Any) -> Any:
        if isinstance(part, tuple):
            return tuple.__new__(type(part), [fill(each) for each in part])
        array = next(found)
        if array.dtype != part.dtype or array.ndim != part.ndim:
            raise StateError(f"{name} has an array of {array.dtype} where one of {part.dtype} is here")
        return array

    return fill(like)


def _without_rest(replay: Replay) -> Replay:
    """Return the same with zeros where nothing was written yet, so that equal states are equal bytes."""
    log, ends = replay.log, replay.ends
    runs, ending = int(log.size[0]), int(ends.size[0])

    def cleared(column: Any, count: int) -> Any:
        other = np.zeros_like(column)
        other[:count] = column[:count]
        return other

    kept: Any = Log._make([*(cleared(column, runs) for column in log[:-1]), log.size])
    return replay._replace(
        log=kept, ends=ends._replace(times=cleared(ends.times, ending), runs=cleared(ends.runs, ending))
    )


def _name_of(what: Any, function: Any) -> str:
    """Return by what name a policy is found, in a process that has not imported its module."""
    module = str(function.__module__)
    return str(what.name) if module.startswith("swftools.") else f"{module}:{what.name}"


def _given(simulation: Simulation) -> dict[str, Any]:
    """Return the parameters of the policy, but for those that its name says."""
    fixed = simulation._driver.policy.fixed
    return {name: value for name, value in simulation._chosen.to_mapping().items() if name not in fixed}


def _draws(rng: np.random.Generator) -> dict[str, Any]:
    """Return the state of a generator in plain words and numbers."""
    state: Any = rng.bit_generator.state
    if state["bit_generator"] != _DRAWS:
        raise StateError(f"draws by {state['bit_generator']} are not saved, only by {_DRAWS}")
    inner = {name: values.tolist() for name, values in state["state"].items()}
    rest = {name: int(state[name]) for name in ("buffer_pos", "has_uint32", "uinteger")}
    return {"state": inner, "buffer": state["buffer"].tolist(), **rest}


def _generator(draws: dict[str, Any]) -> np.random.Generator:
    """Return the generator of a state."""
    bits = np.random.Philox(0)
    inner = {name: np.array(values, np.uint64) for name, values in draws["state"].items()}
    state = {**draws, "bit_generator": _DRAWS, "state": inner, "buffer": np.array(draws["buffer"], np.uint64)}
    bits.state = state  # type: ignore[assignment]
    return np.random.Generator(bits)


def _read_only(array: Any) -> Any:
    """Return an array, which cannot be written to any more."""
    array.flags.writeable = False
    return array


def _table_as_bytes(jobs: pd.DataFrame) -> bytes:
    """Return a table as an Arrow stream, with the types that its columns have in pandas."""
    kinds = {str(name): "arrow" if isinstance(kind, pd.ArrowDtype) else str(kind) for name, kind in jobs.dtypes.items()}
    table = pa.Table.from_pandas(jobs, preserve_index=False).replace_schema_metadata({"kinds": json.dumps(kinds)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def _table_of_bytes(state: bytes) -> pd.DataFrame:
    """Return the table of such a stream."""
    table = pa.ipc.open_stream(state).read_all()
    kinds = json.loads(table.schema.metadata[b"kinds"])
    columns = {}
    for name, kind in kinds.items():
        column = table[name]
        is_arrow = kind == "arrow"
        columns[name] = pd.Series(pd.arrays.ArrowExtensionArray(column)) if is_arrow else _series(column, kind)
    return pd.DataFrame(columns)


def _series(column: Any, kind: str) -> Any:
    """Return a column in the type that it had."""
    if kind.startswith(("Int", "Float", "boolean")):  # by way of pandas' own missing values, so that no digit is lost
        kinds = {pa.int64(): pd.Int64Dtype(), pa.float64(): pd.Float64Dtype(), pa.bool_(): pd.BooleanDtype()}
        return column.to_pandas(types_mapper=kinds.get).astype(kind)
    return column.to_pandas().astype(kind)
