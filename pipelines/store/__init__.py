"""TODO pipelines/store."""
