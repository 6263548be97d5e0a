# SPDX-License-Identifier: BSD-3-Clause
"""ReevaluateLogs: take what has arrived into a history, evaluate it again, and publish what came of it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import luigi

from pipelines.config import work_root
from pipelines.history.findings import Finding
from pipelines.history.inbox import Arrival, FileStamps, Inbox, Unreadable
from pipelines.history.ingest import Night, ingest, look
from pipelines.history.lock import one_at_a_time
from pipelines.history.months import augmentations_wanted, begins_of
from pipelines.history.publication import publish
from pipelines.history.reevaluation_run import ReevaluationRun
from pipelines.history.settings import Settings, privacy_of, read_settings
from pipelines.history.state import HistoryState
from pipelines.logs.find import catalog_in_use
from pipelines.logs.how_read import HowRead
from pipelines.reports import put_report
from pipelines.store.data_root import DataRoot
from pipelines.store.prune import carry_out, plan_prune
from pipelines.store.staging import make_directories, staging
from pipelines.store.storage import storage_errors
from pipelines.tasks.progress import Parts
from pipelines.tasks.stage_task import StageTask
from swftools.errors import HistoryError, ParameterError, SupersededError, SwfToolsError
from swftools.kernel.memory import give_back_memory
from swftools.output.whole_files import create_file

progress = logging.getLogger("pipelines")

_ATTEMPTS = 5
"""How often a run begins anew because another one published meanwhile."""


@dataclass(frozen=True)
class RunOutcome:
    """What came of a run.

    Parameters
    ----------
    version : str or None
        The history's version that tells of it; None where no job has come yet.
    is_new : bool
        Whether this run made it.
    taken : list of dict
        The rows of the table ``ingested`` that are new.
    waiting : list of dict
        The rows of the table ``waiting``.
    findings : list of Finding
        What a person should look at.
    report : str or None
        Where its report is, if it has one.
    """

    version: str | None
    is_new: bool
    taken: list[dict[str, Any]] = field(default_factory=list)
    waiting: list[dict[str, Any]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    report: str | None = None


class HistoryTarget(luigi.Target):
    """The latest version of a history; whether it is what it should be is for the task to say."""

    def __init__(self, root: DataRoot, name: str) -> None:
        self.root, self.name = root, name

    @property
    def path(self) -> str:
        """Path or URI of the version."""
        return self.root.path(self.name)

    def exists(self) -> bool:
        """Whether there is a version."""
        return self.root.latest(self.name) is not None


class ReevaluateLogs(StageTask):
    """Add new logs of an inbox to a history, and evaluate it again.

    Reads the files of the inbox and the latest version of the history. Writes ``<data root>/<history>/<version>/`` with
    the jobs of all files by month, the records behind them, the files, predictions of waits and how good they are, and
    ``summary.md``; and a report beside it if the settings ask for one. Complete when the history has everything in the
    inbox, by the same settings.
    """

    settings = luigi.Parameter(default="", description="path of reevaluate.yaml; default: all as by default")
    inbox = luigi.Parameter(default="", description="folder, or s3://bucket/prefix, where files arrive")
    history = luigi.Parameter(default="", description="name of the data set; default: history")
    card = luigi.Parameter(
        default="", description="card of the log in data_catalog.yaml; default: that of the settings"
    )
    format = luigi.Parameter(default="", description="format with options, as slurm:time_zone=UTC; default: likewise")
    processors = luigi.IntParameter(default=0, description="processors of the machine; 0: those of the settings")

    _has_run = False
    _looked: tuple[HistoryState, FileStamps, tuple[list[Arrival], list[Unreadable]]] | None = None
    """What ``complete`` saw, which ``run`` need not look up again."""

    def check_values(self) -> None:
        """Raise if a setting is wrong."""
        super().check_values()
        if not self.chosen.inbox:
            raise ParameterError("inbox: give the folder where files arrive, by --inbox or in the settings")
        augmentations_wanted(self.chosen, self.root.location)

    @cached_property
    def chosen(self) -> Settings:
        """The settings, with what was given beside them."""
        log = {"card": self.card, "format": self.format, "processors": self.processors}
        return read_settings(self.settings or None, {"inbox": self.inbox, "history": self.history, "log": log})

    @cached_property
    def root(self) -> DataRoot:
        """Where it is published."""
        return DataRoot.open(self.data_root)

    @property
    def subject(self) -> str:
        """What the task is about, for messages."""
        return self.chosen.history

    @property
    def how(self) -> HowRead:
        """How files are read."""
        chosen = self.chosen.log
        card = catalog_in_use().log(chosen.card) if chosen.card else None
        return HowRead(chosen.format or (card.read_as if card else ""), chosen.anonymise).checked()

    @property
    def cache(self) -> Path:
        """Where the lock is, and what is known of the inbox's files by their time stamps."""
        return work_root(self.data_root) / "inbox"

    def check(self) -> None:
        """Raise if the inbox is not there, the data set is not a history, or an augmentation has no place in one."""
        Inbox(self.chosen.inbox)
        self.published()
        augmentations_wanted(self.chosen, self.root.location)

    def output(self) -> HistoryTarget:
        """Return the history."""
        return HistoryTarget(self.root, self.chosen.history)

    def is_done(self) -> bool:
        """Whether the history has all that the inbox has, by the same settings."""
        if self._has_run:
            return True
        self._looked = self._look()
        state, _, looked = self._looked
        if state.version is not None:
            if not self.root.is_published(self.chosen.history, state.version):
                return False
            self.root.check_whole(self.chosen.history, state.version, tables_only=True)  # the rest is mended
        if any(arrival.is_new for arrival in looked[0]) or state.version is None:
            return False
        with self._staging() as folder:
            night = self._ingest(state, looked, folder)
            if ReevaluationRun(self.chosen, night, folder, _nothing).version != state.version:
                return False
        return not self.chosen.report or self.root.has_report(self.chosen.history, state.version)

    def run(self) -> None:
        """Take what has arrived, and publish."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                with one_at_a_time(self.cache, self.chosen.history):
                    self._run()
                    self._write_report()
            except SupersededError:
                if attempt == _ATTEMPTS:
                    raise
                progress.info("another run published meanwhile; beginning anew")
                self._looked = None
            else:
                self._has_run = True
                return

    def _run(self) -> None:
        """Publish what has arrived, if it makes another version."""
        chosen, root = self.chosen, self.root
        if self._looked is None or self._looked[0].version != root.latest(chosen.history):
            self._looked = self._look()
        state, seen, looked = self._looked
        self._looked = None
        self._keep(seen)
        told = self._parts().tell
        with self._staging() as folder:
            night = self._ingest(state, looked, folder, partial(told, "read"))
            told("read", 1, 1)
            run = ReevaluationRun(chosen, night, folder, self._say, told)
            if not run.labels:
                return
            if run.version == state.version:
                if not root.is_published(chosen.history, run.version):  # killed before all had followed
                    root.promote(chosen.history, run.version)
                return
            publication = publish(run, root)
            if root.latest(chosen.history) != publication.version:
                if night.taken:
                    raise HistoryError(
                        f"{publication.path} is published already, and latest is {state.version}: it was moved back; "
                        f"move it by swftools promote {chosen.history} {publication.version}, or begin another history"
                    )
                # The files are the same: settings are as they once were, or what could not be read is gone.
                root.promote(chosen.history, publication.version)
        if chosen.keep:
            carry_out(plan_prune(root, chosen.history, keep=chosen.keep))

    def _write_report(self) -> None:
        """Write the report of the latest version, if one is wanted and not there.

        Raises
        ------
        HistoryError
            It could not be written, whatever for; the version is published, and the next run tries again.
        """
        name, version = self.chosen.history, self.root.latest(self.chosen.history)
        if not self.chosen.report or version is None or self.root.has_report(name, version):
            return
        give_back_memory()
        try:
            put_report(self.root, name, version)
        except Exception as error:
            told = str(error) if isinstance(error, SwfToolsError) else repr(error)
            raise HistoryError(f"no report was written: {told}") from error

    def published(self) -> HistoryState:
        """Return the history as it is published now."""
        return HistoryState.load(self.root, self.chosen.history)

    def outcome_since(self, before: HistoryState) -> RunOutcome:
        """Return what came of the runs since the history was as it was before, by what they have published."""
        state = self.published()
        if state.version is None:
            _, _, looked = self._look()
            with self._staging() as folder:
                return RunOutcome(None, is_new=False, waiting=self._ingest(state, looked, folder).waiting)
        waiting: list[Any] = state.waiting.to_dict("records")
        has_report = self.chosen.report and self.root.has_report(self.chosen.history, state.version)
        return RunOutcome(
            state.version,
            state.version != before.version,
            state.files_behind(before.file_count),
            waiting,
            [Finding(**found) for found in state.manifest.get("findings", ())],
            self.root.report_path(self.chosen.history, state.version) if has_report else None,
        )

    def _ingest(
        self,
        state: HistoryState,
        looked: tuple[list[Arrival], list[Unreadable]],
        folder: Path,
        tell: Callable[[int, int], None] = lambda _, __: None,
    ) -> Night:
        """Return the history with what has arrived."""
        return ingest(state, self._inbox, looked, self.how, folder, tell, begins_of(self.chosen, state))

    @property
    def _inbox(self) -> Inbox:
        return Inbox(self.chosen.inbox, self.chosen.log.most_bytes)

    def _staging(self) -> AbstractContextManager[Path]:
        """Give a folder for what is on its way, which nobody else may look into."""
        return staging(work_root(self.data_root), "night", is_private=True)

    def _look(self) -> tuple[HistoryState, FileStamps, tuple[list[Arrival], list[Unreadable]]]:
        """Return the state of the history, what is known of the inbox, and what it has beyond the history."""
        state = self.published()
        if state.version is not None and state.manifest.get("privacy", {}) != privacy_of(self.chosen):
            raise HistoryError(
                f"history {self.chosen.history}: log: anonymise: or the key of the hashes is not what it was when the "
                "history was begun, so no user would be recognised; restore it, or begin another history"
            )
        seen = FileStamps(_read_cache(self._seen_file))
        return state, seen, look(state, self._inbox, seen)

    @property
    def _seen_file(self) -> Path:
        return self.cache / f"{self.chosen.history}.json"

    def _keep(self, seen: FileStamps) -> None:
        """Keep what is known of the inbox's files, so that the next run need not read them."""
        path = self._seen_file
        with storage_errors(f"{path}: nothing was published"):
            make_directories(path.parent)
            with create_file(path) as file:
                file.write(json.dumps(seen.to_mapping()).encode())

    def _parts(self) -> Parts:
        """Return what the stage consists of: files, months of jobs and of waits by each method, runs of policies."""
        waits, policies = self.chosen.waits, self.chosen.policies
        runs = 2 * len(policies.names) * policies.seeds
        return Parts(
            self.tell, {"read": 3, "jobs": 3, "waits": 2 * len(waits.methods), "policies": 0.3 * runs, "rest": 1}
        )

    def _say(self, what: str) -> None:
        progress.debug("%s: %s", self.label, what)


def _nothing(_: str) -> None:
    """Say nothing."""


def _read_cache(path: Path) -> dict[str, Any]:
    """Return what was kept, nothing where it cannot be read."""
    try:
        found: dict[str, Any] = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
