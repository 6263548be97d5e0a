# SPDX-License-Identifier: BSD-3-Clause
"""What a shell offers when a word of a command is completed: names of logs, policies, data sets, formats, rules.

Of a value that has parameters (``easy:reservations=2``), and of a list (``fcfs,easy``), the last name is completed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from swftools.parameters.spelling import folded

if TYPE_CHECKING:
    from pipelines.store.data_root import DataRoot

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _offering(names: Callable[[click.Context], Iterable[str]], *, files: bool = False) -> Completer:
    """Return what completes the last name of a value, by what is known when it is asked."""

    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
        before, comma, word = incomplete.rpartition(",")
        try:
            known = [name for name in names(ctx) if folded(name).startswith(folded(word))]
        except Exception:  # noqa: BLE001 (a shell that completes shows no errors)
            known = []
        found = [CompletionItem(f"{before}{comma}{name}") for name in known]
        return [*found, CompletionItem(incomplete, type="file")] if files else found

    return complete


def _logs(_: click.Context) -> Iterable[str]:
    from pipelines.logs.find import catalog_in_use
    from pipelines.logs.generated import MODELS

    return [*catalog_in_use().logs, *MODELS]


def _registered(where: str, listing: str) -> Callable[[click.Context], Iterable[str]]:
    """Return what names all of a registry, whose module is imported when a word is completed, and not before."""

    def names(_: click.Context) -> Iterable[str]:
        found: Iterable[str] = getattr(import_module(where), listing)()
        return found

    return names


_papers = _registered("pipelines.papers", "list_papers")


def _pictures(ctx: click.Context) -> Iterable[str]:
    from swftools import plots
    from swftools.plots.picture import kinds_of_pictures
    from swftools.simulator import Schedule
    from swftools.trace import Trace

    drawn = [Schedule if ctx.params.get("policy") else Trace] if ctx.info_name == "plot" else kinds_of_pictures()
    return dict.fromkeys(name for kind in drawn for name in plots.list_pictures(kind))


def _formats(_: click.Context) -> Iterable[str]:
    import swftools.formats.detect  # noqa: F401 (registers them)
    from swftools.formats.registry import list_formats

    return list_formats()


def _rules(_: click.Context) -> Iterable[str]:
    from swftools.cleaning.registry import list_rules

    return ["default", *list_rules()]


def _data_sets(ctx: click.Context) -> Iterable[str]:
    return _root(ctx).data_sets()


def _cited(ctx: click.Context) -> Iterable[str]:
    from pipelines.logs.find import catalog_in_use

    return dict.fromkeys([*catalog_in_use().logs, *_papers(ctx), *_data_sets(ctx)])


def _versions(ctx: click.Context) -> Iterable[str]:
    root, name = _root(ctx), str(ctx.params.get("data_set"))
    return ["latest", *(tag.name for tag in root.tags(name)), *(each.version for each in root.versions(name))]


def _root(ctx: click.Context) -> DataRoot:
    from pipelines.config import setting
    from pipelines.store.data_root import DataRoot

    return DataRoot.open(ctx.params.get("data_root") or setting("data_root"))


complete_log = _offering(_logs, files=True)
complete_policy = _offering(_registered("swftools.simulator.registry", "list_policies"))
complete_predictor = _offering(_registered("swftools.simulator.predictors.registry", "list_predictors"))
complete_picture = _offering(_pictures)
complete_format = _offering(_formats)
complete_rules = _offering(_rules)
complete_paper = _offering(_papers)
complete_data_set = _offering(_data_sets)
complete_cited = _offering(_cited)
complete_version = _offering(_versions)
complete_mechanism = _offering(_registered("swftools.market", "list_mechanisms"))
