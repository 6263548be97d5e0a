# SPDX-License-Identifier: BSD-3-Clause
"""Policies by name: the decorator that registers one with all its facts, and how a name or ``module:name`` is found."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from swftools.errors import ParameterError
from swftools.kernel import Kernel
from swftools.kernel.pointers import Lent
from swftools.parameters import Parameters, refuse_unknown
from swftools.parameters.registry import Registry
from swftools.parameters.run_option_table import RunOptions
from swftools.simulator.memory_room import NodeRoom
from swftools.simulator.memory_transfer import carry_nothing
from swftools.simulator.policy_abi import (
    POOL,
    MachineKind,
    Memory,
    check_arguments,
    compiled_entry,
    interpreted_entry,
    pack,
    place_or_none,
)

if TYPE_CHECKING:
    import pandas as pd

OPTIONS = frozenset({"trace", "policy", "processors", *RunOptions.names(), "compiled", "machine", "progress"})
"""What ``simulate`` is told beside the policy's parameters, none of which can have such a name."""

NeedsWhere = Mapping[tuple[str, Any], tuple[str, ...]] | Callable[[Mapping[str, Any]], tuple[str, ...]]


Variants = Callable[[Any], Callable[..., None]]


@dataclass(frozen=True)
class Policy:
    """A scheduling policy: its name, its function, and what its decorator declares.

    Parameters
    ----------
    name : str
        Its name, by which it is asked for.
    decide : callable
        Takes ``machine``, and any of ``parameters``, ``memory`` and ``rng`` that it names; see
        ``docs/add_a_policy.md``.
    parameters : type of Parameters
        The class of its parameters, each a number, a choice or a truth value with a default, or encoded by the class.
    memory : callable, optional
        Takes the number of jobs, the number of processors, and the parameters if it has an argument ``parameters``.
        Returns the policy's memory at the beginning: a (named) tuple of one-dimensional arrays of numbers, or of such
        tuples.
    variants : callable, optional
        Takes the parameters, as the policy sees them; returns one of a few functions, which decides the same with these
        as ``decide``, and compiles faster because it has less code.
    of_memory : callable, optional
        Takes its memory at the beginning of a run; returns a function that decides the same in this run, and compiles
        faster because it has less code. It is used where the policy is compiled.
    rests : bool
        The policy does nothing and remembers nothing while no waiting job fits into the free processors. So it is not
        called then, which saves time.
    needs : tuple of str
        Columns of the trace's jobs without which the policy makes no sense, such as ``("priority_rank",)``.
    needs_where : mapping of (str, value) to tuple of str, or callable
        The same for a value of a parameter; or a function of all parameters, by name, that returns columns.
    promises : tuple of str
        Promises that ``validate`` checks; see ``swftools.simulator.validation``.
    promises_where : mapping of str to mapping
        More promises, which it keeps if its parameters have these values.
    restates : tuple of str
        Other simulators whose schedules it makes under ``semantics`` of their names.
    restated_by : mapping of str to (str, mapping)
        For some of these semantics: the policy, with its parameters, that runs in its place.
    notes : callable, optional
        Takes the policy's memory and parameters; returns tables of what it recorded there, which become
        ``Schedule.notes``. A column ``job`` is replaced by the keys of the jobs.
    carry : callable, optional
        Takes its memory, an empty memory, and jobs; writes into the empty one what it knows of these jobs, which have
        new numbers there (``swftools.simulator.memory_transfer``). Without it, a policy with a memory, or one that
        draws, cannot be forked.
    restore : callable, optional
        For the memory that a saved state holds, of which nothing but the lengths of its arrays was looked at: takes it,
        an empty memory, and the machine; writes into the empty one what is sound, and raises ValueError about the rest.
        Without it ``carry`` does it, of all jobs; without either the memory is taken as it is.
    shown : callable, optional
        Of a policy that keeps the nodes itself: takes its memory, the job of each run and the nodes; returns what runs
        had, as columns of segments.
    gone : callable, optional
        Of a policy that takes jobs out: takes its memory; returns when it did, s, of each job, inf where it waited for
        one that was, NaN of others; and why, in words.
    allocates : bool
        False: it makes no array, and calls no kernel that returns a new one. It then runs faster; see
        ``swftools.kernel.kernel``.
    takes_long : str
        Why a decision takes long if thousands of jobs wait, and what to use instead; logged during such a run.
    version : int
        Version of its schedules: raised when they change, so that old schedules are not taken for new ones.
    fixed : mapping
        Parameters that are already given, for a policy that is another one under a second name.
    in_python : callable, optional
        Takes the simulation before each decision, and decides in Python; ``decide`` then does nothing.
        ``python_policy`` makes it.
    made_in : str
        The module whose source counts as the policy's; by default that of ``decide``.
    stamp : str
        Stands for what it uses besides its code, such as trained weights: another stamp is another policy.
    when : str
        When to use it, as a sentence: for lists of policies.
    kind : MachineKind
        The machine for which it is carried out.
    """

    name: str
    decide: Callable[..., None]
    parameters: type[Parameters] = Parameters
    memory: Callable[..., Memory] | None = None
    variants: Variants | None = None
    of_memory: Variants | None = None
    rests: bool = False
    needs: tuple[str, ...] = ()
    needs_where: NeedsWhere = field(default_factory=dict)
    promises: tuple[str, ...] = ()
    promises_where: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    restates: tuple[str, ...] = ()
    restated_by: Mapping[str, tuple[str, Mapping[str, Any]]] = field(default_factory=dict)
    notes: Callable[[Memory, Any], dict[str, pd.DataFrame]] | None = None
    carry: Callable[[Memory, Memory, Any], None] | None = None
    restore: Callable[[Memory, Memory, Any], None] | None = None
    shown: Callable[[Memory, Any, Any], dict[str, Any]] | None = None
    gone: Callable[[Memory], tuple[npt.NDArray[np.float64], tuple[str, ...]]] | None = None
    allocates: bool = True
    takes_long: str = ""
    version: int = 1
    fixed: Mapping[str, Any] = field(default_factory=dict)
    in_python: Callable[[Any], None] | None = None
    made_in: str = ""
    stamp: str = ""
    when: str = ""
    kind: MachineKind = POOL

    @property
    def module(self) -> str:
        """The module whose source counts as the policy's."""
        return self.made_in or self.decide.__module__

    @cached_property
    def own(self) -> tuple[str, ...]:
        """Which of ``parameters``, ``memory`` and ``rng`` it takes.

        Raises
        ------
        ParameterError
            Its arguments are others than those of a policy.
        """
        return check_arguments(f"policy {self.name!r}", self.decide, ["machine"])

    @cached_property
    def compiled(self) -> Any:
        """The policy compiled; None, with a warning, where numba cannot."""
        return place_or_none(f"policy {self.name!r}", self._entry, checked=False)

    @cached_property
    def checked(self) -> Any:
        """The same, where an index outside its array is an error."""
        return place_or_none(f"policy {self.name!r}", self._entry, checked=True)

    @cached_property
    def _entry(self) -> Kernel[..., None]:
        values = self.chosen({}).values()
        return compiled_entry(self.decide, ["machine"], self.own, values, self.own_at, self.allocates, self.kind)

    @cached_property
    def own_at(self) -> Lent:
        """What takes of the kind that it has of its own, for which it is compiled."""
        chosen = self.chosen({})
        example = NodeRoom(1, 1)
        return Lent(lambda: pack(chosen.values(), self.empty_memory(1, 1, chosen, example), np.random.default_rng(0)))

    def made_for(self, chosen: Parameters) -> Policy:
        """Return the policy that is carried out: the variant for these parameters, or itself.

        Raises
        ------
        ParameterError
            The arguments of the variant are others than those of a policy.
        """
        return self if self.variants is None else self._deciding_by(self.variants(chosen.values()))

    def begun_with(self, memory: Memory) -> Policy:
        """Return the policy that is compiled for a run that begins with a memory; errors are those of ``made_for``."""
        return self if self.of_memory is None else self._deciding_by(self.of_memory(memory))

    def _deciding_by(self, decide: Callable[..., None]) -> Policy:
        if decide is self.decide:
            return self
        if decide not in self._made:
            self._made[decide] = replace(self, decide=decide, variants=None, of_memory=None)
            self._made[decide].own  # noqa: B018 (refuses wrong arguments)
        return self._made[decide]

    def on(self, kind: MachineKind) -> Policy:
        """Return the policy, which has no variants any more, as it is carried out on another kind of machine."""
        if kind is self.kind:
            return self
        key = self.name, self.decide, kind.name
        if key not in _ON_OTHERS:
            memory = self.memory and kind.of(self.memory)
            other = replace(self, decide=kind.of(self.decide), memory=memory, kind=kind)
            if memory is not self.memory:  # of another form, which these know
                other = replace(other, carry=_known_on(kind, self.carry), restore=_known_on(kind, self.restore))
            _ON_OTHERS[key] = other
        return _ON_OTHERS[key]

    @cached_property
    def _made(self) -> dict[Callable[..., None], Policy]:
        return {}

    def interpreted(self, chosen: Parameters) -> Callable[..., Any]:
        """Return the policy as an interpreted engine calls it."""
        return interpreted_entry(self.decide, self.own, chosen.values())

    def chosen(self, given: Mapping[str, Any]) -> Parameters:
        """Return every parameter, those that are given and the defaults.

        Raises
        ------
        ParameterError
            A name is unknown, or a value outside its domain.
        """
        open_ = [name for name in self.parameters.names() if name not in self.fixed]
        refuse_unknown(self.name, given, open_)
        return self.parameters.from_mapping({**self.fixed, **given})

    def needed(self, given: Mapping[str, Any] | Parameters) -> tuple[str, ...]:
        """Return the columns that it needs, with the parameters that are given, or with all that were chosen."""
        values = (given if isinstance(given, Parameters) else self.chosen(given)).to_mapping()
        if callable(self.needs_where):
            return (*self.needs, *self.needs_where(values))
        return (
            *self.needs,
            *(c for (name, value), cs in self.needs_where.items() if values[name] == value for c in cs),
        )

    def promised(self, given: Mapping[str, Any]) -> tuple[str, ...]:
        """Return what it promises, with the parameters that are given."""
        values = self.chosen(given).to_mapping()
        more = [name for name, where in self.promises_where.items() if where.items() <= values.items()]
        return (*self.promises, *more)

    @cached_property
    def has_setting(self) -> bool:
        """Whether it keeps the nodes itself: its memory is made of the machine, and of what jobs ask of it."""
        return self.memory is not None and "setting" in inspect.signature(self.memory).parameters

    def empty_memory(
        self,
        jobs: int,
        processors: int,
        chosen: Parameters,
        nodes: NodeRoom | None = None,
        setting: object = None,
    ) -> Memory:
        """Return the policy's memory at the beginning; ``nodes`` tells of a machine of nodes.

        ``setting`` is the machine and what jobs ask of it, for a policy that keeps the nodes itself; None: an example.
        """
        if not self.memory:
            return ()
        taken = inspect.signature(self.memory).parameters
        further: dict[str, Any] = {"parameters": chosen} if "parameters" in taken else {}
        if "setting" in taken:
            further["setting"] = setting
        if "nodes" in taken:
            if nodes is None:
                raise TypeError(f"the memory of policy {self.name!r} on nodes needs to be told of these: give nodes=")
            further["nodes"] = nodes
        return self.memory(jobs, processors, **further)


