# SPDX-License-Identifier: BSD-3-Clause
"""How far a long call is, for people who call it: a bar in a notebook or on a terminal, elsewhere nothing."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any, Self

from swftools.output.shown_text import shown

DAY = 86_400.0


class ProgressBar:
    """What the long functions take as ``progress``; see ``progress_bar``, which makes it."""

    def __init__(self, what: str, unit: str) -> None:
        self._what, self._unit = what, unit
        self._bar: Any = None

    def __call__(self, done: int, total: int | None = None, at: float | str | None = None) -> None:
        """Show how much of how much is done, and how far it is: the simulated time (s), or a name.

        The bar appears at the first call that is not the last, is full at the last one, and begins anew after that.
        """
        if self._bar is not None and done < self._bar.n:
            self.close()
        if self._bar is None:
            if done == total:
                return
            self._bar = self._opened(total)
        if at is not None:
            self._bar.set_postfix_str(shown(at) if isinstance(at, str) else f"day {at / DAY:,.1f}", refresh=False)
        self._bar.update(done - self._bar.n)
        if done == total:
            self.close()

    def close(self) -> None:
        """Leave the bar as it is; the next call begins another."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _opened(self, total: int | None) -> Any:
        """Return a new bar: a widget in a notebook, if it has any, else text."""
        from tqdm.auto import tqdm  # noqa: PLC0415 (for those only who want a bar)

        by_bytes: dict[str, Any] = {"unit": "B", "unit_scale": True, "unit_divisor": 1024}
        form = by_bytes if self._unit == "bytes" else {"unit": f" {shown(self._unit)}"}
        is_seen = _is_in_notebook() or sys.stderr.isatty()
        return tqdm(desc=shown(self._what) or None, total=total, disable=not is_seen, **form)


def progress_bar(what: str = "", unit: str = "jobs") -> ProgressBar:
    """Return a progress bar for a long call: a widget in a notebook, a line on a terminal, else nothing.

    Parameters
    ----------
    what : str
        Text before the bar.
    unit : str
        What is counted; "bytes" are written as kB and MB.

    Returns
    -------
    ProgressBar
        What ``simulate``, ``Simulation.run``, ``read_log``, ``swftools.qbets.replay``, ``watch_policies``,
        ``delays_at_heads`` and ``delays_from_submission`` take as ``progress``. It may be used again. In a ``with``
        statement it is closed even if the call fails.

    Examples
    --------
    >>> from swftools import Trace, simulate
    >>> trace = Trace.from_columns(machine_processors=4, job_number=[1, 2], submit_time=[0, 1], run_time=[10, 10],
    ...                            requested_time=[10, 10], requested_processors=[3, 4])
    >>> simulate(trace, "easy", progress=progress_bar("EASY")).jobs["start_time"].tolist()
    [0.0, 10.0]
    """
    return ProgressBar(what, unit)


def _is_in_notebook() -> bool:
    """Whether this runs in a kernel of Jupyter, which is asked without loading anything of it."""
    get_shell = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = get_shell() if get_shell else None
    return shell is not None and "IPKernelApp" in shell.config
