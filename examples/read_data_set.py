# SPDX-License-Identifier: BSD-3-Clause
"""Read the latest version of a published data set, without this package: pandas, and polars and DuckDB where they are.

Run it beside the data root, after ``make augment``: ``.venv/bin/python examples/read_data_set.py``. pandas is in that
environment; the others come by ``pip install polars duckdb``.
"""

from importlib.util import find_spec
from pathlib import Path

import pandas as pd

data_set = Path("data/SDSC-BLUE-2000-4.2-cln-5000-9999")
version = data_set / (data_set / "latest").read_text().strip()

jobs = pd.read_parquet(version / "jobs")
print(f"pandas: {len(jobs)} jobs, mean wait {jobs['wait_time'].mean():.1f} s")

if find_spec("polars"):
    import polars as pl

    frame = pl.read_parquet(version / "jobs/*.parquet")
    print(f"polars: {frame.height} jobs, mean wait {frame['wait_time'].mean():.1f} s")

if find_spec("duckdb"):
    import duckdb

    query = f"SELECT count(*), avg(wait_time) FROM '{version}/jobs/*.parquet'"
    ((count, mean),) = duckdb.sql(query).fetchall()
    print(f"DuckDB: {count} jobs, mean wait {mean:.1f} s")
