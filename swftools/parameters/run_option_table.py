# SPDX-License-Identifier: BSD-3-Clause
"""The options of a run, each declared once: what it may be, its default, its help, and where it can be given.

A new option is a field of ``RunOptions`` and its use. From the fields follow: ``simulate`` and ``Simulation``, whose
signatures ``make run-options`` writes, so that help, editors and type checkers see them; the parameters of tasks, the
options of commands, the axes of experiments and the columns of their tables; the options of environments; what a saved
state must have; which names no parameter of a policy can have; and the tables of the documentation.

It stands this low, and imports nothing heavy, because commands show their options before the simulator is loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

from swftools.errors import ParameterError
from swftools.parameters.choices import CANCELLED, DEPENDENCIES, HEADS, IGNORE, OVERRUN, SEMANTICS
from swftools.parameters.declared import LARGEST_SEED, Domain, Parameters, choice, whole

ALWAYS, WHERE_SET = "always", "where set"
"""When an option enters content keys: always; or where it is not at its default."""

NEEDED: Any = object()
"""Of an option that every saved state has."""

_READ = Domain("a text, or what is read of one", lambda value: True, kind=None)  # noqa: ARG005
"""Of an option with ``forms``: the simulator looks at its values when it reads them."""

InKey = str | Callable[[Any, Any], bool]


@dataclass(eq=False, repr=False)  # which would take time at each start
class RunOption:
    """What is known of an option beside the values that it may have.

    Parameters
    ----------
    help : str
        What it decides, in a sentence that ends with a full stop, or, where it has ``forms``, goes on with them.
    column : str
        The meaning of its column in the tables of experiments; it is published.
    forms : tuple of str
        Of an option that is a text with parameters: such texts, what is to be typed between backquotes. The simulator's
        ``run_options.FIND`` reads them.
    in_python : str
        What else it may be in Python, in words.
    annotation : str
        Its type in signatures; that of its domain by default.
    page : str
        Where the documentation says more.
    axis : str
        Its key in the file of an experiment; its name by default.
    is_repetition : bool
        Values of it make repetitions of one setting, not settings: it is noise. Such an option belongs to each cell.
    in_environments : bool or str
        Whether environments for agents take it; a text is its type there.
    in_key : {"always", "where set"} or callable
        When it enters content keys, published facts and the tables of experiments. An option that comes to be must not
        move what was published without it: "where set" is where it is not at its default. A callable takes the value
        and the log as tasks found it (``pipelines.logs.find.Log``), and returns whether it counts there.
    on_nodes : bool
        Whether it counts on machines of nodes only: a run on a pool of processors does not tell it.
    in_old_states : object, optional
        Of an option that came later: what it was in states that were saved before. Without it every state must have it.
    """

    help: str
    column: str
    forms: tuple[str, ...] = ()
    in_python: str = ""
    annotation: str = ""
    page: str = ""
    axis: str = ""
    is_repetition: bool = False
    in_environments: bool | str = False
    in_key: InKey = ALWAYS
    on_nodes: bool = False
    in_old_states: Any = NEEDED
    name: str = ""
    default: Any = None
    domain: Domain = _READ

    @property
    def choices(self) -> tuple[str, ...]:
        """The words to choose from, if it is one of some words."""
        return self.domain.choices

    @property
    def type(self) -> type:
        """What its value is in files and on command lines: str, int, float or bool."""
        return str if self.choices else self.domain.kind or str

    @property
    def usual(self) -> Any:
        """The default as files, tasks and command lines have it: as text, unless its domain is one of numbers."""
        text = f"{self.default:g}" if isinstance(self.default, float) else str(self.default)
        return text if self.type is str else self.default

    def sentence(self, *, in_python: bool = False) -> str:
        """Return what it decides, with its forms, in plain text; also what else it may be in Python."""
        if not self.forms:
            return self.help
        *most, last = [*self.forms, self.in_python] if in_python and self.in_python else self.forms
        return f"{self.help}: {', '.join(most)}, or {last}.".replace("`", "")

    def enters_key(self, value: Any, log: Any) -> bool:
        """Return whether a value enters the content keys of a log."""
        if callable(self.in_key):
            return self.in_key(value, log)
        return self.in_key == ALWAYS or value != self.usual


def run_option(declared: Any, **told: Any) -> Any:
    """Return the field of an option: a parameter that is declared, or the default of one that is read by its form."""
    if told.get("forms"):
        return field(default=declared, metadata={"option": RunOption(**told)})
    return field(default=declared.default, metadata={**declared.metadata, "option": RunOption(**told)})


def has_dependencies(value: Any, log: Any) -> bool:  # noqa: ARG001 (the same for each value)
    """Return whether jobs of a log wait for others."""
    return bool(log.has_dependencies)


@dataclass(frozen=True)
class RunOptions(Parameters):
    """The options of a run; their order is that of an experiment's columns and cells.

    Raises
    ------
    ParameterError
        One is not what it may be. Those with ``forms`` are read by ``swftools.simulator.run_options``.
    """

    NAME: ClassVar[str] = "simulate"

    predictor: Any = run_option(
        "request",
        help="The run times that policies plan with",
        forms=(
            *("`request`", "`exact`", "`tightened`", "`last-model`", "`user-average`", "`gradient-boosting`"),
            *("`virtual:error=0.5`", "`module:name` of one of yours"),
        ),
        in_python="a Python object that learns",
        annotation="str | Predictor | PythonPredictor",
        page="predictors.md",
        column="What policies are told of run times.",
        axis="predictors",
        in_environments="str | Predictor",
    )
    requests: Any = run_option(
        "logged",
        help="What users ask for",
        forms=("`logged`", "`factor:factor=2`", "`tsafrir` where the log has none"),
        annotation="str | Logged",
        page="predictors.md",
        column="What users ask for.",
        in_environments=True,
    )
    overrun: str = run_option(
        choice(*OVERRUN),
        help="Jobs that ran longer than requested: raise the request to the run time, cut the run at the request, or "
        "leave both as they are.",
        column="What becomes of jobs longer than requested.",
        in_environments=True,
    )
    cancelled: str = run_option(
        choice(*CANCELLED),
        help="Jobs without a run time: leave them out, let them run 1 s, or as long as requested.",
        column="What becomes of jobs without run time.",
        in_environments=True,
    )
    restart_overhead: Any = run_option(
        0.0,
        help="Time that a run needs to continue earlier work",
        forms=("seconds", "`uniform:per_processor=0.1`", "`column:name=mine`"),
        annotation="float | str | Uniform | Column",
        in_environments="float | str | Uniform | Column",
        page="#the-state-of-work",
        column="What it takes to go on with work.",
    )
    semantics: str = run_option(
        choice(*SEMANTICS),
        help="Order of events at one instant, and how often the policy decides: our own, or that of another simulator.",
        page="validation.md#other-simulators",
        column="Order of events at one instant.",
    )
    dependencies: str = run_option(
        choice(*DEPENDENCIES),
        help="Jobs that wait for others by the log: let them into the queue when these have ended and their think time "
        "is over, or at their submission.",
        column="Whether jobs wait for those that must end before.",
        page="#jobs-that-wait-for-others",
        in_environments=True,
        in_key=has_dependencies,
        in_old_states=IGNORE,
    )
    placement: Any = run_option(
        "first-fit",
        help="On a machine of nodes, which of the nodes that fit a job it gets",
        forms=(
            *("`first-fit`", "`lowest-weight`", "`best-fit`", "`worst-fit`", "`fewest-switches`", "`contiguous`"),
            *("`gpu-packing`", "`dot-product`", "each also as `first-fit:sparing=false`"),
        ),
        annotation="str | Placement",
        in_environments="str | Placement",
        page="machines.md#placement",
        column="Which nodes jobs get.",
        in_key=WHERE_SET,
        on_nodes=True,
        in_old_states="first-fit",
    )
    heads: str = run_option(
        choice(*HEADS),
        help="On a machine of nodes, whose first waiting job nobody overtakes, or has a reservation: that of each "
        "partition, or the first of the machine.",
        column="Whether each partition has a first waiting job.",
        page="machines.md#one-first-job-a-partition",
        in_environments=True,
        in_key=WHERE_SET,
        on_nodes=True,
        in_old_states="partition",
    )
    on_outage: Any = run_option(
        "requeue",
        help="On a machine whose nodes go down, what becomes of the jobs there: they begin anew, go on from their last "
        "checkpoints, or are lost",
        forms=("`requeue`", "`requeue:delay=60`", "`checkpoint`", "`lost`"),
        annotation="str | OnOutage | Lost",
        in_environments="str | OnOutage | Lost",
        page="machines.md#nodes-that-are-away",
        column="What becomes of jobs on nodes that go down.",
        in_key=WHERE_SET,
        on_nodes=True,
        in_old_states="requeue",
    )
    seed: int = run_option(
        whole(0, least=0, most=LARGEST_SEED),
        help="Seed for requests, predictors and policies that draw at random.",
        column="Seed of the simulation.",
        axis="seeds",
        is_repetition=True,
        in_environments=True,
    )

    def __post_init__(self) -> None:
        for name, domain in self.domains().items():
            self._require(name, domain.admits(getattr(self, name)), domain.words)

    def _require(self, name: str, condition: bool, domain: str) -> None:
        """Raise ParameterError unless an option is in its domain: it needs no name before its own."""
        if not condition:
            raise ParameterError(f"{name}={getattr(self, name)!r} is not {domain}")

    @classmethod
    def among(cls, given: dict[str, Any]) -> RunOptions:
        """Return the options that stand in a mapping, beside which it may have other things; defaults for the rest."""
        return cls(**{name: given[name] for name in cls.names() if name in given})

    @classmethod
    def in_old_states(cls) -> dict[str, Any]:
        """Return what options that came later were in states that were saved before."""
        return {name: each.in_old_states for name, each in RUN_OPTIONS.items() if each.in_old_states is not NEEDED}


RUN_OPTIONS: dict[str, RunOption] = {
    each.name: replace(
        each.metadata["option"],
        name=each.name,
        default=each.default,
        domain=each.metadata.get("domain", _READ),
        axis=each.metadata["option"].axis or each.name,
    )
    for each in fields(RunOptions)
}
"""What is known of each option, by name, in their order."""

ON_NODES = tuple(name for name, each in RUN_OPTIONS.items() if each.on_nodes)
"""The options that count on machines of nodes only."""
