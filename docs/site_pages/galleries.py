# SPDX-License-Identifier: BSD-3-Clause
"""Galleries: what is registered under names, a page a kind, made from the registries themselves."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pipelines.papers import list_papers
from pipelines.tasks.augmentations.registry import AUGMENTATIONS
from site_pages import drawn, policy_facts
from site_pages.written import first_paragraph, one_line, table, write_pages
from swftools.cleaning import DEFAULT_RULES, list_rules
from swftools.drift import list_drift_statistics
from swftools.formats import list_formats
from swftools.market import list_mechanisms
from swftools.parameters import Parameters
from swftools.plots import Picture, list_pictures
from swftools.qbets import list_bounds, list_rivals
from swftools.simulator import list_policies, list_predictors
from swftools.simulator.measure_definitions import EXCESS, MACHINE, NODES, SPREAD, TRUTH

DOCS = Path(__file__).parents[1]

_PARAMETER = re.compile(r"^(\w[\w, ]*) : (.*)$")


def write(folder: Path) -> None:
    """Write every gallery, and draw the pictures of that of pictures."""
    drawn.draw(folder.parent / "pictures")
    write_pages(folder, {f"{name}.md": make() for name, make in GALLERIES.items()})


def meanings(owner: object) -> dict[str, str]:
    """Return what a docstring in numpy's form says of each parameter."""
    found: dict[str, list[str]] = {}
    text = inspect.cleandoc(owner.__doc__ or "")
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n-+\n|\Z)", text, re.DOTALL | re.MULTILINE)
    names: list[str] = []
    for line in section[1].splitlines() if section else ():
        if match := _PARAMETER.match(line):
            names = match[1].split(", ")
            found.update({name: [] for name in names})
        else:
            for name in names:
                found[name].append(line)
    return {name: one_line(" ".join(lines)) for name, lines in found.items()}


def inherited_meanings(kind: type[Any]) -> dict[str, str]:
    """Return what a class and those that it inherits from say of each parameter."""
    return {name: text for each in reversed(kind.__mro__) for name, text in meanings(each).items()}


def of_parameters(parameters: type[Parameters], left_out: Iterable[str] = ()) -> str:
    """Return a table of parameters: each with its default and what it means; nothing where there are none."""
    said = inherited_meanings(parameters)
    usual = {each.name: each.default for each in parameters.__dataclass_fields__.values()}
    shown = {name: f"`{value}`" for name, value in usual.items() if isinstance(value, (int, float, str, bool))}
    rows = [
        (f"`{name}`", shown.get(name, ""), said.get(name, "")) for name in parameters.names() if name not in left_out
    ]
    return table(("parameter", "default", "meaning"), rows) if rows else ""


def guide(name: str, about: str) -> str:
    """Return a line that leads to the page of a thing, where it has one with that word."""
    for place in (f"formats/{name}.md", f"formats/tables/{name}.md", f"{name.replace('-', '_')}.md"):
        if (DOCS / place).exists() and about in (DOCS / place).read_text("utf-8"):
            return f"[Guide](../../{place})"
    return ""


def page(title: str, begins: str, entries: Mapping[str, Iterable[str]]) -> str:
    """Return a page with a section an entry."""
    parts = [f"# {title}\n", begins + "\n"]
    for name, paragraphs in entries.items():
        parts += [f"## {name}\n", *(text + "\n" for text in paragraphs if text)]
    return "\n".join(parts)


