# SPDX-License-Identifier: BSD-3-Clause
"""Tables on their way in and out: pandas to pyarrow, checked against the column dictionary.

``to_arrow`` gives a table exactly the types, nullability and metadata that ``swftools.fields`` declares;
``check_table`` refuses a table that differs, on write and on read; ``read_table`` and ``write_table`` are
the one way to Parquet.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, nullcontext
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from swftools.errors import SchemaError
from swftools.fields.definition import BOOL, FLOAT64, INT64, NEVER, STRING, Field
from swftools.fields.dictionary import SORTED_BY, arrow_schema, required_columns, table_fields
from swftools.kernel import untouched_zeros
from swftools.output.whole_files import create_file

PARQUET_OPTIONS: dict[str, Any] = {
    "compression": "zstd",
    "version": "2.6",
    "row_group_size": 1 << 20,
    "write_page_checksum": True,
}
"""How tables for users are written: small, so that equal tables give equal bytes, and damage shows."""

LONG = 1 << 18
"""Rows of a table that is converted column by column, lest it be in memory twice."""

ALIKE = 1 << 16
"""Words of a long table that are there once in memory where they are the same throughout."""

QUICK_OPTIONS: dict[str, Any] = {**PARQUET_OPTIONS, "compression": "lz4", "use_dictionary": False}
"""How a stage hands a table to the next one, which reads it soon: twice as large, in half the time."""

_PANDAS_DTYPES: dict[pa.DataType, Any] = {STRING: "str", BOOL: "bool"}


def to_arrow(frame: pd.DataFrame, table: str) -> pa.Table:
    """Convert a DataFrame to a table of the column dictionary: its order, types, nulls and metadata.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns of ``table``, in any order; NaN, None and NA are missing.
    table : str
        Name of a table of the column dictionary.

    Raises
    ------
    SchemaError
        A column is unknown, appears twice, or its values do not fit the declared type.
    """
    if not frame.columns.is_unique:
        raise SchemaError(f"table {table!r}: columns appear twice: {sorted(frame.columns[frame.columns.duplicated()])}")
    schema = arrow_schema(table, frame.columns)
    columns = []
    for field in schema:
        try:
            columns.append(pa.Array.from_pandas(frame[field.name], type=field.type, safe=True))
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise SchemaError(f"table {table!r}, column {field.name!r}: not {field.type}: {error}") from error
    result = pa.Table.from_arrays(columns, schema=schema)
    check_table(result, table)
    return result


def to_pandas(data: pa.Table, table: str) -> pd.DataFrame:
    """Convert a table of the column dictionary to a DataFrame: Int64, float64, str, bool, UTC timestamps.

    A truth value that may be missing is a boolean.

    Columns are writable, except that of utility functions, which stays an Arrow list (``pandas.ArrowDtype``)
    at no cost.
    """
    fields = table_fields(table)
    names = [name for name in fields if name in data.column_names]
    return pd.DataFrame({name: _values(data[name].combine_chunks(), fields[name]) for name in names}, copy=False)


def _values(column: pa.Array | pa.ChunkedArray, field: Field) -> Any:
    """Return a column as pandas has it: mostly an array, since the indices of series would be compared."""
    type_ = field.type
    if type_ == INT64:
        # Memory that nothing is written to takes no room: many a column is missing, or 0, throughout.
        count, nulls = len(column), column.null_count
        missing = untouched_zeros(count, np.bool_) if not nulls else column.is_null().to_numpy(zero_copy_only=False)
        is_zero = nulls == count or pc.min_max(column).as_py() == {"min": 0, "max": 0}
        return pd.arrays.IntegerArray(
            untouched_zeros(count, np.int64) if is_zero else _writable(column.fill_null(0)), missing
        )
    if type_ == FLOAT64:
        is_zero = not column.null_count and not column.to_numpy().view(np.int64).any()  # -0.0 is none
        return untouched_zeros(len(column)) if is_zero else _writable(column)
    if type_ == BOOL and not column.null_count and field.missing == NEVER and not pc.any(column).as_py():
        return pd.Series(untouched_zeros(len(column), np.bool_), copy=False)
    if type_ == BOOL and field.missing != NEVER:
        return pd.Series(column.to_pandas().astype("boolean"))
    if type_ in _PANDAS_DTYPES:
        told = _alike_parts_once(column) if len(column) > LONG else column
        return pd.Series(told.to_pandas().astype(_PANDAS_DTYPES[type_]))
    if pa.types.is_list(type_):
        return pd.arrays.ArrowExtensionArray(
            column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
        )
    return pd.Series(column.to_pandas())


def _alike_parts_once(column: pa.Array) -> pa.ChunkedArray:
    """Return words in parts, of which those that say the same word throughout are there once in memory.

    How runs ended would take 17 bytes a job, and mostly all ended alike.
    """
    alike: dict[Any, pa.Array] = {}
    parts = []
    for begin in range(0, len(column), ALIKE):
        part = column.slice(begin, ALIKE)
        is_alike, word = len(part) == ALIKE and len(part.unique()) == 1, part[0].as_py()
        if not is_alike or word not in alike:
            part = pa.concat_arrays([part])  # of its own: a slice holds all of them
        parts.append(alike.setdefault(word, part) if is_alike else part)
    return pa.chunked_array(parts, column.type)


def _parts(column: pd.Series[Any]) -> list[npt.NDArray[Any]]:
    """Return what a column of numbers is in memory, as whole numbers; nothing of other columns."""
    if column.dtype == np.float64:
        return [np.asarray(column.array).view(np.int64)]
    if isinstance(column.array, pd.arrays.IntegerArray):
        return [column.array.to_numpy(dtype=np.int64, na_value=0), column.array.isna()]
    return []


def _writable(column: pa.Array) -> npt.NDArray[Any]:
    """Return the numbers of a column, missing as NaN, in memory of their own: Arrow's cannot be written to."""
    values: npt.NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return values if values.flags.writeable else values.copy()


