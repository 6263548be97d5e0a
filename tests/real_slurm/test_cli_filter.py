# SPDX-License-Identifier: BSD-3-Clause
"""The example of a cli_filter, in a real ``sbatch``: a line where the service answers, else silence; jobs always go."""

from __future__ import annotations

import re
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from swftools.job_scripts import read_job_script
from tests.folders import ROOT
from tests.real_slurm.cluster import Slurm
from tests.served import Served, serving

pytestmark = pytest.mark.slow

EXAMPLE = ROOT / "examples" / "slurm" / "cli_filter.lua"
WORDS = "90 % of such jobs start within 2 h."


@pytest.fixture(scope="module")
def filtered(own_slurm: Slurm) -> Slurm:
    """A Slurm whose commands look for a filter in Lua."""
    plugins = re.search(r"PluginDir += (\S+)", own_slurm.run("scontrol show config"))
    assert plugins is not None
    if not (Path(plugins[1]) / "cli_filter_lua.so").exists():
        pytest.skip("this Slurm has no cli_filter/lua")
    with (own_slurm.folder / "slurm.conf").open("a") as file:
        file.write("CliFilterPlugins=cli_filter/lua\n")
    return own_slurm


@pytest.fixture
def service() -> Iterator[Served]:
    """A service that answers."""
    with serving() as served:
        served.says({"no_prediction": None, "in_words": WORDS})
        yield served


def install(slurm: Slurm, url: str, **settings: str) -> None:
    """Put the example where Slurm looks for it, with other settings."""
    text = EXAMPLE.read_text(encoding="utf-8")
    for name, value in {"SERVER": f'"{url}"', **settings}.items():
        text, count = re.subn(rf"^local {name} = \S+", f"local {name} = {value}", text, flags=re.MULTILINE)
        assert count == 1
    (slurm.folder / "cli_filter.lua").write_text(text)


def submit(slurm: Slurm, words: str, path: str = "") -> str:
    """Submit a job; return what sbatch says beside its id. The job is there."""
    environment = {**slurm.environment, **({"PATH": path} if path else {})}
    done = subprocess.run(
        [
            "/bin/sh",
            "-c",
            f"exec $(PATH={slurm.environment['PATH']} command -v sbatch) --hold --output=/dev/null {words}",
        ],
        check=True,
        cwd=slurm.folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=30,
    )
    if "--quiet" not in words:
        assert slurm.run(f"squeue --noheader --format=%i --job={done.stdout.split()[-1]}").split()
    return done.stderr


def asked(service: Served) -> dict[str, list[str]]:
    """Return the parameters that came last."""
    return parse_qs(urlsplit(service.asked[-1]).query)


def test_a_user_is_told(filtered: Slurm, service: Served) -> None:
    """One line, of what the script and the command line say together."""
    install(filtered, service.url)
    (filtered.folder / "job.sh").write_text("#!/bin/sh\n#SBATCH -p batch -t 4:00:00\ntrue\n")
    assert submit(filtered, "--time=1-12 job.sh") == f"sbatch: {WORDS}\n"
    assert asked(service) == {"quantile": ["0.5", "0.9"], "queue": ["batch"], "time": ["1-12:00:00"]}
    assert submit(filtered, "--time=30 job.sh") == f"sbatch: {WORDS}\n"
    assert asked(service)["time"] == ["00:30:00"]


def test_what_is_asked(filtered: Slurm, service: Served) -> None:
    """As the settings say: processors of all tasks, the cluster, a default queue."""
    settings = {"SENDS_PROCESSORS": "true", "SENDS_TIME": "false", "CLUSTER": '"a b\'c"', "DEFAULT_QUEUE": '"d&e"'}
    install(filtered, service.url, **settings)
    submit(filtered, "-n 4 -c 2 --wrap true")
    assert asked(service) == {
        "quantile": ["0.5", "0.9"],
        "cluster": ["a b'c"],
        "queue": ["d&e"],
        "processors": ["8"],
    }
    submit(filtered, "-N 2 --ntasks-per-node=3 --wrap true")
    assert asked(service)["processors"] == ["6"]
    install(filtered, service.url, SENDS_QUEUE="false", SENDS_TIME="false")
    submit(filtered, "--wrap true")
    assert asked(service) == {"quantile": ["0.5", "0.9"]}


