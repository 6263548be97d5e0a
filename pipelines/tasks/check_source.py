# SPDX-License-Identifier: BSD-3-Clause
"""CheckSource: a data set's versions come from one log, as it grows, unless its user says otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import luigi

from pipelines.logs.find import is_there
from pipelines.logs.sources import continues
from pipelines.store.data_root import DataRoot
from pipelines.tasks.acquire import AcquireLog, text_tasks
from pipelines.tasks.log_task import LogTask
from swftools.errors import OtherSourceError, StorageError, VersionNotFoundError


class CheckSource(LogTask):
    """Refuse to publish a version of another log than the data set's earlier versions.

    Reads their manifests and, if the log is not the one that they name, as much of its text as theirs had. Writes
    nothing. Complete when the log is the same, or begins with one of theirs.
    """

    priority = 100
    data_set = luigi.Parameter(description="name that is published under")
    other_source = luigi.BoolParameter(default=False, description="the log may be another one")

    @property
    def subject(self) -> str:
        """What the task is about, for messages."""
        return f"{self.log} for data set {self.data_set}"

    def requires(self) -> list[luigi.Task]:
        """Require the log's text where it is not at hand."""
        return [] if self.found.model or self.found.version or self._text() else text_tasks(self)

    def output(self) -> list[luigi.Target]:
        """Return nothing: this only looks."""
        return []

    def is_done(self) -> bool:
        """Whether the log is known to be the same, or a continuation."""
        return self.problem() is None

    def is_refused(self) -> bool:
        """Whether the log is known to be another one, so that no work on it is of use."""
        is_known = bool(self.found.model or self.found.version) or self._text() is not None
        return is_known and not self.is_done()

    def run(self) -> None:
        """Look into the log.

        Raises
        ------
        OtherSourceError
            It is another one.
        """
        if problem := self.problem():
            raise OtherSourceError(problem)

    def problem(self) -> str | None:
        """Return why the log must not be published under the name, and what to do; None if it may.

        A log that is not at hand yet, and is not the same, may still be a continuation: it counts as a problem until
        it can be looked into.
        """
        if self.other_source:
            return None
        other: dict[str, Any] | None = None
        for version, log in self._earlier_logs():
            if self._is_same(log) or self._is_grown(log):
                return None
            other = other or {"version": version, "name": log.get("name", "unknown"), "key": str(log["key"])[:16]}
        if other is None:
            return None
        return (
            f"data set {self.data_set!r} in {self.data_root}: version {other['version']} was made of another log "
            f"({other['name']}, sha256 {other['key']}...), of which {self.log} is no continuation; publish under "
            "another name by --data-set NAME, or say by --other-source that one data set is to have both"
        )

    def _earlier_logs(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield version and log of what is published under the name: of `latest` first, which mostly is enough."""
        root = DataRoot.open(self.data_root)
        versions = ["latest"]
        seen = set()
        while versions:
            version = versions.pop(0)
            with suppress(VersionNotFoundError, StorageError):  # a damaged version says nothing of its log
                manifest = root.manifest(self.data_set, version)
                log = manifest.get("log")
                if isinstance(log, dict) and "key" in log and manifest["version"] not in seen:
                    seen.add(manifest["version"])
                    yield manifest["version"], log
            if version == "latest":
                with suppress(VersionNotFoundError, StorageError):
                    versions = [listed.version for listed in root.versions(self.data_set)]

    def _is_same(self, log: dict[str, Any]) -> bool:
        """Whether an earlier log is this one."""
        return bool(log["key"] == self.log_key)

    def _is_grown(self, log: dict[str, Any]) -> bool:
        """Whether an earlier log is the beginning of this one."""
        text = self._text()
        if text is None or not isinstance(log.get("bytes"), int):
            return False
        return continues(text, log["bytes"], str(log["key"]), self.found.how)

    def _text(self) -> Path | None:
        """Return a file with the log's text, if there is one at hand."""
        found = self.found
        if found.model or found.problem or found.damage or found.version:
            return None
        if found.path is None and self.withholds:
            return None  # it is downloaded to be read, and not kept
        path = found.path or self.clone(AcquireLog).path
        return path if is_there(path) else None