def empty_frame(table: str, columns: list[str] | None = None) -> pd.DataFrame:
    """Return a DataFrame of a table without rows, in the declared dtypes."""
    return _empty_frame(table, None if columns is None else tuple(columns)).copy(deep=False)


@cache
def _empty_frame(table: str, columns: tuple[str, ...] | None) -> pd.DataFrame:
    """Return the one table without rows that copies are made of: each reading of a log asks for one."""
    return to_pandas(arrow_schema(table, columns).empty_table(), table)


def frame_of(table: str, columns: Mapping[str, Any]) -> pd.DataFrame:
    """Return a DataFrame of a table's columns, in the declared dtypes.

    They are given them one by one: to make a frame of other dtypes and convert it takes several times as long, which
    is most of what the reading of a small log takes.

    Parameters
    ----------
    table : str
        Name of a table of the column dictionary.
    columns : mapping of str to sequence
        Values that the dtypes hold, by column.
    """
    dtypes = _empty_frame(table, None).dtypes
    return pd.DataFrame({name: pd.array(values, dtype=dtypes[name]) for name, values in columns.items()}, copy=False)


def check_table(data: pa.Table, table: str) -> None:
    """Check a table against the column dictionary: columns, types, nullability, value ranges.

    Raises
    ------
    SchemaError
        Lists every difference: unknown and missing columns, columns that appear twice, wrong types, nulls in
        columns that are never missing, and values outside their bounds, NaN among them, with the first row
        that has one.
    """
    fields = table_fields(table)
    names = data.column_names
    problems = []
    if unknown := sorted(set(names) - set(fields)):
        problems.append(f"unknown columns {unknown}")
    if missing := [name for name in required_columns(table) if name not in names]:
        problems.append(f"missing columns {missing}")
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        problems.append(f"columns appear twice: {repeated}")
    for name in sorted(set(names) & set(fields) - set(repeated), key=names.index):
        problems.extend(_column_problems(data[name], fields[name]))
    if problems:
        raise SchemaError(f"table {table!r} differs from the column dictionary: " + "; ".join(problems))


def _column_problems(column: pa.ChunkedArray, field: Field) -> Iterator[str]:
    """Yield what is wrong with a column."""
    name = field.name
    if column.type != field.type:
        yield f"column {name!r} is {column.type}, not {field.type}"
        return
    if field.missing == NEVER and column.null_count:
        yield f"column {name!r} has {column.null_count} nulls and may have none"
    row = pc.index(pc.is_finite(column), False).as_py() if field.type == FLOAT64 else -1
    if row >= 0:
        yield f"column {name!r}, row {row}: {column[row].as_py()} is not a finite number (missing is null)"
        return
    if field.minimum is None or len(column) == column.null_count:
        return
    most = float("inf") if field.maximum is None else field.maximum
    extremes = pc.min_max(column)
    if extremes["min"].as_py() < field.minimum or extremes["max"].as_py() > most:
        values = column.to_pylist()
        row = next(i for i, value in enumerate(values) if value is not None and not field.minimum <= value <= most)
        yield f"column {name!r}, row {row}: {values[row]} is outside {field.minimum:g}..{most:g}"