def _known_on(kind: MachineKind, function: Callable[..., None] | None) -> Callable[..., None] | None:
    """Return what copies a memory on another kind of machine, where it is of another form; None if nothing does."""
    if function is None or function is carry_nothing:
        return function
    other = kind.of(function)
    return None if other is function else other


_ON_OTHERS: dict[tuple[str, Callable[..., None], str], Policy] = {}
"""Policies on other machines than pools: not kept by the policies, which may be sent to other processes."""

POLICIES: Registry[Policy] = Registry("policy", ("policy", "python_policy"))


def policy(  # noqa: PLR0913 (facts by name)
    name: str,
    *,
    when: str = "",
    parameters: type[Parameters] | None = None,
    memory: Callable[..., Memory] | None = None,
    variants: Variants | None = None,
    of_memory: Variants | None = None,
    usual: Callable[..., None] | None = None,
    rests: bool = False,
    needs: tuple[str, ...] = (),
    needs_where: NeedsWhere | None = None,
    promises: tuple[str, ...] = (),
    promises_where: Mapping[str, Mapping[str, Any]] | None = None,
    restates: tuple[str, ...] = (),
    restated_by: Mapping[str, tuple[str, Mapping[str, Any]]] | None = None,
    notes: Callable[[Memory, Any], dict[str, pd.DataFrame]] | None = None,
    carry: Callable[[Memory, Memory, Any], None] | None = None,
    restore: Callable[[Memory, Memory, Any], None] | None = None,
    shown: Callable[[Memory, Any, Any], dict[str, Any]] | None = None,
    gone: Callable[[Memory], tuple[npt.NDArray[np.float64], tuple[str, ...]]] | None = None,
    allocates: bool = True,
    takes_long: str = "",
    version: int = 1,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a policy under a name; see ``Policy``.

    Raises
    ------
    ParameterError
        The name is taken, or cannot be one; its arguments are not those of a policy; a parameter is not a number, has
        no default, or is called as an option of ``simulate``; the class of parameters is another policy's; the version
        is not a whole number from 1 on.

    Examples
    --------
    >>> from swftools.parameters import number
    >>> @dataclass(frozen=True)
    ... class IdleParameters(Parameters):
    ...     patience: float = number(60.0, least=0, unit="s")
    >>> @policy("example-idle", parameters=IdleParameters, version=1)
    ... def idle(machine, parameters):
    ...     pass
    >>> find_policy("example-idle").chosen({"patience": 5}).values()
    Values(patience=5.0)
    """
    facts = {fact: given for fact, given in locals().items() if given is not None and fact != "usual"}
    if usual is not None and variants is not None:
        raise ParameterError(f"policy {name!r}: usual= is the old name of what variants= says; give variants= alone")

    def make(decide: Callable[..., None]) -> Policy:
        kind = checked_class("policy", name, parameters)
        of_old = {} if usual is None else {"variants": _where_default(name, usual, decide, kind)}
        made = Policy(**{**facts, **of_old, "decide": decide, "parameters": kind})
        made.own  # noqa: B018 (refuses wrong arguments)
        return made

    return POLICIES.decorator(name, make, version=version)


policy.renamed = {"usual": "2.0"}  # type: ignore[attr-defined]


def _where_default(
    name: str, usual: Callable[..., None], decide: Callable[..., None], kind: type[Parameters]
) -> Variants:
    """Return what ``usual`` means: one function where all parameters have their defaults, the other one elsewhere."""
    warnings.warn(f"policy({name!r}, usual=): use variants=; 2.0 removes it", DeprecationWarning, stacklevel=4)
    return lambda values: usual if values == kind().values() else decide


def alias(name: str, policy: str, *, when: str = "", restates: tuple[str, ...] = (), **fixed: Any) -> None:
    """Register a policy that is another one with some parameters given.

    Raises
    ------
    ParameterError
        The name is taken; there is no such policy; it takes no such parameter.
    """
    made = replace(find_policy(policy), name=name, when=when, restates=restates, restated_by={}, fixed=fixed)
    made.chosen({})
    POLICIES.add(name, made, made.decide)


def checked_class(what: str, name: str, parameters: type[Parameters] | None) -> type[Parameters]:
    """Return the class of a policy's or predictor's parameters, named after it; that of none where it has none."""
    if parameters is None:
        return Parameters
    if taken := sorted(OPTIONS & set(parameters.names())):
        raise ParameterError(f"{what} {name!r}: parameters {taken} are called as options of simulate; rename them")
    domains = parameters.domains()
    is_encoded = parameters.values is not Parameters.values
    vague = [
        each.name
        for each in fields(parameters)
        if each.default is MISSING or (not is_encoded and (each.name not in domains or domains[each.name].kind is None))
    ]
    if vague:
        wanted = "number, whole, choice or truth, with a default that is not None"
        raise ParameterError(f"{what} {name!r}: parameters {vague}: declare each by {wanted}")
    return parameters.named(name)


def find_policy(name: str | Policy) -> Policy:
    """Return a policy by name; ``module:name`` imports the module that registers it first.

    Raises
    ------
    ParameterError
        There is none of that name, or no such module.
    """
    return name if isinstance(name, Policy) else POLICIES.find(name)


def read_policy(policy: str | Policy, parameters: Mapping[str, Any] | None = None) -> tuple[Policy, dict[str, Any]]:
    """Return a policy and the parameters that are given, in its text and beside it, checked.

    Parameters
    ----------
    policy : str or Policy
        ``NAME``, ``NAME:KEY=VALUE,KEY=VALUE``, either behind ``module:``, or the policy itself.
    parameters : mapping, optional
        More of its parameters.

    Raises
    ------
    ParameterError
        There is none of that name, it takes no such parameter, or one is given twice.

    Examples
    --------
    >>> chosen, given = read_policy("easy:reservations=2", {"backfill_order": "sjf"})
    >>> chosen.name, given
    ('easy', {'reservations': 2, 'backfill_order': 'sjf'})
    """
    chosen, given = POLICIES.read(policy, parameters) if isinstance(policy, str) else (policy, dict(parameters or {}))
    chosen.chosen(given)
    return chosen, given


def list_policies() -> dict[str, Policy]:
    """Return the policies by name."""
    return POLICIES.known
