# SPDX-License-Identifier: BSD-3-Clause
"""Rates over time: the price of a kilowatt-hour, or its carbon emissions, from a file with times.

A rate holds from its time to the next one. Nothing is filled in: a time without a zone, a gap, or a time beyond the
series is an error that says what to do.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.errors import ParameterError, UnreadableLogError
from swftools.parameters.small_files import require_small

FloatArray = npt.NDArray[np.float64]

PER = {"kWh": 3.6e6, "MWh": 3.6e9}
"""Joules of what a rate may be per."""

_MUCH = 1.5
"""Times of a series further apart than this many usual steps have a gap between them."""


@dataclass(frozen=True, eq=False)
class Rates:
    """A rate as a step function of absolute time.

    Parameters
    ----------
    name : str
        Its name in messages.
    times : ndarray of float64, shape (n,)
        Time from which each value holds, s since 1970, rising strictly.
    values : ndarray of float64, shape (n,)
        Values per kWh; NaN means unknown until the next time.
    end : float
        Time until which the last value holds.
    """

    name: str
    times: FloatArray
    values: FloatArray
    end: float

    def over(self, begin: float, end: float) -> tuple[FloatArray, FloatArray]:
        """Return the times at which the rate changes, the first of which is ``begin``, and its values.

        Parameters
        ----------
        begin, end : float
            s since 1970.

        Raises
        ------
        ParameterError
            The series does not cover the time, or has a gap within it.
        """
        if begin < self.times[0] or end > self.end:
            raise ParameterError(
                f"{self.name} is from {_told(self.times[0])} to {_told(self.end)}, and the schedule from "
                f"{_told(begin)} to {_told(end)}; give a longer series, a window=, or by origin= when second 0 is to be"
            )
        first = int(np.searchsorted(self.times, begin, "right")) - 1
        last = max(int(np.searchsorted(self.times, end, "left")), first + 1)
        times, values = self.times[first:last].copy(), self.values[first:last]
        if (gap := np.flatnonzero(np.isnan(values))).size:
            raise ParameterError(
                f"{self.name} has no value from {_told(times[gap[0]])} on; mend the series, or let the value before it "
                "go on by gaps='hold'"
            )
        times[0] = begin
        return times, values


def read_rates(
    source: str | os.PathLike[str] | pd.DataFrame | pd.Series[Any],
    column: str | None = None,
    *,
    time: str | None = None,
    time_zone: str | None = None,
    per: str = "kWh",
    gaps: str = "refuse",
) -> Rates:
    """Read a series of prices, or of carbon intensities.

    Parameters
    ----------
    source : path, pandas.DataFrame or pandas.Series
        A file ``.parquet`` or ``.csv`` (also compressed), a table, or values indexed by time.
    column : str, optional
        The column of the rates; needed only if several columns have numbers.
    time : str, optional
        The column of times; needed only if several columns have times.
    time_zone : str, optional
        Zone of times without one, by its name in the tz database: ``"UTC"``, ``"Europe/Paris"``. Times with an offset
        or a zone do not need it. It is never guessed, because an hour off is another tariff.
    per : {"kWh", "MWh"}
        Unit of energy of the rates: 50 per MWh is 0.05 per kWh.
    gaps : {"refuse", "hold"}
        What to do with gaps: refuse them if a schedule runs across them, or let the last value continue. A gap is a
        missing value, or a step of more than one and a half times the median step.

    Returns
    -------
    Rates
        In the order of time. The last value holds for a usual step.

    Raises
    ------
    UnreadableLogError
        The file cannot be read.
    ParameterError
        The column of times or of rates is missing or not unique; a time has no zone, is missing, or occurs twice; a
        rate is infinite; there are fewer than two.

    Examples
    --------
    >>> times = pd.date_range("2022-01-01", periods=3, freq="h", tz="UTC")
    >>> rates = read_rates(pd.Series([50.0, 60.0, 40.0], times), per="MWh")
    >>> rates.values.tolist(), float(rates.end - rates.times[0])
    ([0.05, 0.06, 0.04], 10800.0)
    """
    if per not in PER:
        raise ParameterError(f"per={per!r} is not one of {', '.join(PER)}")
    if gaps not in ("refuse", "hold"):
        raise ParameterError(f"gaps={gaps!r} is not one of refuse, hold")
    name, frame = _frame_of(source)
    stamps = _times_of(name, frame, time)
    values: npt.NDArray[Any] = _values_of(name, frame, column, stamps.name)
    seconds = _seconds(name, stamps, time_zone)
    order = np.argsort(seconds, kind="stable")
    seconds, values = seconds[order], values[order] * (PER["kWh"] / PER[per])
    if len(seconds) < 2:
        raise ParameterError(f"{name}: a series needs two values or more, and it has {len(seconds)}")
    steps = np.diff(seconds)
    if not (steps > 0).all():
        raise ParameterError(f"{name}: {_told(seconds[int(np.argmin(steps))])} appears twice; give each time once")
    if np.isinf(values).any():
        raise ParameterError(f"{name}: the rate of {_told(seconds[int(np.argmax(np.isinf(values)))])} is infinite")
    step = float(np.median(steps))
    if gaps == "hold":
        values = pd.Series(values).ffill().to_numpy(np.float64)
    else:
        places = np.flatnonzero(steps > _MUCH * step)
        seconds = np.insert(seconds, places + 1, seconds[places] + step)
        values = np.insert(values, places + 1, np.nan)
    return Rates(name, seconds, np.asarray(values, np.float64), float(seconds[-1] + step))


_MOST_SHOWN, _LONGEST_SHOWN = 20, 80
"""Names of columns that a message shows, and letters of each."""


def _frame_of(source: Any) -> tuple[str, pd.DataFrame]:
    """Return what messages call a series, and its table, in which an index of times is a column."""
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        try:
            require_small(path)
            is_parquet = path.suffix.lower() == ".parquet"
            frame = pd.read_parquet(path) if is_parquet else pd.read_csv(path)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise UnreadableLogError(f"{path}: cannot be read as a series ({why})") from error
        return path.name, frame
    frame = source.to_frame("rate" if source.name is None else source.name) if isinstance(source, pd.Series) else source
    if not isinstance(frame, pd.DataFrame):
        raise ParameterError(f"a series is a path, a DataFrame or a Series, not {type(source).__name__}")
    if isinstance(frame.index, pd.DatetimeIndex):
        frame = frame.rename_axis(index=str(frame.index.name or "time")).reset_index()
    return "the series", frame.rename(columns=str)


def _times_of(name: str, frame: pd.DataFrame, time: str | None) -> pd.Series[Any]:
    """Return the column of times, read where it is of text."""
    if time is None:
        of_time = [str(each) for each in frame if pd.api.types.is_datetime64_any_dtype(frame[each])]
        if not of_time:
            texts = [str(each) for each in frame if not pd.api.types.is_numeric_dtype(frame[each])]
            of_time = [each for each in texts if frame[each].str.match(r"[0-9]{4}-[0-9]{2}-[0-9]{2}").all()]
        time = _only(name, "times", of_time, frame, "time")
    column = _column(name, frame, time)
    if pd.api.types.is_datetime64_any_dtype(column):
        return column
    try:
        return pd.to_datetime(column, format="ISO8601", utc=_has_offsets(column))
    except (ValueError, TypeError) as error:
        raise ParameterError(f"{name}: column {time!r} is not of times as 2022-01-31 13:00+01:00 ({error})") from error


def _has_offsets(column: pd.Series[Any]) -> bool:
    """Whether texts end in an offset; of several kinds in one column the conversion tells."""
    return bool(column.astype("str").str.contains(r"(?:Z|[+-][0-9]{2}:?[0-9]{2})$").all())


def _values_of(name: str, frame: pd.DataFrame, column: str | None, time: Any) -> FloatArray:
    """Return the column of rates."""
    if column is None:
        numeric = [str(each) for each in frame if each != time and pd.api.types.is_numeric_dtype(frame[each])]
        column = _only(name, "numbers", numeric, frame, "column")
    values = _column(name, frame, column)
    if not pd.api.types.is_numeric_dtype(values):
        raise ParameterError(f"{name}: column {column!r} is not of numbers")
    return values.to_numpy(dtype=np.float64, na_value=np.nan)


def _only(name: str, what: str, found: list[str], frame: pd.DataFrame, option: str) -> str:
    """Return the only column of a kind."""
    if len(found) != 1:
        names = [str(each)[:_LONGEST_SHOWN] for each in found or frame]
        of_them = ", ".join(names[:_MOST_SHOWN]) + ", ..." * (len(names) > _MOST_SHOWN) or "none at all"
        raise ParameterError(f"{name}: {len(found)} columns are of {what}; name one by {option}= of {of_them}")
    return found[0]


def _column(name: str, frame: pd.DataFrame, column: str) -> pd.Series[Any]:
    """Return a column by its name."""
    if column not in frame:
        raise ParameterError(f"{name}: there is no column {column!r}; there are {', '.join(map(str, frame))}")
    if list(frame).count(column) > 1:
        raise ParameterError(f"{name}: column {column!r} appears twice; give it once")
    return frame[column]


def _seconds(name: str, stamps: pd.Series[Any], time_zone: str | None) -> FloatArray:
    """Return times in s since 1970."""
    if stamps.isna().any():
        raise ParameterError(f"{name}: row {int(np.argmax(stamps.isna()))} has no time")
    if stamps.dt.tz is None:
        if time_zone is None:
            raise ParameterError(
                f"{name}: its times have no zone; say which by time_zone='UTC' or a name such as 'Europe/Paris'"
            )
        try:
            stamps = stamps.dt.tz_localize(time_zone, ambiguous="infer", nonexistent="raise")
        except (ValueError, KeyError, TypeError, OSError) as error:
            raise ParameterError(
                f"{name}: its times do not exist in {time_zone} ({error}); is it the right zone?"
            ) from error
    return stamps.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy("datetime64[ms]").astype(np.int64) / 1000.0


def _told(seconds: float) -> str:
    """Return a time for messages."""
    return str(pd.Timestamp(seconds, unit="s", tz="UTC").strftime("%Y-%m-%d %H:%M UTC"))