def write_table(data: pa.Table, path: Path | Any, table: str, options: Mapping[str, Any] = PARQUET_OPTIONS) -> None:
    """Check a table and write it as one Parquet file; equal tables give equal bytes.

    A path appears, or is replaced, only when all is written; a binary file object stays open. Columns are written in
    the dictionary's order and with its metadata. Metadata of the table itself that the dictionary does not know is
    kept. Where the rows are in the order that the dictionary names, the file says so.

    Raises
    ------
    SchemaError
        The table differs from the column dictionary.
    StorageError
        The path cannot be written; an old file stays as it was.
    """
    check_table(data, table)
    schema = arrow_schema(table, data.column_names)
    schema = schema.with_metadata({**(data.schema.metadata or {}), **schema.metadata})
    # One chunk a column: the bytes should not tell how the table was made.
    whole = data.select(schema.names).combine_chunks().cast(schema)
    with create_file(path) if isinstance(path, str | os.PathLike) else nullcontext(path) as file:
        pq.write_table(whole, file, sorting_columns=_sorting_columns(whole, table), **options)


class RowGroups:
    """A Parquet file of a table that is written a row group at a time; a context manager.

    The file is the same, byte for byte, as ``write_table`` makes of all rows at once. It appears when all is written,
    and says that its rows are in the order that the dictionary names if they are.

    Parameters
    ----------
    path : Path
        File to make.
    table : str
        Name of the table.
    schema : pyarrow.Schema
        Of the dictionary, for the columns that there are.
    notes : mapping of str to str
        Metadata of the table itself.
    is_sorted : bool
        Whether the rows are in that order; the file says so at its beginning, so it must be known before.
    options : mapping
        How it is written.
    """

    def __init__(
        self,
        path: Path,
        table: str,
        schema: pa.Schema,
        *,
        notes: Mapping[str, str] = MappingProxyType({}),
        is_sorted: bool,
        options: Mapping[str, Any] = PARQUET_OPTIONS,
    ) -> None:
        self._rows = int(options["row_group_size"])
        self._table = table
        given = {name.encode(): text.encode() for name, text in notes.items()}
        self._schema = schema.with_metadata({**given, **(schema.metadata or {})})
        name = SORTED_BY.get(table)
        is_sorted = is_sorted and name in schema.names
        order = [pq.SortingColumn(schema.names.index(name))] if is_sorted else None
        settings = {option: value for option, value in options.items() if option != "row_group_size"}
        self._stack = ExitStack()
        file = self._stack.enter_context(create_file(path))
        self._writer = self._stack.enter_context(
            pq.ParquetWriter(file, self._schema, sorting_columns=order, **settings)
        )

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *about: Any) -> bool | None:
        """Let the file appear, or leave nothing where something was raised."""
        return self._stack.__exit__(*about)

    def write(self, data: pa.Table) -> None:
        """Check rows and write them behind the others; as many as a row group has, unless they are the last."""
        check_table(data, self._table)
        whole = data.select(self._schema.names).combine_chunks().cast(self._schema)
        self._writer.write_table(whole, row_group_size=self._rows)


def write_frame(frame: pd.DataFrame, path: Path, table: str, options: Mapping[str, Any] = PARQUET_OPTIONS) -> None:
    """Do as ``write_table(to_arrow(frame, table), path, table, options)``, a row group at a time.

    The file is the same, byte for byte; in memory there is no second copy of a long table.

    Raises
    ------
    SchemaError, StorageError
        As those do.
    """
    rows = int(options["row_group_size"])
    if len(frame) <= rows:
        write_table(to_arrow(frame, table), path, table, options)
        return
    schema = arrow_schema(table, frame.columns)
    try:
        with RowGroups(path, table, schema, is_sorted=_is_sorted(frame, table), options=options) as file:
            for begin in range(0, len(frame), rows):
                file.write(to_arrow(frame.iloc[begin : begin + rows], table))
    except SchemaError:
        to_arrow(frame, table)  # says which row of the whole it is
        raise


def _is_sorted(frame: pd.DataFrame, table: str) -> bool:
    """Whether the rows of a frame are in the order that the dictionary names."""
    name = SORTED_BY.get(table)
    return name in frame and not frame[name].isna().any() and bool(frame[name].is_monotonic_increasing)


