# SPDX-License-Identifier: BSD-3-Clause
"""A machine as its description says it: kinds of nodes, partitions, outages; read from files, changed, written as YAML.

pydantic is imported here: what must start at once imports this where it needs it, and hands ``NodeTable`` on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from swftools.errors import ParameterError
from swftools.machines.as_yaml import mapping_of, yaml_of
from swftools.machines.change import change_mapping
from swftools.machines.formats import read_machine_file
from swftools.machines.left_out import not_simulated
from swftools.machines.node_table import NodeTable
from swftools.machines.numbering import Numbered, named_numbers, node_table, number_nodes
from swftools.machines.outage_dates import from_now_on, in_log_time, stretched
from swftools.machines.outages import node_outages
from swftools.machines.parts import NodeKind, Number, Outage, Partition, Text, Texts
from swftools.machines.slurm_of_parts import not_simulated_of, slurm_problems, slurm_site
from swftools.machines.slurm_parts import Slurm
from swftools.machines.slurm_switches import with_leaves
from swftools.output.shown_html import ROWS, ShowsItself
from swftools.parameters.problems import report, report_placed, validated

if TYPE_CHECKING:
    from typing import Self

    import pandas as pd

    from swftools.header import SwfHeader
    from swftools.trace import Trace

_READ_AT = "_read_at"
"""What keeps where parts of a file were read, for messages about what other files say besides; no field."""


@dataclass(frozen=True, kw_only=True, repr=False, config=ConfigDict(extra="forbid"))
class MachineDescription(ShowsItself):
    """A machine of nodes.

    Parameters
    ----------
    nodes : tuple of NodeKind
        Kinds of nodes: names or how many, cores, memory, GPUs and more.
    partitions : tuple of Partition
        Parts of the nodes, with limits of jobs; none: one partition of all nodes.
    outages : tuple of Outage
        Which nodes are away, or kept for somebody, and when.
    name : str
        Of the machine.
    order : str
        How nodes are numbered from 0. ``kinds``: kind after kind as they stand in ``nodes``, and within a kind in the
        order of its names. ``names``: all by their names, n2 before n10.
    licences : mapping of str to int
        How many there are of each: told, and not simulated.
    burst_buffers : tuple of str
        In words: told, and not simulated.
    notes : tuple of str
        What whoever read it had to leave out or to assume.
    slurm : Slurm, optional
        How Slurm is configured there, for policy ``slurm``: priorities, scheduler, QOS, accounts, switches.

    Examples
    --------
    >>> machine = MachineDescription.from_mapping(
    ...     {"nodes": [{"kind": "cpu", "count": 4, "cores": 16, "memory": "64G"},
    ...                {"names": "g[1-2]", "cores": 32, "memory": "256G", "gpus": {"a100": 4}}],
    ...      "partitions": [{"name": "batch", "default": True}, {"name": "gpu", "nodes": "g[1-2]", "max_time": "1d"}]})
    >>> machine
    MachineDescription: 6 nodes of 2 kinds, 128 cores, 8 GPUs
    nodes: cpu 4, g[1-2] 2
    partitions: batch 6 (default), gpu 2
    >>> machine.table().names
    ('cpu1', 'cpu2', 'cpu3', 'cpu4', 'g1', 'g2')
    >>> len(machine.changed(["nodes.cpu.count+=2"]).table())
    8
    """

    nodes: tuple[NodeKind, ...]
    partitions: tuple[Partition, ...] = ()
    outages: tuple[Outage, ...] = ()
    name: Text | None = None
    order: Literal["kinds", "names"] = "kinds"
    licences: dict[Text, Number] = field(default_factory=dict)
    burst_buffers: Texts = ()
    notes: Texts = ()
    slurm: Slurm | None = None

    @classmethod
    def from_mapping(
        cls,
        content: Mapping[str, Any],
        source: str = "machine",
        text: bytes = b"",
        places: Mapping[tuple[Any, ...], str] | None = None,
    ) -> Self:
        """Return the machine that a mapping describes, as a YAML file would.

        Parameters
        ----------
        content : mapping
            The keys of a description.
        source : str
            What messages call it.
        text : bytes
            The YAML that it was read from, for the numbers of lines.
        places : mapping of tuple to str, optional
            Where keys were read in files that are no YAML, as in ``slurm.conf, line 3``: messages say it.

        Raises
        ------
        ParameterError
            It is not valid; the message lists every problem.
        """
        try:
            found = validated(cls, source, text, dict(content), places)
        except ParameterError as error:
            raise error if text or places else ParameterError(f"{source}: {error}") from None
        problems = found._problems(found.numbered())
        if problems and text:
            raise ParameterError(report(source, text, problems))
        if problems and places:
            raise ParameterError(report_placed(source, places, problems))
        if problems:
            told = "; ".join(f"{'.'.join(map(str, where))}: {what}" for where, what in problems)
            raise ParameterError(f"{source}: {told}")
        return found

    @classmethod
    def guessed(
        cls,
        trace: Trace,
        *,
        name: str | None = None,
        least_absence: float | None = 86400.0,
        progress: Callable[[int, int, str], None] | None = None,
    ) -> Self:
        """Return a guess of the machine of a log, from the nodes that it names.

        Nodes have the most cores, memory and GPUs that were in use at once; partitions have the nodes on which their
        jobs ran; nodes that nobody names for long while the others of their kind are busy were away. Its first note
        says that it is a guess.

        Parameters
        ----------
        trace : Trace
            A log with a column ``host_list`` (sacct's NodeList; PBS's hosts, read with ``hosts="yes"``) or
            ``node_list``, or with requests such as ``frontier:excl:2500x112``.
        name : str, optional
            Of the machine.
        least_absence : float, optional
            Seconds for which a node is not named until it may be away; None: no outages are looked for.
        progress : callable, optional
            Is told how many steps of how many are done, and what is found next; as of ``swftools.progress_bar``.

        Raises
        ------
        ParameterError
            The log names no nodes.
        """
        from swftools.machines.guess import guess_mapping  # noqa: PLC0415 (who reads files does without)

        return cls.from_mapping({"name": name, **guess_mapping(trace, least_absence, progress)}, "the guess")

    def numbered(self) -> Numbered:
        """Return the numbers of nodes, and what is wrong between the parts of the description."""
        return number_nodes(self.nodes, self.partitions, self.outages, by_name=self.order == "names")

    def _problems(self, numbered: Numbered) -> list[tuple[tuple[Any, ...], str]]:
        """Return what is wrong between the parts of the description, with what is wrong in its nodes."""
        found = [*numbered.problems]
        if self.slurm is not None and not found:
            found += slurm_problems(self.slurm, self.partitions, named_numbers(self.nodes, numbered))
        return found

    def table(self) -> NodeTable:
        """Return the nodes as arrays, for the simulator.

        Raises
        ------
        ParameterError
            Parts of the description do not fit to each other.
        """
        numbered = self.numbered()
        if problems := self._problems(numbered):
            where, what = problems[0]
            raise ParameterError(f"machine: {'.'.join(map(str, where))}: {what}")
        site = None
        if self.slurm is not None:
            site = slurm_site(self.slurm, self.partitions, named_numbers(self.nodes, numbered))
        table = node_table(self.nodes, self.partitions, numbered)
        if site is not None and not table.switches:
            table = with_leaves(table, site.switches)
        return replace(
            table,
            outages=node_outages(self.outages, numbered.outages),
            slurm=site,
            told=(*self.not_simulated(), *self.notes),
        )

    def simulated(self, header: SwfHeader | None = None) -> NodeTable:
        """Return the nodes for a simulation: ``table``, with outages at dates as seconds of a log.

        Parameters
        ----------
        header : SwfHeader, optional
            Of the log. Without it, or if it does not say when the log began, outages at dates are not simulated, which
            is told.
        """
        return self.in_log_time(header).table()

    def in_log_time(
        self, header: SwfHeader | None = None, stretch: tuple[float, float] | None = None
    ) -> MachineDescription:
        """Return the machine with outages in seconds of a log; this one stays as it is.

        Parameters
        ----------
        header : SwfHeader, optional
            Of the log, as ``simulated`` takes it.
        stretch : (float, float), optional
            Where the submissions of the log were moved, as ``stretch_of`` returns it: outages begin and end, and become
            known, where they did among the submissions.
        """
        if not self.outages:
            return self
        outages = self.outages if header is None else in_log_time(self.outages, header)
        return replace(self, outages=outages if stretch is None else stretched(outages, *stretch))

    def simulated_from_now_on(self, present: float, now: float | None = None) -> NodeTable:
        """Return the nodes for a simulation of a queue at a moment: outages of the moment count, and last.

        Seconds of outages are from the moment on. Dates count where ``now`` says what time it is.

        Parameters
        ----------
        present : float
            What time it is in the simulation, s.
        now : float, optional
            The same in seconds since 1970.
        """
        return replace(self, outages=from_now_on(self.outages, present, now)).table()

    def changed(self, changes: Sequence[str]) -> MachineDescription:
        """Return the machine with changes, each a text such as ``nodes.gpu.count+=8``; this one stays as it is.

        Parameters
        ----------
        changes : sequence of str
            As ``swftools.machines.change`` has them, made one after another.

        Raises
        ------
        ParameterError
            A change is not readable, names what is not there, or leaves a machine that is not valid.
        """
        if isinstance(changes, str):
            raise ParameterError(f"changes are a list of texts: [{changes!r}]")
        found = self
        for text in changes:
            found = MachineDescription.from_mapping(change_mapping(found.to_mapping(), text), f"change {text!r}")
        return found

    def with_outages(
        self,
        path: str | os.PathLike[str],
        format: str | None = None,  # noqa: A002 (what a user would call it)
        **options: Any,
    ) -> MachineDescription:
        """Return the machine with the outages that a file tells beside those that it has; this one stays as it is.

        Parameters
        ----------
        path : path
            What ``sacctmgr -P show event`` prints; samples of ``sinfo`` or ``pbsnodes``, a time before each; or CSV
            with the columns nodes, begin, end, kind, reason, users. It may be compressed.
        format : str, optional
            Name of a format, with options if need be, as in ``sacctmgr:time_zone=Europe/Berlin``; by default it is
            recognised from the text.
        **options
            Options of the format: ``time_zone``, of times that are written without one; ``unknown="skip"`` leaves out
            outages of nodes that the machine does not have; ``cluster``, of sacctmgr.

        Returns
        -------
        MachineDescription
            Dates are in UTC. Its notes say what was left out or merged.

        Raises
        ------
        ParameterError
            The file cannot be read, a line is not as its format has it, or a node is unknown.
        """
        from swftools.machines.events import read_outages  # noqa: PLC0415 (reads dates by compiled kernels)

        found = read_outages(path, self.numbered().names, format, **options)
        outages = tuple(Outage(**each) for each in found.outages)
        return replace(self, outages=(*self.outages, *outages), notes=(*self.notes, *found.notes))

    def with_slurm(
        self,
        *,
        topology: str | os.PathLike[str] | None = None,
        accounts: str | os.PathLike[str] | None = None,
        qos: str | os.PathLike[str] | None = None,
        usage: str | os.PathLike[str] | None = None,
        version: str | None = None,
    ) -> MachineDescription:
        """Return the machine with what files of Slurm say besides; this one stays as it is.

        Parameters
        ----------
        topology : path, optional
            ``topology.conf``, or what ``scontrol show topology`` prints.
        accounts : path, optional
            What ``sacctmgr dump`` writes, or ``sacctmgr -P list assoc tree`` prints.
        qos, usage : path, optional
            What ``sacctmgr -P list qos`` and ``sshare -a -l -P`` print.
        version : str, optional
            Of Slurm, such as 22.05.

        Returns
        -------
        MachineDescription
            Its notes say what was left out.

        Raises
        ------
        ParameterError
            A file cannot be read, is none of these, or does not fit to the machine; the message names file and line.
        """
        from swftools.machines.slurm_files import add_slurm_files  # noqa: PLC0415 (few need it)

        content = self.to_mapping()
        files = {"topology": topology, "accounts": accounts, "qos": qos, "usage": usage}
        places = add_slurm_files(content, files, min(kind.threads_per_core for kind in self.nodes))
        if version is not None:
            content["slurm"]["version"] = version
        read_at = self.__dict__.get(_READ_AT, {})
        return MachineDescription.from_mapping(content, self.name or "machine", places={**read_at, **places})

    def to_mapping(self) -> dict[str, Any]:
        """Return the description as plain values; what is as by default is left out."""
        return mapping_of(self)

    def to_yaml(self) -> str:
        """Return the description as a YAML file has it; ``read_machine`` reads the same from it."""
        return yaml_of(self)

    def not_simulated(self) -> tuple[str, ...]:
        """Return what the description has that simulations do not look at, a sentence each."""
        return (
            *not_simulated(
                self.nodes,
                self.partitions,
                self.outages,
                self.licences,
                self.burst_buffers,
                is_slurm=self.slurm is not None,
                has_qos=self.slurm is None or bool(self.slurm.qos),
            ),
            *(not_simulated_of(self.slurm) if self.slurm is not None else ()),
        )

    def kinds(self) -> pd.DataFrame:
        """Return a row for each kind of nodes, in their order.

        Its columns are ``kind``, ``nodes``, and of each node ``cores``, ``memory`` (MB; missing where it is not told),
        ``gpus``, ``gpu_types`` and ``features`` (words, separated by commas), ``weight``.
        """
        from swftools.machines.kinds_frame import kinds_frame  # noqa: PLC0415 (who only needs arrays does without)

        return kinds_frame(self.nodes, self.numbered().kind)

    def by_partition(self) -> pd.DataFrame:
        """Return a row for each kind of nodes of each partition: what pictures of machines are drawn from.

        Its columns are ``partition`` and ``kind`` (their names), and what both have together: ``nodes``, ``cores``,
        ``memory`` (MB; missing where it is not known) and ``gpus``. A node of several partitions counts in each.
        """
        from swftools.machines.kinds_frame import partitions_frame  # noqa: PLC0415

        return partitions_frame(self.nodes, self.table())

    def _lines(self) -> list[str]:
        from swftools.machines.in_brief import in_brief  # noqa: PLC0415 (needs pandas)

        return in_brief(self.name, self.kinds(), self.table())

    def _rows(self) -> tuple[pd.DataFrame, int]:
        return self.kinds().iloc[:ROWS], len(self.nodes)


def read_machine(path: str | os.PathLike[str]) -> MachineDescription:
    """Read the description of a machine from a file, whose format is recognised from its text.

    Parameters
    ----------
    path : path
        Our YAML; what ``scontrol show node``, ``partition``, ``reservation`` and ``config`` print, as text or JSON, one
        after another in one file; ``slurm.conf``; what ``pbsnodes`` (PBS, Torque) or ``llstatus -l`` print; a platform
        of SimGrid or Batsim; a system of RAPS; a topology of OpenDC; the list of nodes of Alibaba's openb; or a file
        ``.machines`` as logs of JSSPP have it beside them. It may be compressed.

    Raises
    ------
    ParameterError
        It cannot be read, is in no known format, or the machine is not valid; the message names file and line.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".yaml") as file:
    ...     _ = file.write(b"nodes: [{names: 'n[1-4]', cores: 8}]")
    ...     file.flush()
    ...     read_machine(file.name)
    MachineDescription: 4 nodes of 1 kind, 32 cores
    nodes: n[1-4] 4
    partitions: all 4
    """
    found = read_machine_file(path)
    machine = MachineDescription.from_mapping(found.content, os.fsdecode(path), found.yaml, found.places)
    machine.__dict__[_READ_AT] = found.places
    return machine
