# SPDX-License-Identifier: BSD-3-Clause
"""What ``compare`` does with candidates: changes, each of which is set beside what is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from pipelines.cli.completion import complete_policy
from pipelines.cli.options import together
from pipelines.cli.output import check_folder

candidate_options = together(
    click.option(
        "--policy",
        shell_complete=complete_policy,
        help="Of candidates: the policy as it is; default: slurm if the machine says how it is set, else easy.",
    ),
    click.option("--phases", type=click.IntRange(1), help="Of slurm: runs with so many beginnings of its cycles."),
)
"""The options that only candidates have."""

tables_option = click.option(
    "-o", "--output", metavar="FOLDER", help="Also write every table into this folder, as CSV."
)


def check_tables_folder(output: str | None) -> None:
    """Refuse a folder for tables that is a file, or cannot be made.

    Raises
    ------
    click.UsageError
        Says what to do.
    """
    if output is None:
        return
    if Path(output).exists() and not Path(output).is_dir():
        raise click.UsageError(f"{output}: is a file; name a folder, for a file of each table")
    check_folder(output, Path(output).resolve().parent)


def chosen_task(options: dict[str, Any]) -> str:
    """Return the task that ``compare`` runs, with its options: of candidates, if changes and no policies are given.

    Raises
    ------
    click.UsageError
        An option is given that goes with the other task.
    """
    policy, phases = options["policy"], options["phases"]
    if options["policies"] is not None or options["changes"] is None:
        if policy is not None or phases is not None:
            name = "--policy" if policy is not None else "--phases"
            raise click.UsageError(
                f"{name} is of candidates; name some by --change, as --change nodes.gpu.count+=8, and leave "
                "--policies out"
            )
        return "ComparePolicies"
    for name in ("schedules", "synthetic"):
        if options[name]:
            raise click.UsageError(f"--{name} is of a table of policies; give --policies too, or leave it out")
    options["candidates"] = options.pop("changes")
    for name in ("schedules", "synthetic", "policies"):
        del options[name]
    return "CompareCandidates"


def writes_tables(output: str | None) -> Callable[[Any], None]:
    """Return what writes the tables of the version that a task published into a folder, as CSV."""

    def write(task: Any) -> None:
        if output is None:
            return
        from pipelines.store.data_root import DataRoot
        from swftools.output.whole_files import create_file
        from swftools.tables import to_pandas

        root = DataRoot.open(task.data_root)
        manifest = root.manifest(task.data_set_name, task.version)
        folder = Path(output)
        folder.mkdir(exist_ok=True)
        for name in manifest["tables"]:
            table = to_pandas(root.read_described(manifest, name), name)
            with create_file(folder / f"{name}.csv") as file:
                file.write(table.to_csv(index=False, lineterminator="\n").encode())

    return write