def _sorting_columns(data: pa.Table, table: str) -> list[pq.SortingColumn] | None:
    """Return the column that a table's rows are in the rising order of, if they are, so that readers may skip parts."""
    name = SORTED_BY.get(table)
    if name is None or name not in data.column_names or data[name].null_count:
        return None
    values = data[name].combine_chunks()
    is_rising = len(values) < 2 or pc.all(pc.less_equal(values[:-1], values[1:])).as_py()
    return [pq.SortingColumn(data.column_names.index(name))] if is_rising else None


def read_frame(path: Path, table: str, without: Collection[str] = ()) -> pd.DataFrame:
    """Do as ``to_pandas(read_table(path, table), table)``; of a long table there is one copy in memory, not two.

    Parameters
    ----------
    path : Path
        File to read.
    table : str
        Name of the table.
    without : collection of str
        Columns that are left out.

    Raises
    ------
    SchemaError, OSError
        As ``read_table`` does.
    """
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            rows, schema = file.metadata.num_rows, file.schema_arrow
            if rows <= LONG:
                data = file.read()
                check_table(data, table)
                return to_pandas(data.select([name for name in schema.names if name not in without]), table)
            check_table(schema.empty_table(), table)
            fields = table_fields(table)
            columns: dict[str, Any] = {}
            for name in (name for name in fields if name in schema.names and name not in without):
                column = file.read([name])[name]
                if problems := list(_column_problems(column, fields[name])):
                    raise SchemaError(f"table {table!r} differs from the column dictionary: " + "; ".join(problems))
                whole = column if pa.types.is_list(column.type) else column.combine_chunks()  # lists take most
                del column
                values = pd.Series(_values(whole, fields[name]), copy=False)
                del whole
                columns[name] = share_alike(values, columns.values())
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(path, error) from error
    return pd.DataFrame(columns, copy=False)


def compacted(frame: pd.DataFrame, beside: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return a long table in which columns of zeros take no memory, and those that are alike share theirs.

    They also share that of columns of another table of as many rows, ``beside``. A short table is returned as it is.
    """
    if len(frame) <= LONG:
        return frame
    there = [] if beside is None else [beside[name] for name in beside]
    columns: dict[Any, pd.Series[Any]] = {}
    for name in frame:
        columns[name] = share_alike(_without_zeros(frame[name]), [*columns.values(), *there])
    return pd.DataFrame(columns, copy=False)


def _without_zeros(values: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column whose zeros take no memory where it has no other number."""
    array = values.array
    if values.dtype == np.bool_:
        return values if values.any() else pd.Series(untouched_zeros(len(values), np.bool_), values.index, copy=False)
    if not isinstance(array, pd.arrays.IntegerArray) or str(array.dtype) != "Int64":
        return values
    missing = array.isna()
    if array.to_numpy(dtype=np.int64, na_value=0, copy=False).any():
        return values
    missing = missing if missing.any() else untouched_zeros(len(values), np.bool_)
    numbers = untouched_zeros(len(values), np.int64)
    return pd.Series(pd.arrays.IntegerArray(numbers, missing), values.index, copy=False)


def share_alike(values: pd.Series[Any], others: Iterable[pd.Series[Any]]) -> pd.Series[Any]:
    """Return a long column, in the memory of another that is the same, if there is one."""
    return next((other for other in others if _is_alike(values, other)), values).copy(deep=False)


def _is_alike(values: pd.Series[Any], other: pd.Series[Any]) -> bool:
    """Whether two long columns of numbers are the same, bit for bit.

    Then they may share memory till somebody writes to one of them: pandas copies it at that moment. Of a log, many
    columns are missing throughout, and the widths allocated, requested and simulated are often one.
    """
    if values.dtype != other.dtype:
        return False
    some = slice(None, None, max(len(values) // 64, 1))  # most differ in the first few
    return all(
        bool(mine) and all(np.array_equal(part, like) for part, like in zip(mine, others, strict=True))
        for mine, others in ((_parts(values.iloc[which]), _parts(other.iloc[which])) for which in (some, slice(None)))
    )


def read_table(path: Path | Any, table: str) -> pa.Table:
    """Read one Parquet file of a table and check it.

    Raises
    ------
    SchemaError
        The file is not Parquet, damaged, or its table differs from the column dictionary.
    OSError
        The file cannot be opened.
    """
    try:
        data = pq.ParquetFile(path, page_checksum_verification=True).read()
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(path, error) from error
    check_table(data, table)
    return data


def _unreadable(path: Any, error: Exception) -> Exception:
    """Return the error that says that a file cannot be opened, or is damaged."""
    if isinstance(error, SchemaError) or (isinstance(error, OSError) and error.errno):
        return error
    return SchemaError(f"{path}: not a readable Parquet file ({error}); publish it again")