SIZES = {
    "": 1,
    "-n 4 -c 2": 8,
    "-N 2": 2,
    "-N 2 -c 3": 6,
    "-N 1-2": 1,
    "-N 1-2 -c 2": 2,
    "-N 2 --ntasks-per-node=3": 6,
    "-N 1-2 --ntasks-per-node=2": 2,
    "--ntasks-per-node=2 -c 2": 4,
    "-n 4 --ntasks-per-node=4 -N 2": 4,
    "-N 2 --ntasks-per-node=2 -n 3": 3,
    "-O -n 8": 1,
    "-O -n 8 -N 2": 2,
}
"""Options, and the processors that they request."""


def test_processors_are_those_of_the_request(filtered: Slurm, service: Served) -> None:
    """As ``read_job_script`` counts them, which is held against accounting."""
    install(filtered, service.url, SENDS_PROCESSORS="true", SENDS_TIME="false")
    script = filtered.folder / "sized.sh"
    script.write_text("#!/bin/sh\n#SBATCH -p batch\n")
    found, read = {}, {}
    for words in SIZES:
        submit(filtered, f"{words} sized.sh")
        found[words] = int(asked(service)["processors"][0])
        read[words] = read_job_script(script, arguments=words.split(), environment={}).processors
    assert found == read == SIZES


def test_of_several_partitions_the_first_is_asked(filtered: Slurm, service: Served) -> None:
    """The service knows each by its name alone."""
    install(filtered, service.url)
    submit(filtered, "-p batch,batch -t 30 --wrap true")
    assert asked(service)["queue"] == ["batch"]


@pytest.mark.parametrize("words", ["--quiet", "--parsable", "-t UNLIMITED", "-p batch", "-t 30"])
def test_who_is_not_told(filtered: Slurm, service: Served, words: str) -> None:
    """Scripts that want ids alone, and jobs that do not say enough: nothing is asked."""
    full = "-p batch -t 30" if words.startswith("--") else "-p batch" if "UNL" in words else ""
    install(filtered, service.url)
    assert submit(filtered, f"{words} {full} --wrap true") == ""
    assert service.asked == []


@pytest.mark.parametrize(
    ("told", "status"),
    [
        ({"no_prediction": "training", "in_words": "No prediction."}, 200),
        ({"no_prediction": None}, 200),
        ({"detail": "refused", "in_words": WORDS, "no_prediction": None}, 400),
        ({"in_words": WORDS, "no_prediction": None}, 503),
        (b"<html>", 200),
        (b"", 200),
    ],
)
def test_there_is_no_answer(filtered: Slurm, service: Served, told: object, status: int) -> None:
    """It is silent."""
    install(filtered, service.url)
    service.says(told, status)
    assert submit(filtered, "-p batch -t 30 --wrap true") == ""
    assert len(service.asked) == 1


def test_an_answer_does_not_steer_a_terminal(filtered: Slurm, service: Served) -> None:
    """Controls and what is no ASCII are not shown; a quote is."""
    install(filtered, service.url)
    service.says({"no_prediction": None, "in_words": 'a "b" \x1b[2J é\n'})
    assert submit(filtered, "-p batch -t 30 --wrap true") == 'sbatch: a "b" ?[2J ? \n'
    service.says(b'{"no_prediction": null, "in_words": "a \xc2\x9b2J b"}')
    assert submit(filtered, "-p batch -t 30 --wrap true") == "sbatch: a ??2J b\n"


def test_the_service_is_away_or_slow(filtered: Slurm, service: Served) -> None:
    """Nobody listens, nobody answers, or the answer never ends; or curl is missing. It is silent, and the job goes."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        install(filtered, url)
        assert submit(filtered, "-p batch -t 30 --wrap true") == ""
    assert submit(filtered, "-p batch -t 30 --wrap true") == ""
    service.is_slow, service.length = True, 60_000
    install(filtered, service.url)
    assert submit(filtered, "-p batch -t 30 --wrap true") == ""
    service.is_slow, service.length = False, None
    assert submit(filtered, "-p batch -t 30 --wrap true", path="/nowhere") == ""
    assert len(service.asked) == 1
