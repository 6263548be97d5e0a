# SPDX-License-Identifier: BSD-3-Clause
"""What packages it agrees with ``setup.cfg``: the recipe, the citation, the container, the checks before a commit."""

from __future__ import annotations

import configparser
import re
import shlex
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipelines.cli.main import main
from swftools import __version__
from tests.folders import ROOT

CONDA_NAMES = {"tzdata": "python-tzdata"}
"""Packages that conda-forge calls otherwise."""


def read(name: str) -> Any:
    """Return a YAML file of the checkout."""
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def setup() -> configparser.ConfigParser:
    """Return setup.cfg."""
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    return parser


def test_the_recipe_requires_what_setup_does() -> None:
    """Name by name, bound by bound."""
    wanted = {}
    for line in setup()["options"]["install_requires"].strip().splitlines():
        name, bound = re.fullmatch(r"([\w.-]+) (>= [\w.]+(?:, < [\w.]+)?)(?:;.*)?", line).groups()  # type: ignore[union-attr]
        wanted[CONDA_NAMES.get(name, name)] = bound.replace(" ", "")
    recipe = read("recipe/recipe.yaml")
    given = dict(line.split(" ", 1) for line in recipe["requirements"]["run"])
    assert given.pop("python") == ">=${{ python_min }}"
    assert given == wanted
    (script,) = setup()["options.entry_points"]["console_scripts"].strip().splitlines()
    assert recipe["build"]["python"]["entry_points"] == [script]
    assert recipe["context"]["version"] == __version__
    assert recipe["about"]["summary"] == setup()["metadata"]["description"]


def test_packages_hold_what_is_no_code() -> None:
    """Each file of them that git knows, and what links of theirs lead to, is of a kind that setup.cfg names."""
    listed = subprocess.run(
        ["git", "ls-files", "swftools", "pipelines"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    files = [Path(name) for name in listed]
    files += [each / inner.name for each in files if (ROOT / each).is_dir() for inner in (ROOT / each).iterdir()]
    named = {package: globs.split() for package, globs in setup()["options.package_data"].items()}
    others = [path for path in files if path.suffix != ".py" and not (ROOT / path).is_dir()]
    assert {"data_catalog.yaml", "luigi.cfg", "jobs.schema.json"} <= {path.name for path in others}

    def is_named(path: Path) -> bool:
        package, *rest = path.parts
        return any(Path(*rest).match(glob) and len(Path(glob).parts) == len(rest) for glob in named[package])

    assert [str(path) for path in others if not is_named(path)] == []
    assert all((ROOT / path).is_file() for path in others), "no link leads nowhere"


def test_the_citation_is_of_this_version() -> None:
    """It has what the format asks for, and the version and licence of the package."""
    citation = read("CITATION.cff")
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert (citation["version"], citation["license"]) == (__version__, setup()["metadata"]["license"])


def commands() -> list[list[str]]:
    """Return the swftools commands that the Containerfile and its comment run."""
    text = (ROOT / "examples" / "container" / "Containerfile").read_text(encoding="utf-8")
    lines = re.findall(r"(?:^RUN |swftools )swftools ([^&\n]+)|/srv/swftools swftools ([^&\n]+)", text, re.MULTILINE)
    return [shlex.split(first or second) for first, second in lines]


@pytest.mark.parametrize("command", commands(), ids=lambda command: command[0])
def test_the_container_runs_commands_that_there_are(command: list[str]) -> None:
    """Each with its options."""
    known = main.commands[command[0]]
    options = {name for parameter in known.params for name in parameter.opts}
    assert {word for word in command if word.startswith("--")} <= options


def test_the_container_has_commands() -> None:
    """So that the test above cannot pass on nothing."""
    assert [command[0] for command in commands()] == ["reevaluate", "warm-up"]


def test_checks_before_a_commit_are_those_of_make() -> None:
    """Each hook runs a tool that ``make lint`` or ``make types`` runs."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (repository,) = read(".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    for hook in repository["hooks"]:
        program, *rest = hook["entry"].split()
        assert program.startswith(".venv/bin/")
        words = [word for word in rest if word not in ("--force-exclude", "--fix")]
        assert " ".join(["$(BIN)/" + program.removeprefix(".venv/bin/"), *words]) in makefile


def test_every_python_file_names_its_licence() -> None:
    """In its first line, or behind ``#!``; ``make licence`` adds what is missing."""
    notice = f"# SPDX-License-Identifier: {setup()['metadata']['license']}"
    names = subprocess.run(
        ["git", "ls-files", "*.py", "*.pyi"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    assert len(names) > 1000
    beginnings = {name: (ROOT / name).read_text(encoding="utf-8").splitlines()[:2] for name in names}
    lacking = [name for name, lines in beginnings.items() if notice != lines[lines[0].startswith("#!")]]
    assert lacking == []


def test_the_linter_asks_for_the_same_line() -> None:
    """By the same words."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"]["lint"]
    assert re.search(
        settings["flake8-copyright"]["notice-rgx"],
        f"#!/bin/sh\n# SPDX-License-Identifier: {setup()['metadata']['license']}\n",
    )
