# SPDX-License-Identifier: BSD-3-Clause
"""``predict`` of a job script and a service: what is sent, what is printed, which status it ends with."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from starlette.testclient import TestClient

from pipelines.cli.main import main
from pipelines.exit_statuses import status_of
from pipelines.logs.find import SHIPPED_LOG
from pipelines.service.app import Service, make_app
from swftools.client import Client
from swftools.errors import RefusedQuestionError, ServiceError
from tests.pipelines.luigi_runs import SWFTOOLS, environment
from tests.pipelines.service.small_cluster import Hand, cluster_of

SERVER = ["--server", "http://waits.example.org"]
SCRIPT = "#!/bin/sh\n#SBATCH --nodes=2 --ntasks-per-node=8 --time=4:00:00 --partition=long\nsrun solve\n"
LIMITS = {"is_default": False, "longest": 86_400.0, "default_time": None, "processors": None}


class Fake:
    """A service: hour by hour of requested time jobs wait ten minutes longer, in the queue ``short`` half of that.

    It refuses what makes no difference, as a real one does.
    """

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.about: dict[str, Any] = {
            "cluster": "blue",
            "by": ["queue"],
            "told_apart_by": "requested_time",
            "queues": ["long", "short", "tiny", "gpu"],
            "default_queue": "long",
            "limits": {
                "long": {**LIMITS, "default_time": 7200.0},
                "short": {**LIMITS, "longest": 14_400.0},
                "tiny": {**LIMITS, "longest": 600.0, "processors": 8},
            },
        }
        self.others: list[dict[str, Any]] = []
        self.no_prediction: str | None = None
        self.away: Exception | None = None
        self.words = "90 % of such jobs start within {:.0f} s."

    def get(self, path: str, **parameters: Any) -> Any:
        """Answer as ``Client.get`` does."""
        if self.away is not None and path != "clusters":
            raise self.away
        if path == "clusters":
            return [self.about, *self.others]
        assert path == "wait"
        given = {name: value for name, value in parameters.items() if value is not None}
        self.asked.append(given)
        used = {"requested_time": ["time"], "requested_processors": ["processors"], "requested_work": None}
        names = used[self.about["told_apart_by"]] or ["time", "processors"]
        known = {"cluster", "quantile", "within", *names, *(["queue"] if self.about["by"] else [])}
        if wrong := given.keys() - known:
            raise RefusedQuestionError(f"{min(wrong)} makes no difference here", 400)
        seconds = given.get("time", 3600.0) / 6 + given.get("processors", 0)
        seconds /= 2 if given.get("queue") == "short" else 1
        return {
            "bounds": [{"quantile": each, "confidence": 0.95, "seconds": each * seconds} for each in given["quantile"]],
            "no_prediction": self.no_prediction,
            "in_words": self.words.format(0.9 * seconds),
        }


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    """A service that all clients ask."""
    made = Fake()
    monkeypatch.setattr(Client, "get", lambda _, path, **parameters: made.get(path, **parameters))
    return made


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand beside a job script; nothing of the environment counts."""
    monkeypatch.chdir(tmp_path)
    for name in ("SWFTOOLS_SERVER", "SBATCH_TIMELIMIT", "SBATCH_PARTITION"):
        monkeypatch.delenv(name, raising=False)
    Path("job.sh").write_text(SCRIPT)
    return tmp_path


def predict(*words: str, server: list[str] = SERVER) -> Result:
    """Run the command."""
    return CliRunner().invoke(main, ["predict", *server, *words])


def told(*words: str) -> dict[str, Any]:
    """Return what the command prints as JSON."""
    done = predict("--script", "job.sh", "--json", *words)
    assert done.exit_code in (0, 1), done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_script_is_asked_about(fake: Fake) -> None:
    """In words: what was understood, the answer, shapes with a lower bound, the lowest first."""
    done = predict("--script", "job.sh")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "understood: job.sh, 2 nodes, 16 processors, 4 h, queue long on blue",
        "",
        "90 % of such jobs start within 2160 s.",
        "",
        "For 90 % of such jobs the bound is lower than 36 min with",
        "  time 1 h                                        9 min",
        "  queue short                                    18 min",
        "  time 2 h                                       18 min",
        "  time 3 h                                       27 min",
    ]
    assert fake.asked[0] == {"queue": "long", "time": 14_400.0, "quantile": [0.5, 0.9], "cluster": "blue"}


