"""Logs and traces as files: compression, the Standard Workload Format, Parquet."""
