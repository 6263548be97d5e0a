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

LEAST_PREFIX = 4
"""Fewest characters that may stand for a version."""


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


def resolve(root: DataRoot, data_set: str, version: str) -> str:
    """Return the version that a name, or a beginning that only one has, means; others as they are.

    Raises
    ------
    ParameterError
        Several versions begin so.
    """
    names = [listed.version for listed in root.versions(data_set)]
    if version in (LATEST, *names) or len(version) < LEAST_PREFIX:
        return version
    meant = [name for name in names if name.startswith(version)]
    if len(meant) > 1:
        from swftools.errors import ParameterError

        raise ParameterError(f"{data_set}: {len(meant)} versions begin with {version}: {', '.join(sorted(meant))}")
    return meant[0] if meant else version


@click.command()
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
        manifest = root.manifest(data_set, resolve(root, data_set, version))
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


@click.command()
@click.argument("data_set")
@click.argument("version", required=False)
@data_root
def rollback(data_set: str, version: str | None, data_root: str) -> None:
    """Move latest of DATA_SET back to VERSION, or to the version published before it; nothing is removed.

    VERSION may be the beginning of a version's name.
    """
    root = open_root(data_root, data_set)
    chosen = version and resolve(root, data_set, version)
    click.echo(f"{data_set}: latest is now {root.rollback(data_set, chosen)}")


@click.command()
@click.argument("data_set")
@click.argument("version")
@data_root
def promote(data_set: str, version: str, data_root: str) -> None:
    """Move latest of DATA_SET to VERSION, as after a rollback.

    VERSION may be the beginning of a version's name.
    """
    root = open_root(data_root, data_set)
    click.echo(f"{data_set}: latest is now {root.promote(data_set, resolve(root, data_set, version))}")


@click.command()
@click.argument("data_set")
@click.argument("version", default=LATEST)
@data_root
def verify(data_set: str, version: str, data_root: str) -> None:
    """Check every file of a published version against the manifest's checksums; exit with 1 if one differs.

    VERSION may be the beginning of a version's name.
    """
    root = open_root(data_root, data_set)
    version = resolve(root, data_set, version)
    problems = root.verify(data_set, version)
    for problem in problems:
        click.echo(problem)
    click.echo(f"{data_set} {version}: {f'{len(problems)} problems' if problems else 'sound'}")
    sys.exit(FOUND_FAULTS if problems else 0)


@click.command()
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
    plan = [*plan_prune(root, data_set, keep), *([] if data_set else plan_prune_work(work_root(data_root)))]
    for path, size, why in plan:
        click.echo(f"{size:>16,} bytes  {path}\n{'':>24}{why}")
    total = sum(size for _, size, _ in plan)
    if yes:
        carry_out(plan)
    end = "removed" if yes else "to remove; run again with --yes to remove them"
    click.echo(f"{len(plan):,} directories, {total:,} bytes {end}" if plan else "nothing to remove")
