# SPDX-License-Identifier: BSD-3-Clause
"""The machine of nodes that a command or a task names: a file, or that of the log's card; with what is changed.

A task holds the machine itself, as canonical JSON, and not its path: so a file that is edited later changes no run, and
equal machines make equal keys, wherever their files are and however they are written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelines.keys import canonical_json
from pipelines.logs.find import Log
from swftools.errors import ParameterError

if TYPE_CHECKING:
    from swftools.formats.privacy import Privacy
    from swftools.machines.description import MachineDescription
    from swftools.machines.people import People
    from swftools.simulator.schedule import Schedule

CARD, POOL = "card", "pool"
"""The words for the machine that the log's card describes, and for a pool of processors; a file of that name is ./card.
"""

STRETCHED = "outages are stretched as the times between submissions are"
"""What is told where a load is asked for."""

CHANGED = "the machine is changed: "
"""How the sentence begins that tells a change."""


@dataclass(frozen=True)
class ChosenMachine:
    """A machine of nodes, or none; and what is changed.

    Parameters
    ----------
    description : MachineDescription, optional
        The machine with its changes; None of a pool.
    of_policy : dict
        Parameters that changes give to the policy.
    changes : tuple of str
        All changes, as they were written.
    is_stretched : bool
        Whether its outages are stretched as the submissions of the log are.
    """

    description: MachineDescription | None = None
    of_policy: dict[str, Any] = field(default_factory=dict)
    changes: tuple[str, ...] = ()
    is_stretched: bool = False

    @property
    def has_outages(self) -> bool:
        """Whether nodes are away at times."""
        return self.description is not None and bool(self.description.outages)

    @property
    def simulated(self) -> MachineDescription | None:
        """The machine without its name and the notes of whoever read it, which change no run; None of a pool."""
        return None if self.description is None else replace(self.description, name=None, notes=())

    @property
    def told(self) -> dict[str, Any]:
        """What keys, and ``told_as`` published facts, have of it: the machine as it is simulated; nothing of a pool."""
        machine = {} if self.simulated is None else {"machine": self.simulated.to_mapping()}
        return {**machine, **({"policy_changes": self.of_policy} if self.of_policy else {})}

    @property
    def in_key(self) -> dict[str, Any]:
        """What keys have of it beside that: whether users and accounts are told as the log calls them."""
        if self.description is None:
            return {}
        from swftools.machines.people import names_people  # noqa: PLC0415 (imports pydantic)

        return {"people": 1} if names_people(self.description) else {}

    def people(self, privacy: Privacy, known: Iterable[str]) -> People | None:
        """Return what its users and accounts are called where they are told; None if it names nobody.

        Parameters
        ----------
        privacy : Privacy
            What may be told of the log's names.
        known : iterable of str
            The names of users that the log tells.
        """
        if self.description is None or not self.in_key:
            return None
        from swftools.machines.people import People  # noqa: PLC0415 (imports pydantic)

        return People(self.description, privacy, known)

    def told_as(self, people: People | None) -> ChosenMachine:
        """Return it with these names of users and accounts."""
        if people is None:
            return self
        return replace(self, description=people.machine(), changes=tuple(map(people.text, self.changes)))

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is changed of the machine, a sentence each; what is not simulated of it every simulation says."""
        if self.description is None:
            return ()
        told = tuple(CHANGED + text for text in self.changes if not text.startswith("priority."))
        return (*told, STRETCHED) if self.is_stretched and self.has_outages else told

    def says(self, schedule: Schedule) -> Schedule:
        """Return a schedule that tells what is changed of the machine too."""
        return replace(schedule, assumptions=(*schedule.assumptions, *self.assumptions))


def machine_text(value: Any) -> str:
    """Return a machine in its one form: empty for a pool, ``card``, or the description as canonical JSON.

    Parameters
    ----------
    value : str, path, mapping or MachineDescription
        Path of a file, one of the words above, or a description, also as JSON. A description without a name is called
        as its file.

    Raises
    ------
    ParameterError
        The file cannot be read, or the machine is not valid.
    """
    if not value or value == POOL:
        return ""
    if value == CARD:
        return CARD
    from swftools.machines.description import MachineDescription, read_machine  # noqa: PLC0415 (imports pydantic)

    if isinstance(value, MachineDescription):
        return canonical_json(value.to_mapping())
    if isinstance(value, str) and value.lstrip().startswith("{"):
        return _from_json(value)
    if not isinstance(value, str | Path):
        return canonical_json(MachineDescription.from_mapping(value).to_mapping())
    found = read_machine(Path(value).expanduser())
    name = found.name or Path(value).name.partition(".")[0]
    return canonical_json(replace(found, name=name or None).to_mapping())


