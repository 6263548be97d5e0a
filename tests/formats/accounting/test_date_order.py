# SPDX-License-Identifier: BSD-3-Clause
"""10/03/2024: the order of day and month in one date, in a log, in its pieces, and in its files."""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import iter_log, read_log
from swftools.errors import DateOrderError, SwfFormatError
from swftools.formats.accounting.date_order import Dated, DateOrder, order_shown
from swftools.formats.accounting.dates import DAY_FIRST, EITHER, MONTH_FIRST, MONTH_TABLE, SHORT_YEAR, _wall_clock
from swftools.formats.accounting.times import ORDERS, read_times
from tests.examples import examples
from tests.formats.accounting.test_values import spans_of

FORMS = {"dmy": "%d{0}%m{0}%{1}", "mdy": "%m{0}%d{0}%{1}", "ymd": "%{1}{0}%m{0}%d"}
DAYS = st.datetimes(datetime(1971, 1, 1), datetime(2068, 12, 30)).map(lambda day: day.replace(microsecond=0))


def written(day: datetime, order: str, mark: str = "/", year: str = "Y") -> str:
    """Return a date in an order."""
    return day.strftime(f"{FORMS[order].format(mark, year)} %H:%M:%S")


@given(day=DAYS, order=st.sampled_from(sorted(FORMS)), mark=st.sampled_from("/-"))
def test_a_date_is_read_by_its_order(day: datetime, order: str, mark: str) -> None:
    """It is what strptime makes of it; and it tells of the order what its day does."""
    moments = read_times(spans_of([written(day, order, mark).encode()]), "UTC", dates=order)
    assert moments.early[0] == day.replace(tzinfo=UTC).timestamp()
    told = 0 if moments.written is None else moments.written.told[0]
    shown = {"dmy": DAY_FIRST, "mdy": MONTH_FIRST}.get(order, 0)
    assert told == (0 if order == "ymd" or day.day == day.month else shown if day.day > 12 else EITHER)


@given(day=DAYS, order=st.sampled_from(sorted(FORMS)), mark=st.sampled_from("/-."))
def test_years_of_two_digits(day: datetime, order: str, mark: str) -> None:
    """They are read by an order, told of, and no dates without one."""
    text = written(day, order, mark, "y").encode()
    moments = read_times(spans_of([text]), "UTC", dates=order)
    wanted = datetime.strptime(text.decode(), f"{FORMS[order].format(mark, 'y')} %H:%M:%S").replace(tzinfo=UTC)
    assert moments.early[0] == wanted.timestamp()
    assert moments.written is not None
    assert moments.written.told[0] == SHORT_YEAR
    assert read_times(spans_of([text]), "UTC").is_bad[0]


@pytest.mark.parametrize("order", [0, 1, 2, 3])
@pytest.mark.parametrize(
    "text",
    [
        *("25/03/2024 10:00", "03/25/2024 10:00", "04/03/2024 10:00", "04-03-2024 10:00", "04.03.2024 10:00"),
        *("2024/03/25 10:00", "31/02/2024 10:00", "29/02/2023 10:00", "24/03/10 10:00", "99/99/99 10:00"),
        *("1/2/34 10:00", "25/03/2024", "0/0/2024 10:00", "25/03-2024 10:00", "25/03/24567 10:00", "1/2/3 10:00"),
    ],
)
def test_compiled_is_interpreted(text: str, order: int) -> None:
    """For each order and form, and for what is none."""
    given = (text.encode(), 0, len(text), MONTH_TABLE, order)
    np.testing.assert_array_equal(_wall_clock(*given), _wall_clock.py_func(*given))


@pytest.mark.parametrize(
    "text",
    ["31/02/2024 10:00", "29/02/2023 10:00", "99/99/99 10:00", "25/03/2024", "13/13/2024 10:00", "0/1/2024 1:00"],
)
def test_what_is_no_date_shows_no_order(text: str) -> None:
    """Days that no calendar has, and dates without a time."""
    moments = read_times(spans_of([text.encode()]), "UTC", dates="mdy")
    assert moments.is_bad[0]
    assert moments.written is None


