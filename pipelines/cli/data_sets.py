"""Commands for what is published: versions, rollback, promote, verify, prune."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipelines.cli.options import data_root
from pipelines.exit_statuses import FOUND_FAULTS
from pipelines.names import LATEST

if TYPE_CHECKING:
    from pipelines.store.data_root import DataRoot


def open_root(location: str, data_set: str | None = None) -> DataRoot:
    """Open a data root that holds something.

    Raises
    ------
    VersionNotFoundError
        There is no such root, or nothing is published there.
    """
    from pipelines.store.data_root import DataRoot
    from swftools.errors import VersionNotFoundError

    root = DataRoot.open(location)
    if "://" not in location and not Path(location).expanduser().is_dir():
        raise VersionNotFoundError(f"there is no data root {root.location}; mend --data-root, or publish by augment")
    if not data_set and not root.data_sets():
        raise VersionNotFoundError(f"{root.location}: nothing is published there; publish by: swftools augment")
    return root


@click.command(short_help="List data sets, versions (* is latest) or tables.")
@click.argument("data_set", required=False)
@click.argument("version", required=False)
@data_root
def versions(data_set: str | None, version: str | None, data_root: str) -> None:
    """List data sets, the versions of one, newest first (* marks latest), or the tables of one version.

    \b
    Example: swftools versions KTH-SP2-1996-2.1-cln
    """
    root = open_root(data_root, data_set)
    if data_set and version:
        manifest = root.manifest(data_set, version)
        click.echo(root.path(data_set, manifest["version"]))
        for name, table in manifest["tables"].items():
            click.echo(f"  {name:<24} {table['rows']:>12,} rows")
        return
    for name in [data_set] if data_set else root.data_sets():
        click.echo(name)
        for listed in root.versions(name):
            mark = "*" if listed.is_latest else " "
            jobs = "" if listed.jobs is None else f"{listed.jobs:,} jobs"
            when = f"{listed.published_at:%Y-%m-%d %H:%M:%S}Z"
            click.echo(f"{mark} {listed.version}  {when} {jobs:>16} {listed.bytes:>14,} bytes")
            if listed.damage:
                click.echo(f"    damaged: {listed.damage}")


@click.command(short_help="Move latest back to an earlier version.")
@click.argument("data_set")
@click.argument("version", required=False)
@data_root
def rollback(data_set: str, version: str | None, data_root: str) -> None:
    """Move latest of DATA_SET back to VERSION, or to the version published before it; nothing is removed.

    VERSION may be the beginning of a version's name.
    """
    root = open_root(data_root, data_set)
    click.echo(f"{data_set}: latest is now {root.rollback(data_set, version)}")


@click.command(short_help="Move latest to a version.")
@click.argument("data_set")
@click.argument("version")
@data_root
def promote(data_set: str, version: str, data_root: str) -> None:
    """Move latest of DATA_SET to VERSION, as after a rollback.

    VERSION may be the beginning of a version's name.
    """
    root = open_root(data_root, data_set)
    click.echo(f"{data_set}: latest is now {root.promote(data_set, version)}")


@click.command(short_help="Check the files of a version by their checksums.")
@click.argument("data_set")
@click.argument("version", default=LATEST)
@data_root
def verify(data_set: str, version: str, data_root: str) -> None:
    """Check every file of a published version against the manifest's checksums; exit with 1 if one differs.

    VERSION may be the beginning of a version's name.
    """
    root = open_root(data_root, data_set)
    version = root.resolve(data_set, version)
    problems = root.verify(data_set, version)
    for problem in problems:
        click.echo(problem)
    click.echo(f"{data_set} {version}: {f'{len(problems)} problems' if problems else 'sound'}")
    sys.exit(FOUND_FAULTS if problems else 0)


@click.command(short_help="Remove what nobody needs: versions, work files.")
@click.argument("data_set", required=False)
@click.option("--keep", type=click.IntRange(0), default=1, show_default=True, help="Newest versions to keep of each.")
@click.option("--yes", is_flag=True, help="Remove; without it only say what would be removed.")
@data_root
def prune(data_set: str | None, keep: int, yes: bool, data_root: str) -> None:
    """Remove old versions, of DATA_SET or of all, and what stages keep in the work directory.

    The version that latest names stays, and so do the newest ones; the work directory is a cache.

    \b
    Example: swftools prune KTH-SP2-1996-2.1-cln --keep 2 --yes
    """
    from pipelines.config import work_root
    from pipelines.store.prune import carry_out, plan_prune, plan_prune_work

    root = open_root(data_root, data_set)
    plans = [plan_prune(root, data_set, keep)]
    if not data_set:
        plans.append(plan_prune_work(work_root(data_root)))
    removals = [removal for plan in plans for removal in plan]
    for path, size, why in removals:
        click.echo(f"{size:>14,} bytes  {path}\n{'':>22}{why}")
    if yes:
        for plan in plans:
            carry_out(plan)
    total = sum(size for _, size, _ in removals)
    end = "removed" if yes else "could be removed; do it by --yes"
    click.echo(f"{total:,} bytes in {len(removals):,} places {end}" if removals else "nothing to remove")