def _policies() -> str:
    entries = {}
    for name, policy in sorted(list_policies().items()):
        if not policy.module.startswith("swftools."):
            continue
        facts = []
        if policy.needs:
            facts.append(f"Needs the columns {', '.join(f'`{column}`' for column in policy.needs)}.")
        if policy.restates:
            facts.append(f"Makes the schedules of: {', '.join(policy.restates)}.")
        if policy.fixed:
            facts.append(f"Fixed: {', '.join(f'`{key}={value}`' for key, value in policy.fixed.items())}.")
        entries[name] = [
            first_paragraph(policy.decide.__doc__),
            f"**When** {policy.when}",
            policy_facts.promises(policy),
            policy_facts.paper(policy),
            " ".join(facts),
            of_parameters(policy.parameters, policy.fixed),
            f"Code: `{policy.decide.__module__}`. {guide(name, 'policy')}".rstrip(),
        ]
    begins = (
        "Every policy that `simulate` knows, by name. Give one as `NAME` or `NAME:KEY=VALUE,KEY=VALUE`, as in "
        "`swftools simulate LOG --policy easy`. [The simulator](../../simulator.md) explains them, "
        "[add a policy](../../add_a_policy.md) shows how to write one."
    )
    return page("Policies", begins, entries)


def _predictors() -> str:
    entries = {
        name: [
            first_paragraph((each.observe or each.foretell or each.learner).__doc__),
            of_parameters(each.parameters),
        ]
        for name, each in sorted(list_predictors().items())
    }
    begins = (
        "Every predictor of run times, by name. Policies plan with its predictions: "
        "`simulate(..., predictor=NAME)`. "
        "[Predictors](../../predictors.md) explains them."
    )
    return page("Predictors of run times", begins, entries)


def _bounds() -> str:
    entries = {
        name: [first_paragraph(each.__doc__), _of_class(each)]
        for name, each in [*sorted(list_bounds().items()), *sorted(list_rivals().items())]
    }
    begins = (
        "Every way to bound how long a job will wait, by name: the bounds of QBETS, and rivals that are fitted. "
        "[Wait predictors compared](../../wait_predictors.md) explains them."
    )
    return page("Bounds of waits", begins, entries)


def _of_class(kind: type[Any]) -> str:
    said, parameters = inherited_meanings(kind), inspect.signature(kind).parameters.values()
    rows = [
        (f"`{each.name}`", "" if each.default is each.empty else f"`{each.default}`", said.get(each.name, ""))
        for each in parameters
        if each.kind is not each.VAR_KEYWORD
    ]
    return table(("parameter", "default", "meaning"), rows) if rows else ""


def _formats() -> str:
    entries = {
        name: [
            f"{each.TITLE}.",
            f"How to get such a file:\n\n```text\n{each.COMMAND}\n```",
            of_parameters(each),
            guide(name, "SWF"),
        ]
        for name, each in sorted(list_formats().items())
    }
    begins = (
        "Every format of logs that `read_log` reads. A file's format is recognised from its text; "
        "`--format NAME:KEY=VALUE` names it, with options. "
        "[Logs of any batch system](../../logs.md) explains what all have in common, "
        "[add a log format](../../add_a_format.md) shows how to read another."
    )
    return page("Log formats", begins, entries)


def _metrics() -> str:
    groups = {"Of jobs, as means and percentiles": SPREAD, "Of jobs, yes or no": TRUTH}
    groups |= {"Of jobs, 0 for most": EXCESS, "Of the machine and its queue": MACHINE, "Of its nodes": NODES}
    entries = {
        title: [table(("metric", "unit", "worse", "meaning"), ((f"`{n}`", *m) for n, m in group.items()))]
        for title, group in groups.items()
    }
    begins = (
        "Every metric of a schedule that `measure` computes, with its unit, the direction that is worse, and its "
        "meaning. [Metrics](../../metrics.md) tells how they are computed."
    )
    return page("Metrics", begins, entries)


_CALLS = {
    "Trace": ("trace.plot({0!r})", "swftools plot LOG --picture {0}"),
    "Schedule": ("schedule.plot({0!r})", "swftools plot LOG --policy easy --picture {0}"),
    "CleaningReport": ("report.plot({0!r})",),
    "DataFrame": ("swftools.plots.plot(TABLE, {0!r})",),
}
"""How pictures of each kind of thing are drawn: in Python, and on the console where that can."""


