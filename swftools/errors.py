# SPDX-License-Identifier: BSD-3-Clause
"""Errors: one class per mistake a user can make, each also the builtin it resembles.

Catch ``SwfToolsError`` to catch them all. Every message names what is wrong, where, and what to do
about it; a traceback that reaches a user is a bug.
"""

from __future__ import annotations


class SwfToolsError(Exception):
    """Something a user can mend: the message says what, where and how."""

    def __str__(self) -> str:
        # KeyError would print the repr of its message.
        return str(self.args[0]) if self.args else ""


class SwfFormatError(SwfToolsError, ValueError):
    """A log's text is not Standard Workload Format; the message names file, line, field and remedy."""


class LogFormatError(SwfToolsError, ValueError):
    """A log is in no known format, in several, or its format needs an option to be read."""


class DateOrderError(LogFormatError):
    """Nothing shows whether the day or the month comes first in a log's dates, or they are in two orders."""


class UnreadableLogError(SwfToolsError, OSError):
    """A log's bytes cannot be read: missing, truncated, corrupt, or larger than the limit once decompressed."""


class ParameterError(SwfToolsError, ValueError):
    """A parameter is unknown or outside its domain."""


class ExperimentError(SwfToolsError, RuntimeError):
    """Cells of an experiment failed; the message names the first and what it raised."""


class ClusterError(SwfToolsError, ConnectionError):
    """A cluster cannot be reached, has no workers, or these cannot run what they are asked to."""


class MissingLibraryError(SwfToolsError, ImportError):
    """An optional library is not installed; the message says how to get it."""


class NotFittedError(SwfToolsError, ValueError, AttributeError):
    """A bound or predictor of waits is asked before it has learnt; like scikit-learn's error of that name."""


class StateError(SwfToolsError, ValueError):
    """A saved state of a predictor cannot be read: no such file, damaged, or of another version."""


class StateNotFoundError(StateError):
    """There is no file where a saved state of a predictor should be."""


class UnknownRuleError(SwfToolsError, KeyError):
    """No cleaning rule is registered under the name that was asked for."""


class RuleError(SwfToolsError, RuntimeError):
    """A cleaning rule failed, or its decision cannot be carried out; the message names the rule."""


class UtilityError(SwfToolsError, ValueError):
    """A utility function breaks the form: first time 0, times increasing, values non-increasing and >= 0."""


class SchemaError(SwfToolsError, ValueError):
    """A table's columns, types or values differ from the column dictionary."""


class CatalogError(SwfToolsError, ValueError):
    """data_catalog.yaml is not valid; the message names the card, the key and the remedy."""


class UnknownLogError(SwfToolsError, KeyError):
    """A log was asked for by a name that is neither a card of the catalogue nor a file."""


class AcquireError(SwfToolsError, OSError):
    """A log could not be brought into the cache: address, network or checksum."""


class StorageError(SwfToolsError, OSError):
    """Writing or reading the data root failed: disk full, no permission, service unreachable."""


class SupersededError(SwfToolsError, RuntimeError):
    """Another run published in between, so this run started from an old version."""


class HistoryError(SwfToolsError, ValueError):
    """A history cannot take what it was given: files of another kind, or settings that contradict what it has."""


class UnsafeNameError(SwfToolsError, ValueError):
    """A name of a data set, version, table or log would leave the data root or cannot be a file name."""


class OtherSourceError(SwfToolsError, ValueError):
    """A version was made from another log than the earlier versions of its data set."""


class VersionNotFoundError(SwfToolsError, KeyError):
    """A data set or version was asked for that is not published under the data root."""


class BalanceError(SwfToolsError, AssertionError):
    """Job lines read are not the sum of jobs kept, quarantined and merged: a cleaning rule lost rows."""


class KernelError(SwfToolsError, TypeError):
    """A kernel cannot be compiled or called: it would never free an array, or this version of numba is unknown."""


class JobScriptError(SwfToolsError, ValueError):
    """A job script, or what is given with it, is not as the batch system reads it; the message names file and line."""


class JobScriptNotFoundError(JobScriptError):
    """There is no file where a job script should be."""


class ServiceError(SwfToolsError, ConnectionError):
    """A prediction service is away, silent, or answers with something else than it should."""


class RefusedQuestionError(SwfToolsError, ValueError):
    """A prediction service refuses a question; the message is what it says, ``status`` its status of HTTP.

    Parameters
    ----------
    told : str
        What is wrong, and what to do.
    status : int
        Of HTTP: 400 to 499, or 503 where nothing is known.
    """

    def __init__(self, told: str, status: int) -> None:
        super().__init__(told)
        self.status = status


class PolicyError(SwfToolsError, RuntimeError):
    """A scheduling policy did something impossible, or never starts a job."""


class KernelWarning(UserWarning):
    """Kernels are compiled anew in each process, since this version of numba is not as swftools knows it."""


class PolicyWarning(UserWarning):
    """A scheduling policy cannot be compiled and is interpreted."""


class DecisionWarning(UserWarning):
    """A decision that ``Stepper.skip`` brought is passed by ``advance`` with nothing done, so that all jobs wait."""