def test_without_an_order_it_is_as_it_was() -> None:
    """Formats of one's own that ask for none: slashes with the month first, dashes and dots with the day."""
    texts = [b"04/03/2024 00:00", b"04-03-2024 00:00", b"04.03.2024 00:00"]
    months = [datetime.fromtimestamp(second, UTC).month for second in read_times(spans_of(texts), "UTC").early]
    assert months == [4, 3, 3]
    assert list(ORDERS) == ["dmy", "mdy", "ymd"]


HEADER = "JobID|User|State|Submit|Start|End|NCPUS\n"


def sacct(days: Sequence[datetime], form: str, first: int = 1) -> str:
    """Return what sacct prints of jobs submitted on days, which wait 10 minutes and run an hour."""
    lines = [HEADER]
    for number, day in enumerate(days, start=first):
        times = (day + timedelta(minutes=minutes) for minutes in (0, 10, 70))
        lines.append(f"{number}|u|COMPLETED|{'|'.join(time.strftime(f'{form} %H:%M:%S') for time in times)}|4\n")
    return "".join(lines)


@examples(0.2)
@given(
    days=st.lists(st.datetimes(datetime(2024, 1, 1), datetime(2024, 12, 30)), min_size=1, max_size=8),
    order=st.sampled_from(["dmy", "mdy"]),
    chunk=st.sampled_from([16, 64, 1 << 20]),
    parts=st.integers(1, 3),
)
def test_a_log_is_read_as_if_its_dates_were_plain(
    days: list[datetime], order: str, chunk: int, parts: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Wherever the day above 12 stands, whole, in pieces or in files; without one it is refused, if in doubt."""
    days = [day.replace(microsecond=0, second=0) for day in days]
    form = FORMS[order].format("/", "Y")
    folder = tmp_path_factory.mktemp("log")
    for part in range(parts):
        (folder / f"{part}").write_text(sacct(days[part::parts], form, 1 + 10 * part))
        (folder / f"plain-{part}").write_text(sacct(days[part::parts], "%Y-%m-%d", 1 + 10 * part))
    slashed, plain = ([folder / f"{name}{part}" for part in range(parts)] for name in ("", "plain-"))
    ends = [day + timedelta(minutes=minutes) for day in days for minutes in (0, 10, 70)]
    if all(end.day <= 12 for end in ends) and any(end.day != end.month for end in ends):
        with pytest.raises(DateOrderError, match="dates=dmy or dates=mdy"):
            read_log(slashed, time_zone="UTC")
        with pytest.raises(DateOrderError, match="dates=dmy or dates=mdy"):
            list(iter_log(slashed, chunk_bytes=chunk, time_zone="UTC"))
    else:
        trace, wanted = read_log(slashed, time_zone="UTC"), read_log(plain, time_zone="UTC")
        assert trace.jobs.equals(wanted.jobs)
        assert trace.quarantine.empty
        pieces = list(iter_log(slashed, chunk_bytes=chunk, time_zone="UTC"))
        assert sum(len(piece) for piece in pieces) == len(days)
        assert {wait for piece in pieces for wait in piece.jobs["wait_time"]} == {600}
    said = read_log(slashed, time_zone="UTC", dates=order)
    assert said.jobs.equals(read_log(plain, time_zone="UTC").jobs)
    assert "dates" not in said.provenance


SMALL = [datetime(2024, 3, day) for day in (1, 2, 4, 5)]
PROOF = datetime(2024, 3, 25)


class Pipe(io.RawIOBase):
    """A stream that can be read only once."""

    def __init__(self, text: str) -> None:
        self._bytes = io.BytesIO(text.encode())

    def readable(self) -> bool:
        """Return that it can."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return bytes."""
        return self._bytes.read(size)

    def tell(self) -> int:
        """Return where it stands."""
        return self._bytes.tell()


def test_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its beginning tells; if only its end does, it is refused with the remedy."""
    text = sacct([*SMALL, PROOF], "%d/%m/%Y")
    trace = read_log(Pipe(text), time_zone="UTC")  # type: ignore[arg-type]
    assert trace.jobs["wait_time"].tolist() == [600] * 5
    assert trace.provenance["dates"] == "dmy"
    monkeypatch.setattr("swftools.formats.multi_file.HEAD", 120)
    with pytest.raises(DateOrderError, match=r"only after its beginning.*dates=dmy.*save it as a file"):
        read_log(Pipe(text), time_zone="UTC")  # type: ignore[arg-type]
    assert len(read_log(Pipe(sacct([*SMALL, PROOF], "%m/%d/%Y")), time_zone="UTC")) == 5  # type: ignore[arg-type]


def test_strict() -> None:
    """A row that is wrong only by the order that was assumed is not refused; one that is wrong by the log's own is."""
    row = "7|u|COMPLETED|01/05/2024 00:00:00|02/04/2024 00:00:00|03/04/2024 00:00:00|4\n"  # by days it starts before
    text = sacct([*SMALL, PROOF], "%d/%m/%Y")
    assert len(read_log(io.BytesIO(text.encode()), time_zone="UTC", strict=True)) == 5
    with pytest.raises(SwfFormatError, match="line 7"):
        read_log(io.BytesIO((text + row).encode()), time_zone="UTC", strict=True)
    good = "8|u|COMPLETED|08/04/2024 00:00:00|07/05/2024 00:00:00|06/06/2024 00:00:00|4\n"  # by months it goes back
    assert len(
        read_log(io.BytesIO((HEADER + good + sacct([PROOF], "%d/%m/%Y")).encode()), time_zone="UTC", strict=True)
    )


def test_nothing_is_quoted_where_names_are_withheld() -> None:
    """The line is told, the date is not."""
    text = sacct(SMALL, "%d/%m/%Y").encode()
    with pytest.raises(DateOrderError, match=r"line 2: .*dates\? .*dates=dmy") as refusal:
        read_log(io.BytesIO(text), time_zone="UTC", anonymise="numbers")
    assert "2024" not in str(refusal.value)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(
    ("days", "said", "wanted"),
    [([*SMALL, PROOF], "", "dmy"), (SMALL, "dates: dmy\n", None), (SMALL, "", DateOrderError)],
)
def test_tables(kind: str, days: list[datetime], said: str, wanted: object, tmp_path: Path) -> None:
    """Of each kind of file, by the dates or by the mapping; dates=mdy on the command line is over the mapping."""
    columns = {
        name: [(day + timedelta(minutes=minutes)).strftime("%d/%m/%Y %H:%M:%S") for day in days]
        for name, minutes in (("asked", 0), ("began", 10), ("over", 70))
    }
    table = pa.table(columns)
    path, mapping = tmp_path / f"jobs.{kind}", tmp_path / "mine.yaml"
    mapping.write_text(f"columns: {{submit: asked, start: began, end: over}}\ntime_zone: UTC\n{said}")
    if kind == "parquet":
        pq.write_table(table, path)
    elif kind == "csv":
        table.to_pandas().to_csv(path, index=False)
    else:
        table.to_pandas().to_json(path, orient="records", lines=True)
    given = f"table:mapping={mapping}"
    if wanted is DateOrderError:
        with pytest.raises(DateOrderError, match="is 1 March 2024 or 3 January 2024"):
            read_log(path, given)
    else:
        trace = read_log(path, given)
        assert trace.jobs["wait_time"].tolist() == [600] * len(days)
        assert trace.provenance.get("dates") == wanted
        assert [len(part) for part in iter_log(path, given)] == [len(days)]
    assert read_log(path, given, dates="mdy").header.start == datetime(2024, 1, 3, tzinfo=UTC)


def test_dates_in_both_orders_show_none() -> None:
    """Neither counts because it is looked at first."""
    told = {DAY_FIRST: Dated(3, "25/03/2024"), MONTH_FIRST: Dated(4, "03/25/2024")}
    assert order_shown(told) is None
    assert [order_shown({what: date}) for what, date in told.items()] == ["dmy", "mdy"]


def test_what_other_files_have_shown_counts_before_the_beginning() -> None:
    """And a log that shows the other order is refused, also where its beginning has it."""
    order = DateOrder(None, known="dmy", assumed="mdy")
    assert order.used == "dmy"
    with pytest.raises(DateOrderError, match="other files of the same source have the day first"):
        order.take({MONTH_FIRST: Dated(3, "03/25/2024")}, str, may_quote=True)
    assert DateOrder("mdy", known="dmy", assumed="dmy").used == "mdy"
    assert DateOrder(None, assumed="dmy").used == "dmy"
