# SPDX-License-Identifier: BSD-3-Clause
"""Commands for what is published: versions, tag, rollback, promote, verify, prune."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipelines.cli.completion import complete_data_set, complete_version
from pipelines.cli.options import data_root
from pipelines.cli.output import json_option, print_json
from pipelines.exit_statuses import FOUND_FAULTS
from pipelines.names import LATEST
from swftools.output.amounts import counted
from swftools.output.shown_text import shown

if TYPE_CHECKING:
    from pipelines.store.data_root import DataRoot
    from pipelines.store.tags import Tag


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


@click.command(short_help="List data sets, their versions and tags, or tables.")
@click.argument("data_set", required=False, shell_complete=complete_data_set)
@click.argument("version", required=False, shell_complete=complete_version)
@json_option
@data_root
def versions(data_set: str | None, version: str | None, as_json: bool, data_root: str) -> None:
    """List data sets; or the versions of one with their tags, newest first, * for latest; or the tables of a version.

    VERSION may be a tag, or the beginning of a version's name.

    \b
    Example: swftools versions KTH-SP2-1996-2.1-cln
    """
    root = open_root(data_root, data_set)
    if as_json:
        print_json(_table_of(root, data_set, version) if data_set and version else _versions_of(root, data_set))
        return
    if data_set and version:
        manifest = root.manifest(data_set, version)
        click.echo(root.path(data_set, manifest["version"]))
        for name, table in manifest["tables"].items():
            click.echo(f"  {name:<24} {table['rows']:>12,} rows")
        return
    for name in [data_set] if data_set else root.data_sets():
        click.echo(shown(name))
        for listed in root.versions(name):
            mark = "*" if listed.is_latest else " "
            jobs = "" if listed.jobs is None else counted(listed.jobs, "job")
            when = f"{listed.published_at:%Y-%m-%d %H:%M:%S}Z"
            click.echo(f"{mark} {listed.version}  {when} {jobs:>16} {listed.bytes:>14,} bytes")
            if listed.damage:
                click.echo(f"    damaged: {shown(listed.damage)}")
            if listed.tags:
                click.echo(f"    tag{'s' * (len(listed.tags) > 1)}: {', '.join(listed.tags)}")
        for tag in root.tags(name):
            if tag.damage or not root.is_there(name, str(tag.version)):
                click.echo(f"  {_tag_line(root, name, tag)}")


def _table_of(root: DataRoot, data_set: str, version: str) -> dict[str, Any]:
    """Return the tables of a version, for programs."""
    manifest = root.manifest(data_set, version)
    tables = {name: table["rows"] for name, table in manifest["tables"].items()}
    return {
        "data_set": data_set,
        "version": manifest["version"],
        "path": root.path(data_set, version),
        "tables": tables,
    }


def _versions_of(root: DataRoot, data_set: str | None) -> list[dict[str, Any]]:
    """Return what is published, newest first, for programs."""
    return [
        {
            "data_set": name,
            "version": listed.version,
            "is_latest": listed.is_latest,
            "published_at": f"{listed.published_at:%Y-%m-%dT%H:%M:%S}Z",
            "jobs": listed.jobs,
            "bytes": listed.bytes,
            "damage": listed.damage or None,
            "tags": list(listed.tags),
        }
        for name in ([data_set] if data_set else root.data_sets())
        for listed in root.versions(name)
    ]


def _tag_line(root: DataRoot, data_set: str, tag: Tag) -> str:
    """Return which version a tag names, and what is wrong with it."""
    if tag.damage:
        return f"tag {tag.name}: damaged: {shown(tag.damage)}"
    gone = "" if root.is_there(data_set, str(tag.version)) else ", which is gone"
    return f"tag {tag.name}: {tag.version}{gone}"


@click.command(short_help="Name a version for good; list or delete tags.")
@click.argument("data_set", shell_complete=complete_data_set)
@click.argument("words", nargs=-1, metavar="[VERSION TAG]")
@click.option("--delete", is_flag=True, help="Delete a tag: swftools tag --delete DATA_SET TAG; its version stays.")
@click.option("--force", is_flag=True, help="Move a tag that names another version.")
@data_root
def tag(data_set: str, words: tuple[str, ...], delete: bool, force: bool, data_root: str) -> None:
    """Give VERSION of DATA_SET a lasting name, TAG, to use wherever a version is asked for; without TAG, list the tags.

    Tagged versions are never pruned. VERSION may be latest, another tag, or the beginning of a version's name.

    \b
    Example: swftools tag KTH-SP2-1996-2.1-cln latest paper-2026
    """
    if len(words) != 1 if delete else len(words) not in (0, 2):
        raise click.UsageError("give DATA_SET, or DATA_SET VERSION TAG, or --delete DATA_SET TAG")
    if force and (delete or not words):
        raise click.UsageError("--force moves a tag: give DATA_SET VERSION TAG")
    root = open_root(data_root, data_set)
    if delete:
        root.remove_tag(data_set, words[0])
        click.echo(f"{data_set}: tag {words[0]} is deleted")
    elif words:
        version = root.tag(data_set, words[0], words[1], force=force)
        click.echo(f"{data_set}: tag {words[1]} names {version}")
    else:
        tags = root.tags(data_set)
        # An unknown data set is no data set without tags.
        if not tags:
            root.versions(data_set)
        for found in tags:
            click.echo(_tag_line(root, data_set, found))


@click.command(short_help="Move latest back to an earlier version.")
@click.argument("data_set", shell_complete=complete_data_set)
@click.argument("version", required=False, shell_complete=complete_version)
@data_root
def rollback(data_set: str, version: str | None, data_root: str) -> None:
    """Move latest of DATA_SET back to VERSION, or to the version published before it; nothing is removed.

    VERSION may be a tag, or the beginning of a version's name.
    """
    root = open_root(data_root, data_set)
    click.echo(f"{data_set}: latest is now {root.rollback(data_set, version)}")


@click.command(short_help="Move latest to a version.")
@click.argument("data_set", shell_complete=complete_data_set)
@click.argument("version", shell_complete=complete_version)
@data_root
def promote(data_set: str, version: str, data_root: str) -> None:
    """Move latest of DATA_SET to VERSION, as after a rollback.

    VERSION may be a tag, or the beginning of a version's name.
    """
    root = open_root(data_root, data_set)
    click.echo(f"{data_set}: latest is now {root.promote(data_set, version)}")


@click.command(short_help="Check the files of a version, and the keys of a history.")
@click.argument("data_set", shell_complete=complete_data_set)
@click.argument("version", default=LATEST, shell_complete=complete_version)
@click.option("--mend", "mends", is_flag=True, help="Publish a mended version of a history whose keys are wrong.")
@json_option
@data_root
def verify(data_set: str, version: str, mends: bool, as_json: bool, data_root: str) -> None:
    """Check every file of a published version against the manifest's checksums; exit with 1 if one differs.

    Also that current, the link to the latest version, leads to it.

    Of a history also that each job has a key of its own, and that the counts of its files come to its jobs. VERSION may
    be a tag, or the beginning of a version's name. --mend is of the latest version; the damaged one stays.
    """
    root = open_root(data_root, data_set)
    version = root.resolve(data_set, version)
    if mends and version != root.latest(data_set):
        raise click.UsageError("--mend is of the latest version; leave VERSION out")
    problems = list(root.verify(data_set, version))
    damage: list[str] = []
    if not problems and "records" in root.manifest(data_set, version)["tables"]:
        from pipelines.history.damage import damage_of

        damage = damage_of(root, data_set, version)
    problems += root.faults_of_link(data_set)
    mended = None
    if mends and damage:
        from pipelines.history.repair import mend

        mended = mend(root, data_set)
    is_wrong = bool(problems or damage) and mended is None
    if as_json:
        told = {"data_set": data_set, "version": version, "ok": not problems and not damage}
        print_json({**told, "problems": [*problems, *damage], **({"mended": mended} if mends else {})})
        sys.exit(FOUND_FAULTS if is_wrong else 0)
    for problem in (*problems, *damage):
        click.echo(shown(problem))
    count = len(problems) + len(damage)
    click.echo(f"{data_set} {version}: {f'{count} problems' if count else 'sound'}")
    if mended:
        click.echo(f"{data_set}: mended; latest is now {mended}")
    elif damage:
        click.echo(f"publish a mended version beside it by: swftools verify {data_set} --mend")
    sys.exit(FOUND_FAULTS if is_wrong else 0)


@click.command(short_help="Remove old versions and work files.")
@click.argument("data_set", required=False, shell_complete=complete_data_set)
@click.option("--keep", type=click.IntRange(0), default=1, show_default=True, help="Newest versions to keep of each.")
@click.option("--yes", is_flag=True, help="Remove them; without it, only list what would be removed.")
@json_option
@data_root
def prune(data_set: str | None, keep: int, yes: bool, as_json: bool, data_root: str) -> None:
    """Remove old versions, of DATA_SET or of all data sets, and the stored outputs of stages.

    Keeps latest, tagged versions and the newest ones. Outputs of stages are a cache, which the next run makes again.

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
    tagged = sum(len(plan.tagged) for plan in plans)
    if as_json:
        if yes:
            for plan in plans:
                carry_out(plan)
        print_json(
            {"is_removed": yes, "kept_for_their_tags": tagged, "removals": [each._asdict() for each in removals]}
        )
        return
    for path, size, why in removals:
        click.echo(f"{size:>14,} bytes  {shown(path)}\n{'':>22}{shown(why)}")
    if tagged:
        click.echo(f"kept for their tags: {tagged} version{'s' * (tagged > 1)}")
    if yes:
        for plan in plans:
            carry_out(plan)
    total = sum(size for _, size, _ in removals)
    end = "removed" if yes else "could be removed; do it by --yes"
    click.echo(f"{total:,} bytes in {counted(len(removals), 'place')} {end}" if removals else "nothing to remove")
