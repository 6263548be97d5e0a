"""A history: the jobs of all logs of a machine, whenever their files arrive, each counted once.

What is done to jobs as such is here, without files: ``records`` makes rows of a history from a trace, ``merging`` puts
them into what there is, ``months`` parts them. Files, versions and nights are the pipeline's.
"""
