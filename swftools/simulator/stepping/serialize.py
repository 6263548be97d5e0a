# SPDX-License-Identifier: BSD-3-Clause
"""The state of a simulation as bytes: all that it takes to go on in another process, and nothing that is executed.

A word that says what it is, a hash, and what that is of: a head of JSON and arrays (``numpy.savez``), compressed.
A state that was changed on its way, or is of another version, is one error.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.errors import ParameterError, StateError
from swftools.header import HeaderEntry, SwfHeader
from swftools.output.package import swftools_package
from swftools.parameters import Parameters, is_whole
from swftools.parameters.choices import SEMANTICS
from swftools.parameters.run_option_table import RunOptions
from swftools.simulator.assumptions import Assumed, sentences_of
from swftools.simulator.dependent import none_wait
from swftools.simulator.engine.loop import EngineOptions
from swftools.simulator.engine.replay import Coming
from swftools.simulator.job_table import JobTable
from swftools.simulator.machine.state import CAPACITY, Machine
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.memory_room import NodeRoom
from swftools.simulator.memory_transfer import carry_nothing, restore_by
from swftools.simulator.nodes.placements import find_placement
from swftools.simulator.nodes.setup import kind_for
from swftools.simulator.policy_abi import POOL, Own
from swftools.simulator.policy_abi import pack as own_of
from swftools.simulator.predictors.kinds import Predictor
from swftools.simulator.predictors.registry import find_predictor, registered_predictor
from swftools.simulator.registry import POLICIES, Policy, find_policy
from swftools.simulator.run.compiled_calls import called_for, remembered_by
from swftools.simulator.run.driver import Driver
from swftools.simulator.run_options import check_options
from swftools.simulator.run_setup import not_told
from swftools.simulator.simulation import Simulation
from swftools.simulator.stepping.packed_arrays import (
    Arrays,
    arena_of,
    arrays_of,
    json_in,
    pack,
    state_in,
    table_as_bytes,
    table_of_bytes,
    unpack,
)
from swftools.simulator.stepping.policy_memory import carried_out
from swftools.simulator.stepping.saved_draws import draws_of, generator_of
from swftools.simulator.stepping.saved_names import names_in, names_of
from swftools.simulator.stepping.saved_nodes import HOLDERS, machine_of, node_arrays_of, on_nodes, told_in
from swftools.simulator.stepping.state_checks import (
    check_between,
    check_parts,
    check_same_shape,
    check_users,
    refuse,
)
from swftools.simulator.workload import Workload
from swftools.trace import Trace

VERSION = 2
"""Of the form: raised when older states cannot be gone on with any more, or have to be read otherwise."""

ALWAYS_COUNTED = 5
"""Counts of ``Assumed`` that every state has; of others only a state that has something to count."""


def state_of(simulation: Simulation, own: dict[str, Any], *, is_fork: bool = False) -> bytes:
    """Return all that a simulation knows, and what its owner knows beside that, in plain words and numbers.

    Raises
    ------
    StateError
        A predictor in Python goes with it, policy or predictor were never registered under a name, or what the policy
        remembers cannot be saved.
    """
    driver = simulation._driver
    if driver.asked:
        raise StateError("a simulation with a predictor in Python cannot be saved: the predictor may hold anything")
    if (carried := carried_out(simulation)).memory and simulation.nodes and not carried.carry:
        raise StateError(f"policy {carried.name!r} remembers nodes, which cannot be saved yet; go on from a copy()")
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
        "dependencies": workload.dependent.told,
        "assumed": [count for place, count in enumerate(workload.assumed) if count or place < ALWAYS_COUNTED],
        "excluded": [excluded["row"].tolist(), excluded["reason"].tolist()],
        "users": None if users is None else list(users.items()),
        "machine": machine_of(simulation),
        **names_of(trace),
        "draws": [draws_of(driver.observer.rng), draws_of(driver.decider.rng)],
    }
    parts = {
        "observer": (driver.observer.parameters, driver.observer.memory),
        "decider": (driver.decider.parameters, driver.decider.memory),
        "rows": () if rows is None else rows,
        "cut": () if simulation._is_cut is None else simulation._is_cut,
        "taken_out": simulation._taken_out,
    }
    arrays = dict(arrays_of(driver.seat.arena.state))
    arrays |= {f"{name}.{i}": each for name, part in parts.items() for i, each in enumerate(_leaves(part))}
    arrays |= dict(node_arrays_of(simulation))
    arrays["trace"] = np.frombuffer(table_as_bytes(jobs), np.uint8)
    arrays["head"] = np.frombuffer(json.dumps(head).encode(), np.uint8)
    return pack(arrays)


def simulation_of(
    state: bytes, policy: str | Policy | None = None, predictor: str | Predictor | None = None
) -> tuple[Simulation, dict[str, Any]]:
    """Return the simulation whose state it is, and what its owner knew.

    Whoever made the bytes is not trusted: nothing that they name is imported, and no number in them is used as a size
    or a place before it was looked at.

    Parameters
    ----------
    state : bytes
        What ``state_of`` returned.
    policy, predictor : optional
        The one that it was saved with, if it is not registered here.

    Raises
    ------
    StateError
        It is none, was changed on its way, or is of another version of the form or of the policy; or it names what is
        not registered.
    """
    arrays = unpack(state)
    try:
        head = json_in(arrays["head"])
        _check_version(head["version"])
        return _made(head, arrays, policy, predictor), _own_of(head)
    except StateError:
        raise
    except ParameterError as error:
        raise StateError(f"the state cannot be continued here: {error}") from error
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, MemoryError) as error:
        raise StateError(
            f"the state is damaged, or of another version of swftools ({type(error).__name__}: {error}): save it anew"
        ) from error


def _check_version(version: object) -> None:
    """Refuse a state of another form."""
    if version not in (1, VERSION):
        raise StateError(f"the state has the form of version {version!r:.20}, and this is {VERSION}: save it anew")


def _found(
    head: dict[str, Any], policy: str | Policy | None, predictor: str | Predictor | None
) -> tuple[Policy, Predictor]:
    """Return policy and predictor of a state: those that are given, else those that are registered."""
    text, version, _ = head["policy"]
    told, told_version = head["predictor"]
    if not isinstance(text, str) or not isinstance(told, str):
        raise StateError("the state names no policy or predictor")
    decides = POLICIES.registered(text) if policy is None else find_policy(policy)
    foretells = registered_predictor(told) if predictor is None else find_predictor(predictor)
    if not isinstance(foretells, Predictor) or foretells.learner is not None:
        raise StateError(f"predictor {told!r} is one in Python")
    for what, was, now in (
        ("{!r} as its policy", text.rpartition(":")[2], decides.name),
        ("{!r} as its predictor", told, foretells.to_text()),
        ("version {!r} of its policy", version, decides.version),
        ("version {!r} of its predictor", told_version, foretells.version),
    ):
        if was != now:
            raise StateError(f"it was saved with {what.format(was)}, and this is {now!r}: they decide otherwise")
    return decides, foretells


def _checked_options(head: dict[str, Any], policy: Policy, chosen: Parameters, predictor: Predictor) -> EngineOptions:
    """Return how the engine runs; refuse options that no simulation has, or that contradict that."""
    options = head["options"]
    if set(options) != {*RunOptions.names(), *chosen.to_mapping()}:
        raise StateError(f"the state has options {sorted(map(str, options))!r:.200}, not those of a simulation")
    check_options(**{name: options[name] for name in RunOptions.names()} | {"predictor": predictor})
    given = {**json.loads(json.dumps(chosen.to_mapping())), "predictor": predictor.to_text()}
    if any(options[name] != value for name, value in given.items()):
        raise StateError("the state has other parameters than its simulation")
    engine = EngineOptions(SEMANTICS[options["semantics"]], int(policy.rests), predictor.observes, 0)
    if head["engine"] != list(engine):
        raise StateError("the state has other options of the engine than its simulation")
    return engine


def _made(
    head: dict[str, Any],
    arrays: Arrays,
    policy_given: str | Policy | None,
    predictor_given: str | Predictor | None,
) -> Simulation:
    """Return the simulation of a state."""
    policy, predictor = _found(head, policy_given, predictor_given)
    chosen = policy.chosen(head["policy"][2])
    head["options"] = options = {**RunOptions.in_old_states(), **head["options"]}
    jobs = head["jobs"]
    engine = _checked_options(head, policy, chosen, predictor)
    if not is_whole(jobs, 0, 2**31 - 1):
        raise StateError(f"the state has {jobs!r:.20} jobs")
    state = state_in(arrays, head["version"])
    coming, machine, replay = state
    described = head.get("machine")  # which older states do not tell
    has_outages = described is not None and HOLDERS in described
    check_parts(*(coming, machine, replay, jobs, engine), on_nodes=described is not None, has_outages=has_outages)
    kind, nodes = POOL, None
    arena: Any = None
    if described is not None:
        kind = kind_for(policy, chosen, find_placement(options["placement"]), has_outages=has_outages)
        nodes, arena = on_nodes(state, arrays, jobs, described, options, chosen)
    carried = policy.made_for(chosen).on(kind) if nodes else policy
    owns = _owns(head, arrays, (predictor, carried), chosen, arena.state.machine if arena else machine)
    check_users(coming, owns[0].memory, jobs)
    table = _table_of(head, arrays)
    rows, cut, taken_out = _columns_of_jobs(head, arrays, coming, jobs, len(table))
    known = np.zeros(len(coming.row), np.bool_) if cut is None else cut
    made = object.__new__(Simulation)
    driver = Driver(
        policy=policy,
        predictor=predictor,
        called=called_for(policy, chosen, predictor, compiled=True, kind=kind),
        options=engine,
        arena=arena or arena_of(state),
        observer=owns[0],
        decider=owns[1],
        asked=None,
        remembers=remembered_by(policy, chosen),
        number_of=made._numbers(),
    )
    driver.jobs = jobs
    assumed = Assumed(*head["assumed"])
    if not all(is_whole(each, 0) for each in assumed):
        raise StateError("the state assumes what cannot be counted")
    dependent = none_wait(head.get("dependencies", []))
    if not all(isinstance(each, str) for each in dependent.told):
        raise StateError("the state says of dependencies what is no text")
    sentences_of(assumed, {}, options)  # which says what is assumed in words that there must be
    made.__dict__.update(
        policy=policy,
        options={name: value for name, value in options.items() if name not in not_told(nodes)},
        nodes=nodes,
        _table=table,
        _own_rows=rows,
        _workload=Workload(
            *(coming, known, _excluded_of(head, len(table)), machine.restart, assumed, dependent),
            told=told_in(described),
        ),
        _is_cut=cut,
        _users=_users_of(head),
        _taken_out=taken_out,
        _chosen=chosen,
        _driver=driver,
    )
    return made


def _owns(
    head: dict[str, Any],
    arrays: Arrays,
    both: tuple[Predictor, Policy],
    chosen: Parameters,
    machine: Machine,
) -> list[Own]:
    """Return what predictor and policy have of their own: parameters, memory and draws."""
    predictor, policy = both
    room, processors = len(machine.run), int(machine.counts[CAPACITY])
    asked: Any = machine
    on = NodeRoom(len(asked.nodes.free), len(asked.nodes.held)) if hasattr(machine, "nodes") else None
    memories = predictor.empty_memory(room, processors), policy.empty_memory(room, processors, chosen, on)
    values = predictor.given.values(), chosen.values()
    owns = []
    for name, memory, given, draws in zip(("observer", "decider"), memories, values, head["draws"], strict=True):
        fresh = own_of(given, memory, generator_of(draws))
        parameters, filled = _filled((np.zeros(0), memory), arrays, name)
        if not np.array_equal(parameters, fresh.parameters, equal_nan=True):
            refuse(name, "other parameters than those that the state names")
        if name == "observer" or policy.restore or policy.carry is not carry_nothing:
            check_same_shape(name, filled, memory)  # a fork has the room of its origin for what lasts one decision
        owns.append(fresh._replace(memory=filled))
    for part in _leaves(owns[0].memory):
        if part.dtype.kind in "iu":
            check_between("observer", "what a predictor remembers", part, NOBODY, max(room, 127))
    if policy.restore or policy.carry:
        empty = own_of((), memories[1], owns[1].rng).memory
        restore = policy.restore or restore_by(policy.carry)  # type: ignore[arg-type]
        restore(owns[1].memory, empty, machine)
        owns[1] = owns[1]._replace(memory=empty)
    return owns


def _table_of(head: dict[str, Any], arrays: Arrays) -> JobTable:
    """Return the jobs of a state."""
    jobs = table_of_bytes(arrays["trace"].tobytes())
    if "job_number" not in jobs or not pd.api.types.is_integer_dtype(jobs["job_number"]) or jobs["job_number"].hasnans:
        refuse("jobs", "they have no numbers")
    entries = [HeaderEntry(label, words) for label, words in head["header"]]
    if not all(isinstance(each.text, str) and isinstance(each.label, str | None) for each in entries):
        refuse("header", "it is not of words")
    processors = head["machine_processors"]
    if processors is not None and not is_whole(processors, 1, 2**31 - 1):
        refuse("header", "the machine has no such size")
    made = Trace(SwfHeader(tuple(entries)), jobs, machine_processors=processors)
    return JobTable(replace(made, names=names_in(head["names"])) if "names" in head else made)


def _columns_of_jobs(
    head: dict[str, Any], arrays: Arrays, coming: Coming, jobs: int, in_trace: int
) -> tuple[Any, Any, Any]:
    """Return the rows of jobs in the trace, who is stopped at the limit, and who was taken out when."""
    rows = arrays["rows.0"] if head["has_rows"] else None
    cut, taken_out = arrays.get("cut.0"), arrays["taken_out.0"]
    for name, column, kind in (("rows", rows, np.int32), ("cut", cut, np.bool_), ("taken_out", taken_out, np.float64)):
        if column is not None and (column.dtype != kind or column.ndim != 1):
            refuse(name, f"an array of {column.dtype}")
    if rows is None and jobs != len(coming.row):
        refuse("rows", "room for jobs of which it tells no rows")
    shown = coming.row if rows is None else rows
    if len(shown) < jobs or (cut is not None and len(cut) < jobs) or 0 < len(taken_out) < jobs:
        refuse("rows", "fewer than there are jobs")
    check_between("rows", "a row of the jobs", shown[:jobs], 0, in_trace - 1)
    return rows, cut, taken_out


def _excluded_of(head: dict[str, Any], in_trace: int) -> pd.DataFrame:
    """Return which jobs are excluded, and why."""
    row, reason = np.array(head["excluded"][0], np.int64), head["excluded"][1]
    check_between("excluded", "a row of the jobs", row, 0, in_trace - 1)
    if row.ndim != 1 or len(reason) != len(row) or not all(isinstance(each, str) for each in reason):
        refuse("excluded", "no reason for each")
    return pd.DataFrame({"row": row, "reason": np.array(reason, dtype=object)})


def _users_of(head: dict[str, Any]) -> dict[int, int] | None:
    """Return the number of each user; None if nobody asked for it."""
    if head["users"] is None:
        return None
    users = {int(user): int(number) for user, number in head["users"]}
    check_between("users", "a number", list(users.values()), 0, len(users) - 1)
    return users


def _own_of(head: dict[str, Any]) -> dict[str, Any]:
    """Return what the owner of the simulation knew."""
    own, jobs = head["own"], head["jobs"]
    away = {int(job): float(back) for job, back in own["away"]}
    check_between("away", "a job", list(away), 0, jobs - 1)
    check_between("away", "a time (s)", list(away.values()), 0, np.inf)
    present, for_good = float(own["present"]), float(own["for_good"])
    origin = None if own["origin"] is None else np.array(own["origin"], np.int64)
    if np.isnan(present) or np.isnan(for_good) or not is_whole(own["acts"], 0):
        refuse("present", "it is no time")
    if origin is not None and (origin.ndim != 1 or len(origin) > jobs or (origin < NOBODY).any()):
        refuse("origin", "not a number for each job")
    return {"acts": own["acts"], "present": present, "for_good": for_good, "away": away, "origin": origin}


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
        if array.dtype != part.dtype or array.ndim != part.ndim:  # their lengths are looked at where it is known whose
            raise StateError(f"{name} has an array of {array.dtype} where one of {part.dtype} is here")
        return array

    return fill(like)


def _name_of(what: Any, function: Any) -> str:
    """Return by what name a policy is found, in a process that has not imported its module."""
    module = str(function.__module__)
    return str(what.name) if module.startswith("swftools.") else f"{module}:{what.name}"


def _given(simulation: Simulation) -> dict[str, Any]:
    """Return the parameters of the policy, but for those that its name says."""
    fixed = simulation._driver.policy.fixed
    return {name: value for name, value in simulation._chosen.to_mapping().items() if name not in fixed}
