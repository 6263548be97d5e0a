"""The Luigi tasks: verb and noun, one output each; load, call one function of swftools, save."""