def machine_with_outages(path: str, outages: str, form: str | None) -> str:
    """Return a machine as ``machine_text`` does, with the outages of another file.

    Parameters
    ----------
    path : str
        Of the file with the machine.
    outages : str
        Path of the file with the outages.
    form : str, optional
        Its format, with options; by default it is recognised.

    Raises
    ------
    ParameterError
        One of the files cannot be read, or is not valid.
    """
    from swftools.machines.description import MachineDescription  # noqa: PLC0415 (imports pydantic)

    machine = MachineDescription.from_mapping(json.loads(machine_text(path)))
    return canonical_json(machine.with_outages(Path(outages).expanduser(), form).to_mapping())


def changes_text(value: Any) -> str:
    """Return changes as canonical JSON, given as one text, a list of them, or as JSON.

    Raises
    ------
    ParameterError
        They are something else, or not readable.
    """
    found = value
    if isinstance(value, str):
        found = [value] if value.strip() else []
        if value.lstrip().startswith("["):
            try:
                found = json.loads(value)
            except ValueError as error:
                raise ParameterError(f"changes={value[:200]!r} is not JSON: {error}") from error
    if not isinstance(found, list | tuple) or not all(isinstance(text, str) and text.strip() for text in found):
        raise ParameterError(f"changes={value!r}: give a text such as 'nodes.gpu.count+=8', or a list of such texts")
    return canonical_json([text.strip() for text in found])


def chosen_machine(log: Log, machine: str, changes: str, processors: int | None = None) -> ChosenMachine:
    """Return the machine that is asked for, with what is changed.

    Parameters
    ----------
    log : Log
        Whose card may describe its machine.
    machine : str
        As ``machine_text`` returns it.
    changes : str
        As ``changes_text`` returns them.
    processors : int, optional
        The pool that is given, beside which no machine may be.

    Raises
    ------
    ParameterError
        Both are given, the card describes no nodes, the log is read with the file of another machine, or a change
        cannot be made or simulated.
    """
    if not machine and changes in ("", "[]"):
        return ChosenMachine()
    if machine and processors:
        raise ParameterError("--processors and --machine are both given: they are two machines; give one")
    text = _of_card(log) if machine == CARD else machine
    if text:
        _check_beside(log, text)
    return _chosen(text, tuple(json.loads(changes or "[]")))


def changed_machine(machine: str, changes: str) -> MachineDescription:
    """Return the machine of a file with changes, which are as ``changes_text`` takes them; of no log.

    Raises
    ------
    ParameterError
        A change is of a policy, or cannot be made.
    """
    if not (text := machine_text(machine)) or text == CARD:
        raise ParameterError(f"--machine {machine}: give the path of a file that describes nodes")
    chosen = _chosen(text, tuple(json.loads(changes_text(changes))))
    if chosen.of_policy or chosen.description is None:
        raise ParameterError(f"change {chosen.changes[0]!r} is of the policy; give it with the policy, as easy:...")
    return chosen.description


def _of_card(log: Log) -> str:
    """Return the machine of a log's card."""
    described = log.card.machine.described() if log.card else None
    if described is None:
        lacks = "its card describes no nodes" if log.card else "it has no card"
        raise ParameterError(f"--machine card: log {log.name}: {lacks}; give the path of a file that does")
    return machine_text(described)


@lru_cache(maxsize=64)
def _chosen(text: str, changes: Sequence[str]) -> ChosenMachine:
    """Return a machine, as canonical JSON, with changes: asked for each of many cells."""
    from swftools.machines.change import split_changes  # noqa: PLC0415 (imports pydantic)
    from swftools.machines.description import MachineDescription  # noqa: PLC0415

    of_machine, of_policy = split_changes(changes)
    for change in of_machine:
        if not text:
            raise ParameterError(
                f"change {change!r}: a pool of processors has no nodes or partitions; give --machine too, or another "
                "number by --processors"
            )
    if not text:
        return ChosenMachine(None, of_policy, tuple(changes))
    found = MachineDescription.from_mapping(json.loads(text)).changed(of_machine)
    found.simulated()  # so that what does not fit together is told before any run begins
    return ChosenMachine(found, of_policy, tuple(changes))


@lru_cache(maxsize=64)
def _from_json(text: str) -> str:
    """Return a description that is given as JSON, in its one form."""
    from swftools.machines.description import MachineDescription  # noqa: PLC0415

    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ParameterError(f"machine={text[:200]!r} is not JSON: {error}") from error
    return canonical_json(MachineDescription.from_mapping(content).to_mapping())


def _check_beside(log: Log, text: str) -> None:
    """Raise ParameterError if a log is read with a file of machines that is not this one."""
    for path in log.how.files_of_machines:
        beside = json.loads(machine_text(path))
        if {**beside, "name": None} != {**json.loads(text), "name": None}:
            raise ParameterError(
                f"--format names {path}, and --machine another machine; give both the same file, or leave machines= out"
            )
