"""TODO swftools/utility."""
