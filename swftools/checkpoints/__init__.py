"""TODO swftools/checkpoints."""
