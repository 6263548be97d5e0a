# SPDX-License-Identifier: BSD-3-Clause
"""Job scripts, and how they are submitted: what a real ``sbatch`` made of each stands in ``recorded.csv``."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import NamedTuple

LARGE = "#SBATCH --partition=large"


class Script(NamedTuple):
    """A script with what is given beside it.

    Parameters
    ----------
    lines : tuple of str
        Behind its first one.
    command_line : str
        Before the script.
    environment : mapping of str to str
        Variables.
    """

    lines: tuple[str, ...]
    command_line: str = ""
    environment: Mapping[str, str] = {}

    @property
    def text(self) -> str:
        """The whole script."""
        return "\n".join(["#!/bin/sh", *self.lines, "true", ""])

    @property
    def arguments(self) -> list[str]:
        """The words of the command line."""
        return shlex.split(self.command_line)


def of_large(*options: str, command_line: str = "", **environment: str) -> Script:
    """Return a script for the partition ``large``, a line for each text of options."""
    return Script((LARGE, *(f"#SBATCH {each}" for each in options)), command_line, environment)


def of_pbs(resources: str, *more: str) -> Script:
    """Return a script of PBS for the queue ``large``."""
    return Script(("#PBS -q large", f"#PBS -l {resources}", *more))


SCRIPTS = {
    "nothing": Script(()),
    "nodes": of_large("-N 2"),
    "a range of nodes": of_large("--nodes=2-4"),
    "a range of nodes with tasks": of_large("-N 2-4 -n 8 --mem-per-cpu=1G"),
    "thousands of nodes": of_large("-N 1k"),
    "fewer tasks than nodes": of_large("-N 3-5 -n 2"),
    "tasks": of_large("-n4"),
    "tasks and processors of each": of_large("--ntasks 4 --cpus-per-task 3"),
    "processors of a node": of_large("-N 2", "-c 3"),
    "tasks of a node": of_large("-N 3 --ntasks-per-node=8 -c 2"),
    "tasks of a node, without nodes": of_large("-n 100 --ntasks-per-node=8"),
    "tasks of a node by another name": of_large("--ntasks-per-node=4 --tasks-per-node=5"),
    "sockets and cores": of_large("-B 2:4 -c 2"),
    "sockets and cores as a range": of_large("-B 2-4:2-8 -N 2"),
    "sockets twice": of_large("--sockets-per-node=3 -B 2:2 -N 2"),
    "sockets on the command line": of_large(command_line="-B 2:2", SBATCH_THREADS_PER_CORE="2"),
    "sockets without nodes": of_large("--sockets-per-node=2"),
    "threads": of_large("-N 2 --threads-per-core=2"),
    "overcommitted": of_large("-n 16 -N 2 -c 4 --overcommit"),
    "exclusive": of_large("--exclusive -N 2 -n 6 --mem=4G"),
    "listed nodes": of_large("-w f[01-02,05],f[07-08]"),
    "listed nodes and more": of_large("-w f[01-03] -N 5"),
    "listed nodes and few tasks": of_large("-w f[01-03],f05 -n 2"),
    "listed nodes in a range": of_large("-w f[01-03] -N 2-4 -c 2"),
    "memory of a node": of_large("--mem=4G -N 2"),
    "memory in KiB": of_large("--mem=1500K"),
    "memory with two letters": of_large("--mem=2gb"),
    "memory without a unit": of_large("--mem 100"),
    "memory of a processor": of_large("--mem-per-cpu=1500K -n 2 -c 2"),
    "memory of a GPU": of_large("--mem-per-gpu=2G --gpus-per-node=2 -N 2"),
    "all memory": of_large("--mem=0"),
    "GPUs": of_large("-G 4"),
    "GPUs of several types": of_large("--gres=gpu:a100:1,gpu:v100:2"),
    "GPUs of one type twice": of_large("--gres=gpu:1,gpu:2"),
    "GPUs of a node": of_large("--gpus-per-node=4 -N 3"),
    "GPUs of a task": of_large("--gpus-per-task=2 -n 4"),
    "GPUs of a task on nodes": of_large("-N 2 --gpus-per-task=1 --ntasks-per-node=2 -c 2"),
    "GPUs of a task, and in all": of_large("-G 8 --gpus-per-task=2 -c 2"),
    "GPUs of a node, and in all": of_large("-G 8 --gpus-per-node=2"),
    "GPUs of a node, in all, and a range": of_large("-N 2-8 -G 8 --gpus-per-node=2"),
    "GPUs of a node and of a task": of_large("--gpus-per-node=2 --gpus-per-task=1 -N 2 -n 8"),
    "GPUs of a socket": of_large("--gpus-per-socket=1 --sockets-per-node=2 -N 2"),
    "tasks that share GPUs": of_large("--ntasks-per-gpu=2 -G 2 -c 3"),
    "tasks that share GPUs of nodes": of_large("--ntasks-per-gpu=2 -N 2"),
    "tasks that share GPUs, counted": of_large("--ntasks-per-gpu=2 -n 8"),
    "tasks that share GPUs, and fewer": of_large("-c 3 --ntasks-per-gpu=2 -w f[01-03] -G 8 -n 4"),
    "tasks that share GPUs, overcommitted": of_large("-O --gres=gpu:1 --ntasks-per-gpu=2"),
    "GPUs of tasks on listed nodes": of_large("-w f[01-03] --gpus-per-task=2 -G 8 -c 2"),
    "GPUs of sockets and of nodes": of_large("-B 2:2 --gpus-per-socket=1 --gres=gpu:2 --mem-per-gpu=1G"),
    "tasks that share few GPUs": of_large("--ntasks-per-gpu=2 -n 8 --gpus-per-node=1"),
    "generic resources": of_large("--gres=gpu:2 -N 2"),
    "generic resources without a number": of_large("--gres=gres:gpu"),
    "generic resources and GPUs of a node": of_large("--gpus-per-node=3 --gres=gpu:2"),
    "processors of a GPU": of_large("--cpus-per-gpu=4 -G 2"),
    "minutes": of_large("-t 30"),
    "minutes and seconds": of_large("-t 30:30"),
    "hours": of_large("--time=1:99:99"),
    "days": of_large("-t 1-"),
    "days and hours": of_large("-t 1-30"),
    "days to seconds": of_large("-t 1-2:3:4"),
    "no limit": of_large("-t UNLIMITED"),
    "no time": of_large("-t 0:0:0"),
    "an array": of_large("--array=0-9%2"),
    "an array with steps": of_large("-a 1,0-10:3,3"),
    "several partitions": Script(("#SBATCH -p gpu,large -n 4",)),
    "options cut short": of_large("--part=gpu --arr=1-3 --nodel=f01"),
    "letters joined": of_large("-vQn4"),
    "a tab, no space, and a comment": Script(("#SBATCH-plarge", "#SBATCH\t-n\t4# -n 5")),
    "quotes": of_large('-J \'a b # c\' --comment="d \\" e" -n 5'),
    "a quote in quotes": of_large("-J 'a\"b' -n 5"),
    "a comment in a word": of_large("-J a#b -n 5"),
    "an escaped comment": of_large("-J a\\#b -n 5"),
    "what is no directive": Script(("  #SBATCH -n 4", "##SBATCH -n 4", "# SBATCH -n 4", "#sbatch -n 4", LARGE)),
    "blank lines and comments before": Script((LARGE, "", "   ", "# solve", "#SBATCH -n 5")),
    "behind a command": Script((LARGE, "module load solver", "#SBATCH -n 5")),
    "the last one counts": of_large("-n 5 -n 6", "--ntasks=7"),
    "passed over": of_large(
        "-o out -e err --mail-type=END --requeue -d singleton -k", "--nice=5 --export=ALL --signal=9@60 -n 2"
    ),
    "the command line": of_large("-n 2 -t 60", command_line="--ntasks 7 -p gpu -t 5"),
    "variables": of_large("-n 2 -t 60", SBATCH_TIMELIMIT="10", SBATCH_PARTITION="gpu"),
    "variables and the command line": of_large(
        "-t 60", command_line="-p batch", SBATCH_TIMELIMIT="10", SBATCH_PARTITION="gpu"
    ),
    "variables that are none": of_large("-n 4", SBATCH_NTASKS="7", SLURM_NTASKS="8", SBATCH_NNODES="3"),
    "a variable of memory": of_large("-n 2", SBATCH_MEM_PER_CPU="3G"),
    "a variable of other memory": of_large("--mem=1G", SBATCH_MEM_PER_CPU="3G"),
    "a variable of other memory on the command line": of_large(command_line="--mem=5G", SBATCH_MEM_PER_CPU="3G"),
    "variables of GPUs": of_large("--gres=gpu:1", SBATCH_GPUS="3"),
    "variables of arrays": of_large("-n 3 --array=1-2", SBATCH_ARRAY_INX="1-5", SBATCH_OVERCOMMIT="1"),
    "components": of_large("-n 2 -c 2 -t 5 --mem=2G", "hetjob", "-n 3 -p gpu", "packjob", "-n 4 -t 7 -p large"),
    "behind a component": of_large("-n 2 hetjob -c 4"),
    "a component that is empty": of_large("-n 2", "hetjob # the rest"),
    "components on the command line": of_large("-n 2 -c 2 -t 5", command_line="-n 9 : -n 4"),
    "components and the command line": of_large(
        "-n 2 -t 5", "hetjob", "-n 3 -p large", "hetjob", "-p gpu", command_line="-n 9 : -n 7"
    ),
    "components and variables": of_large("-n 2", "hetjob", "-n 3", SBATCH_TIMELIMIT="11", SBATCH_PARTITION="gpu"),
    "PBS: nodes": of_pbs("nodes=2:ppn=4:gpus=1,walltime=1:00:00,mem=2gb"),
    "PBS: nodes by name": of_pbs("nodes=f01:ppn=2+f02:ppn=2"),
    "PBS: kinds of nodes": of_pbs("nodes=1:ppn=2+2:ppn=3"),
    "PBS: chunks": of_pbs("select=2:ncpus=8:mpiprocs=8:ngpus=1"),
    "PBS: chunks with threads": of_pbs("select=2:ncpus=8:mpiprocs=3:mem=4gb", "#PBS -l walltime=90:00 -N job"),
    "PBS: chunks without tasks": of_pbs("select=2:ncpus=8"),
    "PBS: a plain time": of_pbs("walltime=3600"),
    "PBS: an array": of_pbs("cput=1:00:00", "#PBS -J 0-9 -m abe"),
    "PBS: behind a command": of_pbs("nodes=2", "true", "#PBS -l nodes=3:ppn=2"),
    "PBS and Slurm": Script(("#PBS -l nodes=2:ppn=4", "#SBATCH -p large -n 3 -t 9")),
    "PBS and the command line": Script(("#PBS -l nodes=2:ppn=4,walltime=1:00:00",), "-p large -n 3 -t 7"),
    "PBS in components": Script((LARGE, "#SBATCH hetjob", LARGE, "#SBATCH -n 2", "#PBS -l nodes=2:ppn=4")),
    "PBS passed over": Script((LARGE, "#PBS -l nodes=2:ppn=4"), "--ignore-pbs"),
    "PBS passed over by a variable": Script((LARGE, "#PBS -l nodes=2:ppn=4"), "", {"SBATCH_IGNORE_PBS": "1"}),
    "LSF": Script(("#BSUB -q large -n 4,8 -W 90 -M 1500",)),
    "LSF: a time": Script(("#BSUB -q large", "#BSUB -W 1:30 -x -J name[1-3]")),
    "LSF: hosts": Script(("#BSUB -q large -m 'f01 f02' -M 2G -cwd /tmp",)),
    "LSF before PBS": Script(("#PBS -l nodes=2:ppn=4", "true", "#BSUB -n 6 -q large")),
}
"""By what is in question."""

REFUSED = {
    "an unknown option": (3, of_large("--no-such=4")),
    "an unknown letter": (3, of_large("-Z")),
    "an option that may be several": (3, of_large("--ntas=5")),
    "no value": (3, of_large("-n")),
    "an empty value": (3, of_large("--ntasks=")),
    "a value too many": (3, of_large("--overcommit=yes")),
    "a word": (3, of_large("-n 5 solve")),
    "a word before": (3, of_large("solve -n 5")),
    "behind two hyphens": (3, of_large("-n 4 -- -n 5")),
    "a prefix that goes on": (2, Script(("#SBATCHX -n 4",))),
    "a quote that is not closed": (3, of_large('-J "a b -n 5')),
    "a space that is escaped": (3, of_large("-J a\\ b")),
    "a colon": (3, of_large("-n 2 : -n 4")),
    "no tasks": (3, of_large("-n 0")),
    "tasks that are none": (3, of_large("-n=4")),
    "thousands of tasks": (3, of_large("-n 1k")),
    "an open range of nodes": (3, of_large("-N 2-")),
    "a range of nodes that falls": (3, of_large("-N 4-2")),
    "a list of numbers of nodes": (3, of_large("-N 4,8")),
    "fewer nodes than listed": (3, of_large("-w f[01-03] -N 2")),
    "a time with a letter": (3, of_large("-t 30m")),
    "a time with a space": (3, of_large("-t ' 4'")),
    "a time with too many colons": (3, of_large("-t 1:30:00:00")),
    "a time that ends with a colon": (3, of_large("-t 5:")),
    "memory with a point": (3, of_large("--mem=1.5G")),
    "memory with three letters": (3, of_large("--mem=1Gib")),
    "memory in two ways": (3, of_large("--mem=3G --mem-per-cpu=2G")),
    "memory of GPUs without any": (3, of_large("--mem-per-gpu=1G")),
    "an array that falls": (3, of_large("-a 7-3")),
    "an array with steps of 0": (3, of_large("-a 1-3:0")),
    "an array that is none": (3, of_large("-a x")),
    "GPUs with an equals sign": (3, of_large("--gres=gpu=2")),
    "GPUs with a slash": (3, of_large("--gres=gres/gpu:2")),
    "GPUs of a socket without sockets": (3, of_large("--gpus-per-socket=1 -N 2")),
    "GPUs of tasks without any": (3, of_large("--gpus-per-task=1")),
    "GPUs of fewer nodes than listed": (3, of_large("-w f[01-03] -G 4 --gpus-per-node=2")),
    "GPUs of too many nodes": (3, of_large("-G 8 --gpus-per-node=2 -N 2")),
    "GPUs that are no multiple": (3, of_large("-G 7 --gpus-per-node=2")),
    "GPUs for fewer tasks": (3, of_large("-G 8 --gpus-per-task=2 -n 5")),
    "GPUs of sockets and other ones of nodes": (3, of_large("-B 2:2 --gpus-per-socket=1 --gres=gpu:1")),
    "GPUs of tasks on listed nodes": (3, of_large("-w f[01-03] --gpus-per-task=1")),
    "GPUs of tasks in a range": (3, of_large("-N 2-4 --gpus-per-task=2 --ntasks-per-node=4")),
    "GPUs of a task beyond a node": (3, of_large("--gres=gpu:1 --gpus-per-task=2 -N 2")),
    "GPUs of a node for other tasks": (3, of_large("--gpus-per-node=2 --gpus-per-task=2 -n 8 --ntasks-per-node=4")),
    "GPUs of more nodes than tasks": (3, of_large("-n 2 -w f[01-03] --gres=gpu:2 -G 8")),
    "GPUs shared in a range": (3, of_large("--ntasks-per-gpu=2 -N 2-4")),
    "GPUs shared by tasks of a node": (3, of_large("--ntasks-per-gpu=2 --ntasks-per-node=2 -G 2")),
    "GPUs shared and of tasks": (3, of_large("--ntasks-per-gpu=2 --gpus-per-task=1")),
    "GPUs shared by no multiple": (3, of_large("--ntasks-per-gpu=3 -n 8")),
    "fewer shared GPUs than nodes": (3, of_large("--ntasks-per-gpu=2 -n 4 -N 4")),
    "processors of GPUs and of tasks": (3, of_large("--cpus-per-gpu=4 -c 2 -G 2")),
    "exclusive for nobody": (3, of_large("--exclusive=foo")),
    "an array of components": (3, of_large("-a 1-2", "hetjob", "-p large")),
    "memory that is inherited": (5, of_large("--mem=1G", "hetjob", "--mem-per-cpu=1G -p large")),
    "PBS: an option": (4, of_pbs("nodes=2", "#PBS -P project")),
    "PBS: a word": (2, Script(("#PBS solve",))),
    "PBS: a property": (3, of_pbs("nodes=2:ppn=4:bigmem")),
    "PBS: behind a chunk": (3, of_pbs("select=2:ncpus=8,walltime=1:00:00")),
    "PBS: a time with days": (3, of_pbs("walltime=1:00:00:00")),
    "LSF: an option": (2, Script(('#BSUB -R "span[ptile=4]"',))),
    "LSF: a time for a host": (2, Script(("#BSUB -W 1:30/host",))),
}
"""Scripts that ``sbatch`` refuses, with the line that is at fault."""
