"""Tables on their way in and out: pandas to pyarrow, checked against the column dictionary.

``to_arrow`` gives a table exactly the types, nullability and metadata that ``fields.py`` declares;
``check_table`` refuses a table that differs, on write and on read; ``read_table`` and ``write_table`` are
the one way to Parquet.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from swftools.errors import SchemaError
from swftools.fields import BOOL, FLOAT64, INT64, STRING, TIMESTAMP, arrow_schema, table_fields

PARQUET_OPTIONS: dict[str, Any] = {"compression": "zstd", "version": "2.6", "row_group_size": 1 << 20}
"""One way of writing, so that equal tables give equal bytes."""

_PANDAS_DTYPES: dict[pa.DataType, Any] = {INT64: "Int64", FLOAT64: "float64", STRING: "str", BOOL: "bool"}


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
        A column is unknown or its values do not fit the declared type.
    """
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

    The utility column stays an Arrow list (``pandas.ArrowDtype``), which costs no copy.
    """
    columns = {}
    for name, field in table_fields(table).items():
        if name not in data.column_names:
            continue
        column = data[name].combine_chunks()
        if field.type in _PANDAS_DTYPES:
            columns[name] = _series(column, _PANDAS_DTYPES[field.type])
        elif field.type == TIMESTAMP:
            columns[name] = column.to_pandas()
        else:
            columns[name] = pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([column])))
    return pd.DataFrame(columns)


def _series(column: pa.Array, dtype: str) -> pd.Series[Any]:
    """Return a column as a pandas series that is writable and owns its memory."""
    if dtype == "Int64":
        mask = column.is_null().to_numpy(zero_copy_only=False).copy()
        return pd.Series(pd.arrays.IntegerArray(column.fill_null(0).to_numpy().copy(), mask))
    return pd.Series(column.to_pandas().astype(dtype, copy=True))


def empty_frame(table: str, columns: list[str] | None = None) -> pd.DataFrame:
    """Return a DataFrame of a table without rows, in the declared dtypes."""
    return to_pandas(arrow_schema(table, columns).empty_table(), table)


def check_table(data: pa.Table, table: str) -> None:
    """Check a table against the column dictionary: columns, types, nullability, value ranges.

    Raises
    ------
    SchemaError
        Lists every difference: unknown and missing columns, wrong types, nulls in columns that are never
        missing, negative or absurdly large values with the first row that has one.
    """
    fields = table_fields(table)
    problems = []
    if unknown := sorted(set(data.column_names) - set(fields)):
        problems.append(f"unknown columns {unknown}")
    required = [f.name for f in fields.values() if f.swf_position is not None or table != "jobs"]
    if missing := [name for name in required if name not in data.column_names]:
        problems.append(f"missing columns {missing}")
    for name in data.column_names:
        if name not in fields:
            continue
        field, column = fields[name], data[name]
        if column.type != field.type:
            problems.append(f"column {name!r} is {column.type}, not {field.type}")
            continue
        if field.missing == "never" and column.null_count:
            problems.append(f"column {name!r} has {column.null_count} nulls and may have none")
        # Status is the one field that real logs fill with values outside its list, negative ones included.
        if field.maximum is not None and name != "status" and len(column) > column.null_count:
            extremes = pc.min_max(column)
            if extremes["min"].as_py() < 0 or extremes["max"].as_py() > field.maximum:
                wrong = pc.or_(pc.less(column, 0), pc.greater(column, field.maximum))
                row = pc.index(wrong, True).as_py()
                problems.append(f"column {name!r}, row {row}: {column[row].as_py()} is outside 0..{field.maximum:g}")
    if problems:
        raise SchemaError(f"table {table!r} differs from the column dictionary: " + "; ".join(problems))


def write_table(data: pa.Table, path: Path | Any, table: str) -> None:
    """Check a table and write it as one Parquet file; equal tables give equal bytes.

    Raises
    ------
    SchemaError
        The table differs from the column dictionary.
    """
    check_table(data, table)
    pq.write_table(data, path, **PARQUET_OPTIONS)


def read_table(path: Path | Any, table: str) -> pa.Table:
    """Read one Parquet file of a table and check it.

    Raises
    ------
    SchemaError
        The file is not Parquet, or its table differs from the column dictionary.
    """
    try:
        data = pq.ParquetFile(path).read()
    except pa.ArrowInvalid as error:
        raise SchemaError(f"{path}: not a readable Parquet file ({error}); publish it again") from error
    check_table(data, table)
    return data
