# SPDX-License-Identifier: BSD-3-Clause
"""The reference: every public name of every public package, from its docstring."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from types import ModuleType
from typing import Any, get_origin

from site_pages.written import first_paragraph, table, write_pages

PACKAGES = {
    "swftools": "The names that most programs need.",
    "swftools.simulator": "Replay a log under a policy, measure and check the schedule; write policies and predictors.",
    "swftools.referee": "A policy held against a real run of a batch system, decision by decision.",
    "swftools.qbets": "How long jobs wait: bounds, rivals, predictions, and how good they are.",
    "swftools.models": "Workload models, arrivals, requested times, speedup curves.",
    "swftools.formats": "Formats of logs by name, Parquet, compressed files.",
    "swftools.cleaning": "Cleaning rules, and how to add one.",
    "swftools.estimates": "How good requested times are.",
    "swftools.drift": "How far the last weeks are from the year before.",
    "swftools.checkpoints": "Checkpoints of jobs, from surveys of users.",
    "swftools.waits": "Why users wait: how long, who, and for what.",
    "swftools.energy": "Energy of finished schedules: power over time, cost, carbon.",
    "swftools.market": "Prices of finished schedules.",
    "swftools.live": "Waits that become known while a machine runs: events as they come, a journal, bounds meanwhile.",
    "swftools.job_scripts": "What a job script requests, as the batch system reads it.",
    "swftools.client": "A client of a prediction service.",
    "swftools.reservations": "When to submit a job so that it runs at a time; such jobs in simulations; several sites.",
    "swftools.learning": "Schedulers that learn: an environment, agents as policies, comparison.",
    "swftools.plots": "Pictures.",
    "swftools.parameters": "How parameters are declared and written.",
    "swftools.kernel": "Compiled functions for policies, predictors and bounds of your own.",
    "swftools.errors": "What is raised.",
    "pipelines": "Tasks that luigi runs.",
    "pipelines.logs": "Logs by name.",
    "pipelines.store": "Published versions: reading, comparing, exporting, removing.",
    "pipelines.papers": "Papers whose tables are made anew, and how to add one.",
    "pipelines.reports": "Reports: a version as one HTML file.",
}
"""The public packages, each with what it is for. What stands elsewhere is private."""


def public_names(package: str) -> list[str]:
    """Return the public names of a package, in the order of the alphabet."""
    module = importlib.import_module(package)
    names = getattr(module, "__all__", None)
    if names is None:
        names = [name for name, each in vars(module).items() if _is_own(module, name, each)]
    return sorted((name for name in names if not name.startswith("_")), key=lambda name: (name.lower(), name))


def _is_own(module: ModuleType, name: str, each: Any) -> bool:
    return not name.startswith("_") and getattr(each, "__module__", "").startswith(module.__name__)


def write(folder: Path) -> None:
    """Write a page a package, and one that lists them."""
    described: dict[int, str] = {}
    pages = {}
    for package in sorted(PACKAGES, key=lambda name: -name.count(".")):
        pages[f"{package}.md"] = _page(package, described)
    rows = [(f"[`{package}`]({package}.md)", what) for package, what in PACKAGES.items()]
    text = (
        "# Reference\n\nEvery public name, at most two deep, with what its docstring says. These names are what a "
        f"release promises; everything else may change.\n\n{table(('package', 'for'), rows)}\n"
        f"```{{toctree}}\n:hidden:\n\n{chr(10).join(PACKAGES)}\n```\n"
    )
    write_pages(folder, {**pages, "index.md": text})


def _page(package: str, described: dict[int, str]) -> str:
    """Return the page of a package; what another page describes is a line that leads there."""
    parts, elsewhere = [f"# {package}\n", PACKAGES[package] + "\n"], []
    for name in public_names(package):
        each = getattr(importlib.import_module(package), name)
        if home := _home(each, described):
            elsewhere.append((f"[`{name}`]({home}.md)", _says(each)))
            continue
        described[id(each)] = package
        parts.append(f"## {name}\n\n{_directive(package, name, each)}")
    if elsewhere:
        parts.insert(2, table(("name", "in short"), elsewhere))
    return "\n".join(parts)


def _home(each: Any, described: dict[int, str]) -> str | None:
    """Return the package on whose page something is described already."""
    if inspect.ismodule(each) and each.__name__ in PACKAGES:
        return each.__name__
    return None if isinstance(each, (int, str, tuple, frozenset)) else described.get(id(each))


def _says(each: Any) -> str:
    return first_paragraph(inspect.getdoc(each))


def _directive(package: str, name: str, each: Any) -> str:
    """Return what makes Sphinx describe something."""
    path = f"{package}.{name}"
    if inspect.ismodule(each):
        return f"```{{eval-rst}}\n.. automodule:: {each.__name__}\n   :members:\n   :no-index:\n```\n"
    if inspect.isclass(each) and get_origin(each) is None:
        return f"```{{eval-rst}}\n.. autoclass:: {path}\n   :members:\n```\n"
    if callable(each) and get_origin(each) is None:
        return f"```{{eval-rst}}\n.. autofunction:: {path}\n```\n"
    return f"```{{eval-rst}}\n.. py:data:: {path}\n   :value: {each!r}\n```\n"