def _pictures() -> str:
    entries = {}
    for kind in drawn.SUBJECTS:
        of = kind.__name__
        entries["Of a table" if of == "DataFrame" else f"Of a {of}"] = [
            "\n".join(_one_picture(of, name, each)) for name, each in sorted(list_pictures(kind).items())
        ]
    begins = (
        "Every picture, by name, drawn from the shipped excerpt of a log; schedules are those of `easy` and `fcfs`. "
        "[Pictures](../../pictures.md) explains them."
    )
    return page("Pictures", begins, entries)


def _one_picture(of: str, name: str, picture: Picture) -> Iterator[str]:
    """Yield what a picture answers, how it is drawn, and itself."""
    yield f"### {name} of a {'table' if of == 'DataFrame' else of}\n"
    yield f"{picture.title}. {first_paragraph(type(picture).__doc__)}\n"
    calls = (call.format(name).replace("'", '"') for call in _CALLS.get(of, ()))
    table = f", where TABLE is `{drawn.TABLES[name][0]}`" if of == "DataFrame" else ""
    yield " or ".join(f"`{call}`" for call in calls) + table + ".\n"
    yield f"![{picture.title}](../pictures/{drawn.file_of(of, name)})\n"


def _rules() -> str:
    rules = list_rules()
    entries = {
        f"{name}{'' if name in DEFAULT_RULES else ' (asked for by name)'}": [
            first_paragraph(rule.__doc__),
            f"Code: `{rule.__module__}`.",
        ]
        for name, rule in [*((name, rules[name]) for name in DEFAULT_RULES), *rules.items()]
    }
    begins = (
        "Every cleaning rule: first the default ones, in the order in which they are applied. "
        "[Cleaning](../../cleaning.md) explains them."
    )
    return page("Cleaning rules", begins, entries)


def _mechanisms() -> str:
    entries = {
        name: [first_paragraph(each.set_prices.__doc__), of_parameters(each.parameters)]
        for name, each in sorted(list_mechanisms().items())
    }
    begins = "Every way to price a finished schedule, by name. [Prices](../../market.md) explains them."
    return page("Price mechanisms", begins, entries)


def _statistics() -> str:
    entries = {name: [first_paragraph(each.compare.__doc__)] for name, each in sorted(list_drift_statistics().items())}
    begins = "Every statistic of drift, by name. [Drift](../../drift.md) says which aspect is compared by which."
    return page("Statistics of drift", begins, entries)


def _augmentations() -> str:
    entries = {name: [first_paragraph(each.__doc__), guide(name, "jobs")] for name, each in AUGMENTATIONS.items()}
    begins = (
        "Every augmentation: columns that a log lacks, drawn from a published model. "
        "Ask for some by `--augment NAME,NAME`."
    )
    return page("Augmentations", begins, entries)


def _papers() -> str:
    entries = {}
    for name, paper in list_papers().items():
        logs = f"; logs: {', '.join(f'`{log}`' for log in paper.logs)}" if paper.logs else ""
        rows = ((f"`{each.number}`", one_line(each.place), one_line(each.title)) for each in paper.tables)
        tables = table(("table", "place", "shows"), rows)
        entries[name] = [f"{paper.citation}.", f"`swftools reproduce {name}`{logs}.", tables]
    begins = (
        "Every paper whose tables can be reproduced, with its tables. "
        "[Papers' tables, reproduced](../../reproduction.md) shows the results."
    )
    return page("Papers", begins, entries)


GALLERIES: dict[str, Callable[[], str]] = {
    "policies": _policies,
    "predictors": _predictors,
    "bounds": _bounds,
    "formats": _formats,
    "metrics": _metrics,
    "pictures": _pictures,
    "cleaning_rules": _rules,
    "price_mechanisms": _mechanisms,
    "drift_statistics": _statistics,
    "augmentations": _augmentations,
    "papers": _papers,
}
"""A gallery each, by the name of its page."""
