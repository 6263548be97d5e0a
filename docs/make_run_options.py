# SPDX-License-Identifier: BSD-3-Clause
"""Write the options of a run into signatures and pages, from ``RunOptions``: ``make run-options``.

Whoever calls ``simulate`` sees names, types and defaults in an editor, in ``help`` and from a type checker; so these
stand in the code, and are written there by this. ``--check`` says whether they are as they would be written.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path

from swftools.parameters.run_option_table import RUN_OPTIONS, RunOption

ROOT = Path(__file__).parent.parent
WIDTH = 120


def annotation(option: RunOption) -> str:
    """Return the type of an option in a signature."""
    return option.annotation or option.type.__name__


def default(option: RunOption) -> str:
    """Return the default of an option in a signature."""
    return f'"{option.default}"' if isinstance(option.default, str) else repr(option.default)


def either(words: Iterable[str]) -> str:
    """Return words separated by commas, the last by "or"."""
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def in_signature(option: RunOption) -> str:
    """Return the line of an option in a signature."""
    return f"{option.name}: {annotation(option)} = {default(option)},"


def in_docstring(option: RunOption) -> str:
    """Return the lines of an option in a docstring."""
    words = ", ".join(f'"{word}"' for word in option.choices)
    kind = f"{{{words}}}" if words else either(annotation(option).split(" | "))
    text = option.sentence(in_python=True)
    wrapped = textwrap.fill(text, WIDTH - 4, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
    return f"{option.name} : {kind}\n{wrapped}"


def in_table(option: RunOption) -> str:
    """Return the row of an option in a table of a page: name, values, meaning."""
    shown = [f"`{word}`" for word in option.choices] or list(option.forms)
    usual = f"`{option.usual}`"
    if usual in shown:
        values = ", ".join(f"{each} (default)" if each == usual else each for each in shown)
    else:
        values = "; ".join([", ".join(shown), f"default {option.usual}"]) if shown else str(option.usual)
    text = f"{option.help.rstrip('.')}{', or ' + option.in_python if option.in_python else ''}"
    more = f"; see [{option.page.strip('#').partition('.')[0].replace('_', ' ').replace('-', ' ')}]({option.page})"
    return f"| `{option.name}` | {values} | {text[0].lower()}{text[1:]}{more if option.page else ''} |"


def axes(options: Iterable[RunOption]) -> str:
    """Return the row of a page with the axes of experiments that are options of a run, behind the others."""
    own = ("loads", "windows", "processors", "machines", "changes")
    named = [f"`{name}`" for name in (*own, *(each.axis for each in options))]
    return f"| {', '.join(named)} | other axes: a list, or one value |"


Lines = Callable[[list[RunOption]], list[str]]


def _each(write: Callable[[RunOption], str]) -> Lines:
    """Return what writes all options, each by itself."""
    return lambda options: [line for option in options for line in write(option).splitlines()]


def _settings(options: list[RunOption]) -> list[RunOption]:
    """Return the options that make settings of an experiment, not repetitions."""
    return [each for each in options if not each.is_repetition]


def _of_environments(options: list[RunOption]) -> list[str]:
    """Return the lines of those that environments take."""
    kinds = {each: each.in_environments for each in options if each.in_environments}
    return [f"{each.name}: {annotation(each) if kind is True else kind}" for each, kind in kinds.items()]


def _as_environments_take(options: list[RunOption]) -> list[str]:
    """Return the row of a page with the options that environments take."""
    named = ["processors", *(each.name for each in options if each.in_environments)]
    return [f"| {', '.join(f'`{name}`' for name in named)} | as `simulate` takes them; `overrun` is `run-on` here |"]


def _of_tasks(options: list[RunOption]) -> list[str]:
    """Return the row of a page with the parameters of the task that simulates."""
    own = ["rules", "seed", "parameters", "augment", "policy", "processors", "machine", "changes", "load"]
    named = [f"`{name}`" for name in (*own, *(each.name for each in _settings(options)))]
    return [f"| `SimulatePolicy` | {', '.join(named)} |"]


PLACES: list[tuple[str, str, str, Lines]] = [
    ("swftools/simulator/entry_points.py", "    *,\n", "    compiled: bool", _each(in_signature)),
    ("swftools/simulator/entry_points.py", "by default.\n", "    compiled : bool", _each(in_docstring)),
    ("swftools/simulator/simulation.py", "        *,\n", "        compiled: bool", _each(in_signature)),
    ("swftools/learning/options.py", "    processors: int | None\n", "    compiled: bool", _of_environments),
    ("docs/simulator.md", "| size of the machine |\n", "| `compiled`", _each(in_table)),
    ("docs/experiments.md", "is a log for each file |\n", "| `seeds`", lambda options: [axes(_settings(options))]),
    ("docs/learning.md", "for a curriculum |\n", "\n`reset(seed", _as_environments_take),
    ("docs/console.md", "`augment`, `data_set`, `other_source` |\n", "| `MeasureSchedule`", _of_tasks),
]
"""A file, the end of the line before what is written, the beginning of the line behind it, and what is written."""


def written(name: str, text: str) -> str:
    """Return the text of a file with the options as they are declared."""
    options = list(RUN_OPTIONS.values())
    for path, before, after, write in PLACES:
        if path == name:
            start = text.index(before) + len(before)
            end = text.index(after, start)
            indent = " " * (len(after) - len(after.lstrip(" ")))
            text = text[:start] + "".join(f"{indent}{line}\n" for line in write(options)) + text[end:]
    return text


def main(arguments: list[str] | None = None) -> int:
    """Write the options, or check them; return the exit status."""
    parser = argparse.ArgumentParser(prog="docs/make_run_options.py", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 if a file differs")
    parser.add_argument("--root", type=Path, default=ROOT, help="root of the checkout; default: that of this file")
    given = parser.parse_args(arguments)
    stale = []
    for name in dict.fromkeys(path for path, *_ in PLACES):
        path = given.root / name
        text = path.read_text(encoding="utf-8")
        if (new := written(name, text)) != text:
            stale.append(name)
            if not given.check:
                path.write_text(new, encoding="utf-8")
    for name in stale:
        sys.stdout.write(f"{name}: {'differs; run make run-options' if given.check else 'written'}\n")
    return 1 if given.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
