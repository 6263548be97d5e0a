"""TODO pipelines/logs."""
