"""The console script ``swftools``: thin commands over the functions of swftools and the tasks of pipelines."""
