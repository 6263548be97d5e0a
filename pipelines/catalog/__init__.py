"""TODO pipelines/catalog."""
