"""Read the latest version of a published data set with pandas, polars and DuckDB, without this package.

Run it beside the data root, after ``make augment``: ``python examples/read_data_set.py``.
"""

from pathlib import Path

import duckdb
import pandas as pd
import polars as pl

data_set = Path("data/SDSC-BLUE-2000-4.2-cln-5000-9999")
version = data_set / (data_set / "latest").read_text().strip()

with_pandas = pd.read_parquet(version / "jobs")
with_polars = pl.read_parquet(version / "jobs/*.parquet")
with_duckdb = duckdb.sql(f"SELECT count(*), avg(wait_time) FROM '{version}/jobs/*.parquet'").fetchall()

print(f"pandas: {len(with_pandas)} jobs, mean wait {with_pandas['wait_time'].mean():.1f} s")
print(f"polars: {with_polars.height} jobs, mean wait {with_polars['wait_time'].mean():.1f} s")
print(f"DuckDB: {with_duckdb[0][0]} jobs, mean wait {with_duckdb[0][1]:.1f} s")
