# SPDX-License-Identifier: BSD-3-Clause
"""The console script ``swftools``: thin commands over the functions of swftools and the tasks of pipelines.

A file a family of commands. They import what is heavy when they run, so that help and version appear at once. Exit
statuses are listed in ``docs/console.md``.
"""

from __future__ import annotations

import click

from pipelines.cli.collect import collect
from pipelines.cli.compare import compare
from pipelines.cli.data_sets import promote, prune, rollback, tag, verify, versions
from pipelines.cli.deposits import cite, export
from pipelines.cli.diff import diff
from pipelines.cli.energy import measure_log_energy
from pipelines.cli.experiments import run_experiment
from pipelines.cli.explain import explain
from pipelines.cli.formats import formats
from pipelines.cli.groups import Commands
from pipelines.cli.help_command import show_help
from pipelines.cli.history import reevaluate
from pipelines.cli.kernels import warm_up_kernels
from pipelines.cli.listings import measures, pictures, policies, predictors
from pipelines.cli.logs import convert, describe_log, study_log, validate_logs
from pipelines.cli.machines import machine
from pipelines.cli.papers import reproduce
from pipelines.cli.pictures import plot, report
from pipelines.cli.predict import predict
from pipelines.cli.prices import price_log
from pipelines.cli.referee import hold_against
from pipelines.cli.reservations import reservations
from pipelines.cli.reserve import reserve
from pipelines.cli.schedule_checks import check_schedule
from pipelines.cli.schedules import simulate_log
from pipelines.cli.serve import serve
from pipelines.cli.sites import sites
from pipelines.cli.status import status
from pipelines.cli.tasks import augment, publish, run
from pipelines.cli.waits import evaluate
from pipelines.cli.whatif import whatif
from pipelines.cli.why_waits import why_users_wait
from pipelines.config import show_progress
from swftools._version import __version__


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="swftools")
def main() -> None:
    """Workload traces of parallel machines: read, check, clean, augment, publish.

    \b
    Look at a log:            swftools describe LOG
    How good requests are:    swftools estimates LOG
    Why users wait:           swftools waits LOG
    Find what is wrong:       swftools validate LOG
    Change its format:        swftools convert LOG OUT.parquet
    Which formats are read:   swftools formats
    Publish it as data set:   swftools publish LOG
    Simulate a policy:        swftools simulate LOG --policy easy
    Compare policies:         swftools compare --log LOG --policies fcfs,easy
    A whole experiment:       swftools experiment FILE.yaml
    How far it is:            swftools status NAME
    Which policies there are: swftools policies
    Explain a decision:       swftools explain LOG --job 1234
    Check any schedule:       swftools check-schedule SCHEDULE.csv --log LOG
    Against a real Slurm:     swftools referee LOG --machine FILE
    What users owe:           swftools price LOG --mechanism fixed
    Simulate reservations:    swftools reservations LOG --share .1
    At several sites:         swftools sites FILE.yaml
    Predict waits:            swftools evaluate --log LOG
    Wait of a job now:        swftools predict --state STATE --queue 3
    Before it is submitted:   swftools predict --server URL --script job.sh
    When to submit it:        swftools reserve --state STATE --start +6h ...
    When it would start:      swftools whatif --running now.txt --job ...
    Answer over the web:      swftools serve --slurm
    Hear of a batch system:   swftools collect --slurm --journal FILE
    Each night:               swftools reevaluate --inbox DIR --history NAME
    A paper's tables:         swftools reproduce nurmi2009
    Draw a picture:           swftools plot LOG --picture arrivals
    Show a version:           swftools report NAME
    See what is published:    swftools versions
    Compare two versions:     swftools diff NAME
    Name a version for good:  swftools tag NAME VERSION TAG
    Deposit a version:        swftools export NAME --to FOLDER
    What to cite:             swftools cite NAME

    LOG is one of

    \b
    a path    SWF, or an accounting log (see swftools formats); .gz .bz2 .xz .zst,
              a folder of daily files, a pattern, a .parquet of convert, or a
              published version, such as data/NAME/VERSION
    -         standard input
    a card    of the catalogue: SDSC-BLUE-2000-4.2-cln-5000-9999, which is shipped
    a model   lublin-feitelson:jobs=10000,processors=128,load=0.8,seed=3

    Commands take the machine and the cleaning rules from the log's card, and clean the log
    unless you give --raw.
    """
    show_progress()


main.add_family("Logs", describe_log, why_users_wait, study_log, validate_logs, convert, formats, machine)
main.add_family("Data sets", augment, publish, versions, diff, tag, rollback, promote, verify, prune, export, cite)
main.add_family(
    *("Simulation", simulate_log, compare, run_experiment, status),
    *(explain, check_schedule, hold_against, price_log, measure_log_energy),
)
main.add_family("What can be named", policies, predictors, measures, pictures)
main.add_family("Waits in queues", evaluate, predict, reserve, reservations, sites, whatif, serve, collect)
main.add_family("Histories", reevaluate)
main.add_family("Papers", reproduce)
main.add_family("Pictures", plot, report)
main.add_family("Others", run, warm_up_kernels, show_help)


if __name__ == "__main__":
    main()