def test_only_what_matters_is_sent(fake: Fake) -> None:
    """Of a service that tells waits apart by something else, or not by queue; less time is not tried there."""
    fake.about |= {"told_apart_by": "requested_processors"}
    assert predict("--script", "job.sh").exit_code == 0
    common = {"quantile": [0.5, 0.9], "cluster": "blue", "processors": 16}
    assert fake.asked == [{**common, "queue": queue} for queue in ("long", "short")]
    fake.asked.clear()
    fake.about |= {"told_apart_by": "requested_work", "by": [], "queues": ["all"]}
    assert predict("--script", "job.sh").exit_code == 0
    assert fake.asked[0] == {**common, "time": 14_400.0}
    assert {"queue"} & {name for each in fake.asked for name in each} == set()


def test_options_of_sbatch_go_before_the_script(fake: Fake) -> None:
    """They stand behind two hyphens; variables go before the script too."""
    assert told("--", "-t", "60", "--partition=short")["asked"] == {
        "queue": "short",
        "processors": 16,
        "requested_time": 3600.0,
    }


def test_variables_count(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """As sbatch has them; the service may be named so too."""
    monkeypatch.setenv("SBATCH_TIMELIMIT", "30")
    monkeypatch.setenv("SWFTOOLS_SERVER", SERVER[1])
    done = predict("--script", "job.sh", "--json", server=[])
    assert json.loads(done.stdout)["asked"]["requested_time"] == 1800.0


def test_json_has_all(fake: Fake) -> None:
    """The request, what was asked, the answer, what is lower, and what is not counted."""
    found = told("--deadline", "2h", "--quantile", ".75", "--", "--array=1-3", "--mem=0")
    assert fake.asked[0]["within"] == 7200.0
    assert [each["quantile"] for each in fake.asked] == [[0.75]] * 5
    assert found["request"]["components"][0]["processors"] == 16
    assert found["answer"]["bounds"] == [{"quantile": 0.75, "confidence": 0.95, "seconds": 1800.0}]
    assert (found["tried"], [each["seconds"] for each in found["sooner"]]) == (4, [450.0, 900.0, 900.0, 1350.0])
    assert [each["queue"] for each in found["sooner"]] == ["long", "short", "long", "long"]
    assert found["notes"][0].startswith("it is an array of 3 jobs")
    assert found["notes"][1].startswith("command line: --mem=0 is all memory of the nodes")


def test_queues_that_a_job_fits(fake: Fake) -> None:
    """Not one that is too short or too small, or of which nothing is known; none for a job with GPUs."""
    assert {each["queue"] for each in told("--", "-t", "4:00:00")["sooner"]} == {"long", "short"}
    assert {each["queue"] for each in told("--", "-t", "4:01:00")["sooner"]} == {"long"}
    assert {each["queue"] for each in told("--", "-t", "1:00:00", "-G", "1")["sooner"]} == {"long"}
    fake.about["limits"]["tiny"]["longest"] = 86_400.0
    fake.asked.clear()
    told("--", "--ntasks=9")
    assert "tiny" not in {each["queue"] for each in fake.asked}
    told("--", "--ntasks=8")
    assert "tiny" in {each["queue"] for each in fake.asked}


def test_what_a_job_leaves_to_its_queue(fake: Fake) -> None:
    """The default queue, its default time, its longest time for an unlimited one."""
    Path("job.sh").write_text("#!/bin/sh\n")
    assert told()["asked"] == {"queue": "long", "processors": 1, "requested_time": 7200.0}
    assert told("--", "-t", "UNLIMITED")["asked"]["requested_time"] == 86_400.0
    assert told("--", "-p", "short")["asked"]["requested_time"] == 14_400.0
    fake.about |= {"limits": {}, "default_queue": None}
    done = predict("--script", "job.sh")
    assert (done.exit_code, "the job names no queue; name one of: long, short" in done.stderr) == (2, True)
    done = predict("--script", "job.sh", "--", "-p", "long")
    assert (done.exit_code, "the job names no time limit" in done.stderr) == (2, True)
    fake.about |= {"queues": ["only"]}
    assert told("--", "-t", "1")["asked"]["queue"] == "only"


def test_several_queues(fake: Fake) -> None:
    """The answer is that of the lowest bound; a group of that name is asked as one; unknown ones are passed over."""
    found = told("--", "-p", "long,short,nope")
    assert found["asked"]["queue"] == "short"
    assert found["notes"][-1].startswith("it names several queues")
    fake.about["queues"].append("long,short")
    assert told("--", "-p", "long,short")["asked"]["queue"] == "long,short"


def test_queues_that_cannot_take_the_job_do_not_answer(fake: Fake) -> None:
    """However low their bound is; where none takes it, all are asked. Those that count for nothing are named."""
    found = told("--", "-p", "long,short,nope", "-t", "5:00:00")
    assert found["asked"]["queue"] == "long"
    (note,) = found["notes"]
    assert note.startswith("of the queues that it names, short, nope counted for nothing")
    found = told("--", "-p", "long,short", "-t", "2-0")
    assert found["asked"]["queue"] == "short"
    assert [each.split(":")[0] for each in found["notes"]] == [
        "the queue is known to take only smaller or shorter jobs",
        "it names several queues",
    ]


def refusing(fake: Fake, monkeypatch: pytest.MonkeyPatch, queues: dict[str, int]) -> None:
    """Let the service refuse questions about some queues, with a status."""
    answer = fake.get

    def get(path: str, **given: Any) -> Any:
        if given.get("queue") in queues:
            raise RefusedQuestionError(f"no {given['queue']}", queues[given["queue"]])
        return answer(path, **given)

    monkeypatch.setattr(fake, "get", get)


def test_one_queue_is_refused(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others answer; if all are, the first refusal is told."""
    refusing(fake, monkeypatch, {"long": 404, "gpu": 400})
    found = told("--", "-p", "long,short,gpu", "-t", "60")
    assert found["asked"]["queue"] == "short"
    assert found["notes"][0].startswith("of the queues that it names, long, gpu counted for nothing")
    done = predict("--script", "job.sh", "--", "-p", "long,gpu")
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", "error: no long\n")


def test_the_service_goes_away_in_the_midst(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is there is told, with why it is not all."""
    answer = fake.get

    def get(path: str, **given: Any) -> Any:
        if len(fake.asked) == 3:
            raise ServiceError("http://a: the service is away")
        return answer(path, **given)

    monkeypatch.setattr(fake, "get", get)
    found = told()
    assert (found["tried"], len(fake.asked)) == (2, 3)
    assert found["notes"] == ["not all other shapes were asked about: http://a: the service is away"]
    assert found["answer"]["bounds"][1]["seconds"] == 2160.0


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_a_service_that_learns_has_no_clusters_yet(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    """It is no wrong command line, and JSON where that is asked for."""

    def get(*_: Any, **__: Any) -> Any:
        raise RefusedQuestionError("it learns", 503)

    monkeypatch.setattr(fake, "get", get)
    done = predict("--script", "job.sh", *words)
    assert (done.exit_code, done.stderr) == (1, "")
    assert "it learns" in (json.loads(done.stdout)["no_prediction"] if words else done.stdout)
    assert status_of(RefusedQuestionError("it learns", 503)) == 30
    assert status_of(RefusedQuestionError("no such queue", 404)) == 2


def test_notes(fake: Fake) -> None:
    """A job that is too long, and components."""
    assert told("--", "-t", "2-0")["notes"] == ["the queue is known to take only smaller or shorter jobs"]
    assert told("--", "-n", "2", ":", "-n", "3", "-p", "long")["notes"][0].startswith("its 2 components start together")
    done = predict("--script", "job.sh", "--", "-t", "2-0")
    assert done.stdout.splitlines()[-1] == "note: the queue is known to take only smaller or shorter jobs"


def test_nothing_is_lower(fake: Fake) -> None:
    """It is said, with how many were tried; and nothing where nothing was."""
    Path("job.sh").write_text("#!/bin/sh\n#SBATCH -p long -t 4:00:00\n")
    fake.about |= {"told_apart_by": "requested_processors", "limits": {"long": LIMITS, "gpu": LIMITS}}
    assert "None of 1 other shape has a lower bound" in predict("--script", "job.sh").stdout
    fake.about |= {"limits": {}}
    assert "shape" not in predict("--script", "job.sh").stdout


def test_more_time_for_the_same_bound(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of shapes in one queue that have one bound, that with the most time is told."""
    answer = fake.get

    def in_steps(path: str, **given: Any) -> Any:
        return answer(
            path, **{**given, "time": 7200.0 if given["time"] < 14_400 else given["time"]} if given else given
        )

    monkeypatch.setattr(fake, "get", in_steps)
    assert [(each["queue"], each["requested_time"]) for each in told()["sooner"]] == [
        ("short", 14_400.0),
        ("long", 10_800.0),
    ]


def test_no_prediction(fake: Fake) -> None:
    """Status 1, in words and as JSON; and so where the service knows nothing now."""
    fake.no_prediction, fake.words = "training", "No prediction: too few waits."
    done = predict("--script", "job.sh")
    assert (done.exit_code, done.stdout.splitlines()[2:]) == (1, ["No prediction: too few waits."])
    fake.away = RefusedQuestionError("nothing was heard of blue for 2 h", 503)
    done = predict("--script", "job.sh")
    assert (done.exit_code, done.stdout) == (1, "No prediction: nothing was heard of blue for 2 h.\n")
    done = predict("--script", "job.sh", "--json")
    assert (done.exit_code, json.loads(done.stdout)["no_prediction"]) == (1, "nothing was heard of blue for 2 h")


def test_a_lower_bound_where_nothing_is_promised(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shape of which something is known is told."""
    answer = fake.get
    monkeypatch.setattr(
        fake,
        "get",
        lambda path, **given: (
            {**answer(path, **given), "bounds": [{"quantile": 0.9, "seconds": None}]}
            if given.get("queue") == "long"
            else answer(path, **given)
        ),
    )
    done = predict("--script", "job.sh")
    assert "For 90 % of such jobs there is a bound with\n  queue short" in done.stdout


def test_what_would_have_been_told_is_no_bound(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer without a prediction has bounds all the same: they do not count, however low."""
    answer = fake.get

    def training(path: str, **given: Any) -> Any:
        found = answer(path, **given)
        return {**found, "no_prediction": "training"} if given.get("queue") == "long" else found

    monkeypatch.setattr(fake, "get", training)
    found = told("--", "-p", "long", "-t", "2")
    assert [each["queue"] for each in found["sooner"]] == ["short"]
    assert told("--", "-p", "long,short", "-t", "2")["asked"]["queue"] == "short"


@pytest.mark.parametrize("error", [ServiceError("http://a: the service is away"), RefusedQuestionError("no such", 404)])
def test_a_service_that_fails(fake: Fake, error: Exception) -> None:
    """One line; status 30 where it is away, 2 where it refuses."""
    fake.away = error
    done = predict("--script", "job.sh")
    assert (done.exit_code, done.stdout) == (30 if isinstance(error, ServiceError) else 2, "")
    assert done.stderr == f"error: {error}\n"


@pytest.mark.parametrize("bounds", [None, [1], [{"quantile": 0.9}], [{"quantile": "x", "seconds": 1.0}], {"a": 1}])
def test_an_answer_that_is_none(fake: Fake, monkeypatch: pytest.MonkeyPatch, bounds: Any) -> None:
    """Something else that speaks JSON is no service of waits."""
    monkeypatch.setattr(fake, "get", lambda path, **_: [fake.about] if path == "clusters" else {"bounds": bounds})
    done = predict("--script", "job.sh")
    assert (done.exit_code, "an answer has no bounds" in done.stderr) == (30, True)


def test_several_clusters(fake: Fake) -> None:
    """One must be named, and be there."""
    fake.others = [{**fake.about, "cluster": "red"}]
    done = predict("--script", "job.sh")
    assert (done.exit_code, "has several clusters, so add --cluster: blue, red" in done.stderr) == (2, True)
    done = predict("--script", "job.sh", "--cluster", "green")
    assert (done.exit_code, "no cluster 'green'; there are: blue, red" in done.stderr) == (2, True)
    assert predict("--script", "job.sh", "--cluster", "red").stdout.startswith("understood: job.sh, 2 nodes")
    assert fake.asked[0]["cluster"] == "red"


def test_waits_that_are_told_apart_by_users(fake: Fake) -> None:
    """No script says these."""
    fake.about["by"] = ["queue", "user"]
    done = predict("--script", "job.sh")
    assert (done.exit_code, "by queue/user, which no script says" in done.stderr) == (2, True)


def test_without_a_script(fake: Fake) -> None:
    """Options say what the job is like."""
    done = predict("--queue", "long", "--requested-time", "2h")
    assert done.exit_code == 0
    assert done.stdout.startswith("understood: 2 h, queue long on blue\n\n90 % of such jobs start within 1080 s.\n")


@pytest.mark.parametrize(
    ("words", "server", "status", "problem"),
    [
        (["--script", "nope.sh"], SERVER, 20, "nope.sh: there is no such file"),
        (["--script", "job.sh", "--", "--foo"], SERVER, 2, "command line: sbatch has no option --foo"),
        (["--script", "job.sh", "--", "-p", "nope"], SERVER, 2, "no waits of queue 'nope' are known; there are: long,"),
        (["--script", "job.sh"], [], 2, "name the service with --server"),
        (["job.sh"], SERVER, 2, "options of sbatch go with --script FILE"),
        (["job.sh"], [], 2, "options of sbatch go with --script FILE"),
        (["--system", "pbs"], SERVER, 2, "--system goes with --script FILE"),
        (["--cluster", "blue"], [], 2, "name the service with --server"),
        (["--state", "x"], SERVER, 2, "--state does not go with --server"),
        (["--script", "job.sh", "--history", "x"], SERVER, 2, "--history does not go with --script"),
        (["--script", "job.sh", "--queue", "x"], SERVER, 2, "--queue does not go with --script: the script says it"),
        (["--script", "job.sh", "--requested-time", "2h"], SERVER, 2, "--requested-time does not go with --script"),
        (["--script", "job.sh"], ["--server", "blue"], 2, "'blue' is no address of a service"),
    ],
)
def test_what_is_wrong(fake: Fake, words: list[str], server: list[str], status: int, problem: str) -> None:
    """One line says what, and how to mend it."""
    done = predict(*words, server=server)
    assert (done.exit_code, done.stdout) == (status, "")
    assert problem in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_script_of_pbs(fake: Fake) -> None:
    """As qsub reads it."""
    Path("job.sh").write_text("#!/bin/sh\n#PBS -l select=2:ncpus=8,walltime=3600 -q long\n")
    done = predict("--script", "job.sh", "--system", "pbs")
    assert done.stdout.startswith("understood: job.sh, 2 nodes, 16 processors, 1 h, queue long on blue\n")


def test_nothing_of_a_service_steers_a_terminal(fake: Fake) -> None:
    """Whatever it says."""
    fake.words = "\x1b[2J{:.0f} s"
    fake.about["cluster"] = "bl\x1bue"
    for words in ([], ["--json"]):
        assert "\x1b" not in predict("--script", "job.sh", *words).output


def test_a_real_service_takes_what_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """It refuses nothing of it, whatever it tells waits apart by; the answer is its own."""
    for explanatory in ("requested_time", "requested_processors", "requested_work"):
        cluster = cluster_of(Hand(12_000.0), explanatory=explanatory)
        cluster.poll()
        with TestClient(make_app(Service([cluster]), ["testserver"])) as web:

            def get(_: Client, path: str, *, web: TestClient = web, **parameters: Any) -> Any:
                given = {name: value for name, value in parameters.items() if value is not None}
                answer = web.get(f"/api/v1/{path}", params=given)
                assert answer.status_code == 200, answer.text
                return answer.json()

            monkeypatch.setattr(Client, "get", get)
            found = told("--", "-p", "batch", "-t", "60", "-n", "4")
            names = {"requested_time": "time=3600", "requested_processors": "processors=4"}
            asked = names.get(explanatory, "time=3600&processors=4")
            answer = web.get(f"/api/v1/wait?queue=batch&{asked}&quantile=.5&quantile=.9").json()
            assert found["answer"] == answer
            assert answer["bounds"][1]["seconds"] > 0


@pytest.mark.slow
def test_the_service_of_the_shipped_log(home: Path) -> None:
    """Both commands, as a newcomer starts them: the answer is that of the service's own address."""
    command = [*SWFTOOLS, "serve", "--replay", SHIPPED_LOG, "--name", "blue", "--begin", ".9", "--speed", "1"]
    with subprocess.Popen(
        [*command, "--port", "0", "--quiet"], cwd=home, env=environment(), stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            address = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
            assert address is not None
            done = predict("--script", "job.sh", "--", "-p", "normal", server=["--server", address[0]])
            answer = Client(address[0], timeout=60.0).wait(queue="normal", time="4h", quantile=[0.5, 0.9])
        finally:
            process.kill()
    first, *lines = done.stdout.splitlines()
    assert (done.exit_code, first) == (0, "understood: job.sh, 2 nodes, 16 processors, 4 h, queue normal on blue")
    assert " ".join(line.strip() for line in lines[1 : lines.index("", 1)]) == answer["in_words"]
    assert "the bound is lower than" in done.stdout
