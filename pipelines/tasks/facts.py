# SPDX-License-Identifier: BSD-3-Clause
"""What a version says of the log it was made of: origin and terms, what became of the jobs, what had to be assumed."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import version as installed_version
from typing import Any

import pandas as pd
import pyarrow as pa

from pipelines.logs.find import Log
from swftools._version import __version__
from swftools.formats.swf.dialects import epoch_note
from swftools.named import Known
from swftools.tables import to_arrow
from swftools.trace import Trace

_SOFTWARE = ("numba", "numpy", "pandas", "pyarrow")


def card_of(log: Log) -> dict[str, Any]:
    """Return what a log's card says to every user of the data."""
    card = log.card or log.tables
    if card is None:
        return {"licence": "none needed: generated" if log.model else "none stated: the log has no card"}
    return {
        "title": card.title,
        "licence": card.licence,
        "acknowledgement": card.acknowledgement,
        "citation": card.citation,
        "source_url": card.url,
        "anomalies": list(card.anomalies),
    }


def origin_of(log: Log, trace: Trace) -> dict[str, Any]:
    """Return what is known of a log's origin, terms and anomalies: by its card, by reading it, else by its header."""
    header = trace.header
    by_header = {
        "licence": header.copyright and f"by the log's header: {header.copyright}",
        "acknowledgement": "\n".join(header.acknowledgements),
        "computer": header.computer,
        "installation": header.installation,
        "information": "\n".join(header.information),
        "conversion": header.conversion,
    }
    known = {name: text for name, text in by_header.items() if text}
    by_card = card_of(log)
    if log.card is None and "licence" in known:
        del by_card["licence"]
    counts = trace.provenance.get("anomalies", {})
    odd = [f"{told}: {count:,} record{'s' * (count != 1)}." for told, count in counts.items()]
    if odd:
        by_card["anomalies"] = [*by_card.get("anomalies", []), *odd]
    return {**known, **by_card}


def source_of(log: Log, trace: Trace) -> dict[str, Any]:
    """Return which log it is: the hash by which another version of the same log is known, its length, its name."""
    # The name under which the text was first read may be another: stages are kept by the text alone.
    return {**trace.provenance, "name": log.name, "key": log.sha256}


def account_of(report: pd.DataFrame) -> dict[str, Any]:
    """Return what became of the jobs that were read, from the table ``cleaning_report``.

    Returns
    -------
    dict
        ``job_lines_read`` and ``jobs_kept``; ``quarantined``, ``merged``, ``repaired`` and ``flagged`` by rule, without
        the rules that did nothing. Read = kept + quarantined + merged; repaired and flagged jobs are among the kept.
    """
    by_rule = {
        name: {str(rule): int(count) for rule, count in report.groupby("rule", sort=False)[name].sum().items() if count}
        for name in ("quarantined", "merged", "repaired", "flagged")
    }
    last = report.iloc[-1]
    return {"job_lines_read": int(report["jobs_in"].iloc[0]), "jobs_kept": int(last["jobs_out"]), **by_rule}


def facts_of(
    log: Log, trace: Trace, report: pd.DataFrame, parameters: Mapping[str, Any], *, is_simulated: bool = False
) -> dict[str, Any]:
    """Return all that a user of what was made of a log must know of it.

    Parameters
    ----------
    log : Log
        The log.
    trace : Trace
        Its cleaned trace.
    report : pandas.DataFrame
        Its cleaning_report.
    parameters : mapping of str to mapping
        As for ``assumptions_of``.
    is_simulated : bool
        It is, and the run says itself what it takes for requests that are missing.
    """
    return {
        **origin_of(log, trace),
        "log": source_of(log, trace),
        "machine_processors": trace.processors,
        "account": account_of(report),
        "assumptions": assumptions_of(log, trace, parameters, is_simulated=is_simulated),
    }


def assumptions_of(
    log: Log,
    trace: Trace,
    parameters: Mapping[str, Any],
    *,
    is_simulated: bool = False,
    unrequested: tuple[int, int] | None = None,
) -> list[str]:
    """Return in words what is not known of a log, and what was taken for it.

    Parameters
    ----------
    log : Log
        The log.
    trace : Trace
        Its cleaned trace.
    parameters : mapping of str to mapping
        Of each augmentation, every parameter by name.
    is_simulated : bool
        Missing requests are told by the run.
    unrequested : (int, int), optional
        How many jobs have no requested time, of how many, where the trace is but a part; default: of the trace.
    """
    told = []
    if log.card is None and "format" in trace.provenance:
        told.append(
            "The log has no card in the catalogue: its machine is what the options say, its terms are not known."
        )
    elif log.card is None and not log.model:
        told.append(
            "The log has no card in the catalogue: machine and terms are those of its header, anomalies are not known."
        )
    if trace.processors is None:
        told.append(
            "The size of the machine is not known: no job was found too wide, and a simulation needs --processors or "
            "--machine."
        )
    if trace.header.unix_start_time is None and not log.model:
        told.append("The log does not say when it began (UnixStartTime): submit_timestamp is missing.")
    if epoch_note(trace.header):
        told.append(
            f"No UnixStartTime says so: submit times were taken for seconds since 1970, and count from "
            f"{trace.header.unix_start_time:,} (--format swf:epoch=false refuses)."
        )
    utility = parameters.get("utility")
    if utility is not None and not utility.get("queue_ranks"):
        told.append("No queue has a priority rank: every job has rank 0, the highest.")
    unknown, jobs = unrequested or (int(trace.jobs["requested_time"].isna().sum()), len(trace))
    if unknown and not is_simulated:
        told.append(f"{unknown:,} of {jobs:,} jobs have no requested time: a simulation takes their run time for it.")
    return told


def names_table(names: Known) -> dict[str, pa.Table]:
    """Return names by kind and number as the table that is published, by its name; nothing if there are none."""
    rows = [(kind, *each) for kind, known in sorted(names.items()) for each in sorted(known.items())]
    return {"names": to_arrow(pd.DataFrame(rows, columns=["kind", "number", "name"]), "names")} if rows else {}


def software() -> dict[str, str]:
    """Return the versions of what made the data."""
    ours = {"swftools": __version__, "python": platform.python_version()}
    return {**ours, **{name: installed_version(name) for name in _SOFTWARE}}
