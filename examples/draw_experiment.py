# SPDX-License-Identifier: BSD-3-Clause
"""Run the cells of an experiment's file and draw what came out, as a picture beside the published version.

    python examples/draw_experiment.py examples/experiments/load.yaml --workers 2
    python examples/draw_experiment.py examples/experiments/policies.yaml --only backfilling
    python examples/draw_experiment.py examples/experiments/reservations.yaml --cluster tcp://head:8786

Where there are several loads and one policy the picture shows the metric along the load, a line a log; else how much
better or worse each policy is than the baseline, log by log. Of each load there is a picture of its own then. With
``--quick`` two small generated logs stand for those of the file: a minute.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import luigi
import pandas as pd
import yaml

import pipelines
from swftools.errors import SwfToolsError
from swftools.plots import caption, plot

SMALL = "lublin-feitelson:jobs=200,processors=64,load=0.8,seed={}"


def read(path: str, *, quick: bool) -> dict[str, Any]:
    """Return what the file says, with small logs if it is to be quick."""
    experiment: dict[str, Any] = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    if quick:
        experiment["logs"] = [SMALL.format(1), SMALL.format(2)]
    return experiment


def pictures(values: pd.DataFrame, metric: str) -> Iterator[tuple[str, str, pd.DataFrame, dict[str, Any]]]:
    """Yield the end of a file's name, the picture, its table and its parameters."""
    # A picture takes repetitions by their seed; here each shake is one.
    values = values.assign(seed=values["seed"] * 1_000_000 + values["shake"])
    if values["load"].nunique() > 1 and values["policy"].nunique() == 1:
        yield "", "sensitivity", values, {"metric": metric, "along": "load"}
        return
    for load, rows in values.groupby("load", sort=False):
        yield f"-load-{load:g}" if load else "", "differences", rows, {"metric": metric}


def main() -> int:
    """Run and draw; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--only", default="", help="a subset that the file names")
    parser.add_argument("--quick", action="store_true", help="small generated logs in place of the file's")
    parser.add_argument("--metric", default="bounded_slowdown_mean")
    parser.add_argument("--format", default="png", choices=("png", "svg", "pdf"), help="of the picture")
    parser.add_argument("--data-root", default="data")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--cluster", default="", help="tcp://HOST:PORT of a Dask scheduler, or slurm:FILE.yaml")
    given = parser.parse_args()
    try:
        task = pipelines.PublishExperiment(
            experiment=read(given.file, quick=given.quick),
            only=given.only,
            data_root=given.data_root,
            processes=given.workers,
            cluster=given.cluster,
        )
        if not luigi.build([task], local_scheduler=True, log_level="WARNING"):
            return 30
        version = Path(task.output().path)
        for end, picture, rows, parameters in pictures(pd.read_parquet(version / "experiment"), given.metric):
            file = version.with_name(f"{version.name}{end}.{given.format}")
            plot(rows, picture, **parameters).figure.savefig(file)
            print(f"{caption(rows, picture, **parameters)}\n{file}")
    except SwfToolsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
