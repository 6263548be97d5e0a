# SPDX-License-Identifier: BSD-3-Clause
"""What is done where numba is not as its adapter takes it to be.

What makes compiling faster, and keeps what is compiled, can be done without: kernels are then compiled by ``njit``, all
of them from then on, and one warning says what that costs. What the simulator needs cannot: that is a KernelError.
"""

from __future__ import annotations

import importlib
import logging
import sys
import threading
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from functools import cache
from types import ModuleType
from typing import Any, TypeVar

from numba import NumbaError

from swftools.errors import KernelError, KernelWarning
from swftools.kernel.numba_adapter import REMEDY, NumbaIsOtherwiseError, compiler_lock, probe, version, was_tried

T = TypeVar("T")

_LOG = logging.getLogger("swftools")


class _Mode:
    """Whether kernels are compiled plainly in this process, and why; None as long as nobody has looked."""

    def __init__(self) -> None:
        self.is_plain: bool | None = None
        self.reason = ""
        self.lock = threading.RLock()


_MODE = _Mode()
_WITHIN: ContextVar[bool] = ContextVar(
    "whether a kernel is being compiled our way, maybe for another one", default=False
)


def is_plain() -> bool:
    """Whether kernels are compiled without ``numba_adapter.pipeline``; the first call looks whether that is there."""
    mode = _MODE
    if mode.is_plain is None:
        # No lock is held meanwhile: to try takes numba's own, which another thread may have that asks this.
        if reason := _reason_at_first():
            _go_plain(reason)
        else:
            with mode.lock:
                mode.is_plain = bool(mode.is_plain)
    return bool(mode.is_plain)


def _reason_at_first() -> str | None:
    """Return what numba lacks; of a version that was not tried also what it does otherwise."""
    if reason := probe.lacks_for_pipeline():
        return reason
    try:
        pipeline()
    except Exception as error:  # noqa: BLE001 (whatever its classes make of another numba)
        return probe.said(error)
    if was_tried():
        return None
    _LOG.info("numba %s is not among the versions that swftools was tried with", version())
    return probe.fails_in_pipeline()


def pipeline() -> Any:
    """Return the module ``numba_adapter.pipeline``; import it only where ``is_plain`` is not true."""
    return _module("pipeline")


@cache
def _module(name: str) -> ModuleType:
    return importlib.import_module(f"swftools.kernel.numba_adapter.{name}")


@cache
def machine() -> Any:
    """Return the module ``numba_adapter.machine``, if numba is as that takes it to be.

    Raises
    ------
    KernelError
        It is not; the message names the remedy.
    """
    reason = probe.lacks_for_machine()
    try:
        module = _module("machine")
    except Exception as error:  # noqa: BLE001 (as above)
        raise unfit(reason or probe.said(error)) from None
    if reason := reason or (None if was_tried() else probe.fails_in_machine()):
        raise unfit(reason)
    return module


def unfit(reason: str) -> KernelError:
    """Return the error for a numba that does not do what cannot be done without."""
    return KernelError(f"simulations cannot be compiled with numba {version()}: {reason}; {REMEDY}")


def either(ours: Callable[[], T], plainly: Callable[[], T]) -> T:
    """Compile something by ``pipeline``, or plainly where that does not work with this numba.

    Where it fails, that is found out by the outermost: kernels that are compiled for one another are all of one kind.
    """
    if is_plain():
        return _plainly(plainly)
    if _WITHIN.get():
        return ours()
    token = _WITHIN.set(True)
    try:
        return ours()
    except Exception as error:
        if not _is_numbas(error):
            raise
    finally:
        _WITHIN.reset(token)
    return _plainly(plainly)


def _plainly(plainly: Callable[[], T]) -> T:
    try:
        return plainly()
    except (KernelError, NumbaError):
        raise
    except Exception as error:
        if reason := probe.fails_in_machine():
            raise unfit(reason) from error
        raise


def _is_numbas(error: Exception) -> bool:
    """Whether kernels are to be compiled plainly from now on, or were so meanwhile.

    Raises
    ------
    KernelError
        What does not work is what the simulator needs.
    """
    if _MODE.is_plain:
        return True
    if isinstance(error, (KernelError, NumbaError)):  # the kernel's own
        return False
    if reason := probe.fails_in_pipeline():
        _go_plain(reason)
        return True
    if reason := probe.fails_in_machine():
        raise unfit(reason) from error
    return False


def doubt(error: Exception) -> None:
    """Look whether ``pipeline`` works, after an error that a damaged file explains as well.

    Raises
    ------
    NumbaIsOtherwiseError
        It does not.
    """
    if reason := probe.fails_in_pipeline():
        raise NumbaIsOtherwiseError(reason) from error


def _go_plain(reason: str) -> None:
    """Compile kernels plainly from now on, and say so once."""
    with _MODE.lock:
        if _MODE.is_plain:
            return
        _MODE.is_plain, _MODE.reason = True, reason
    text = (
        f"numba {version()} is not as swftools knows it ({reason}): kernels are compiled anew in each process, which "
        f"takes longer; {REMEDY}"
    )
    _LOG.info(text)
    with compiler_lock():  # numba keeps warnings for itself while it compiles, also those of other threads
        warnings.warn(text, KernelWarning, stacklevel=_frames_of_ours())


def _frames_of_ours() -> int:
    """Return how many frames there are up to that of whoever called swftools, from the function that asks."""
    frame, count = sys._getframe(1), 1
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in _OURS:
        frame, count = frame.f_back, count + 1
    return count


_OURS = ("swftools", "pipelines", "numba", "functools", "contextlib", "importlib", "_frozen_importlib")
