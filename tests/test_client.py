# SPDX-License-Identifier: BSD-3-Clause
"""The client asks as a service expects, and says in one error whatever goes wrong."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from swftools import client as client_module
from swftools.client import Client
from swftools.errors import ParameterError, RefusedQuestionError, ServiceError
from tests.served import Served, serving

PROBLEM = "application/problem+json"


@pytest.fixture
def served() -> Iterator[Served]:
    """A server on a port of its own."""
    with serving() as server:
        yield server


def test_what_is_asked(served: Served) -> None:
    """Nothing that is not said; whole numbers without a point; several quantiles; names with all their characters."""
    client = Client(served.url)
    client.wait(queue="a&b é", time=14_400.0, processors=4, within="2h", quantile=(0.5, 0.9))
    client.wait()
    client.wait(time=0.5, cluster="blue", confidence=0.99)
    client.queues("blue")
    client.accuracy()
    client.get("jobs/12 34", at=None, least=0)
    client.get("/start", queue="batch")
    assert served.asked == [
        "/api/v1/wait?queue=a%26b+%C3%A9&time=14400&processors=4&within=2h&quantile=0.5&quantile=0.9",
        "/api/v1/wait",
        "/api/v1/wait?cluster=blue&time=0.5&confidence=0.99",
        "/api/v1/queues?cluster=blue",
        "/api/v1/accuracy",
        "/api/v1/jobs/12%2034?least=0",
        "/api/v1/start?queue=batch",
    ]


@pytest.mark.parametrize("path", ["", "/", "/waits", "/waits/", "/waits/api/v1"])
def test_a_service_behind_a_path(served: Served, path: str) -> None:
    """As a proxy has it, with or without the part that all addresses have."""
    Client(served.url + path).queues()
    assert served.asked == [path.rstrip("/").removesuffix("/api/v1") + "/api/v1/queues"]


def test_what_comes(served: Served) -> None:
    """JSON as it is; clusters are a list of mappings."""
    client = Client(served.url)
    served.says({"bounds": [{"quantile": 0.9, "seconds": None}]})
    assert client.wait() == {"bounds": [{"quantile": 0.9, "seconds": None}]}
    served.says([{"cluster": "blue"}])
    assert client.clusters() == [{"cluster": "blue"}]
    assert client.get("clusters") == [{"cluster": "blue"}]
    with pytest.raises(ServiceError, match="no JSON object"):
        client.wait()
    for wrong in ({"cluster": "blue"}, ["blue"]):
        served.says(wrong)
        with pytest.raises(ServiceError, match="no list of clusters"):
            client.clusters()


@pytest.mark.parametrize("status", [400, 404, 503])
def test_a_refusal(served: Served, status: int) -> None:
    """The detail of the problem is the message, shown as one line; the status is kept."""
    served.says({"status": status, "detail": "there is no queue\x1b[2J\n'x'", "title": "No"}, status, PROBLEM)
    with pytest.raises(RefusedQuestionError) as raised:
        Client(served.url).wait(queue="x")
    assert (str(raised.value), raised.value.status) == ("there is no queue\\x1b[2J\\n'x'", status)


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (404, b"<h1>Not Found</h1>"),
        (500, {"detail": "x"}),
        (400, {"title": "no detail"}),
        (502, [1]),
        (400, b""),
        (400, b"[" * 100_000),
    ],
)
def test_an_error_of_something_else(served: Served, status: int, told: Any) -> None:
    """What is no refusal of a service names the address and the status."""
    served.says(told, status)
    with pytest.raises(ServiceError, match=f"^{served.url}: it answers with status {status} .*; is it a service"):
        Client(served.url).wait()


@pytest.mark.parametrize("told", [b"", b"<html>", b'{"a": ', b"\xff", b"[" * 100_000])
def test_what_is_no_json(served: Served, told: bytes) -> None:
    """One error, whatever came."""
    served.says(told)
    with pytest.raises(ServiceError, match="what came is no JSON"):
        Client(served.url).wait()


def test_nobody_is_there() -> None:
    """One error names the address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(ServiceError, match=f"^http://127.0.0.1:{port}: the service is away .*; is the address right"):
        Client(f"http://127.0.0.1:{port}").wait()


def test_no_answer_in_time(served: Served) -> None:
    """Neither one that never comes, nor one that never ends."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(ServiceError, match=r"no answer within 0\.2 s"):
            Client(f"http://127.0.0.1:{port}", timeout=0.2).wait()
    served.is_slow, served.length = True, 10**9
    with pytest.raises(ServiceError, match=r"no answer within 0\.2 s"):
        Client(served.url, timeout=0.2).wait()


def test_an_answer_that_is_too_large(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not read to its end."""
    monkeypatch.setattr(client_module, "LARGEST", 100)
    served.says("x" * 98)
    assert Client(served.url).get("x") == "x" * 98
    served.says("x" * 99)
    too_large = f"^{served.url}: the answer is larger than 100 bytes; is it the address"
    with pytest.raises(ServiceError, match=too_large):
        Client(served.url).get("x")
    served.status = 400
    with pytest.raises(ServiceError, match="it answers with status 400"):
        Client(served.url).get("x")


@pytest.mark.parametrize("told", [{"detail": "slow down"}, b"<html>"])
def test_too_many_questions(served: Served, told: Any) -> None:
    """It is neither a refusal nor another program, whoever says it."""
    served.says(told, 429)
    with pytest.raises(ServiceError, match=f"^{served.url}: it takes no more questions for now; ask again"):
        Client(served.url).wait()


def test_where_an_answer_may_send_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """To another address of the web, and to nothing else that this program could read."""
    goals: list[str] = []

    class SendsOn(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_there = self.path == "/there"
            self.send_response(200 if is_there else 302)
            self.send_header("Location", goals[-1])
            self.end_headers()
            self.wfile.write(b"[1]" if is_there else b"")

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), SendsOn) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        goals.append(f"{url}/there")
        assert Client(url).get("x") == [1]
        monkeypatch.setenv("ftp_proxy", url)
        for goal, problem in (("ftp://127.0.0.1:1/x", "sends on to ftp:"), ("file:///etc", "answers with status 302 ")):
            goals.append(goal)
            with pytest.raises(ServiceError, match=f"^{url}.*: it {problem}"):
                Client(url).get("x")
        server.shutdown()


def test_a_proxy_of_the_environment(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not asked for this machine, and is for others."""
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert Client(served.url).get("x") == {}
    monkeypatch.setenv("http_proxy", served.url)
    assert Client("http://waits.example.org").get("x") == {}
    assert served.asked == ["/api/v1/x", "http://waits.example.org/api/v1/x"]


@pytest.mark.parametrize(
    "url",
    [
        *("", "127.0.0.1:8017", "ftp://a", "http://", "http://a:b", "http://a:99999", "http://a/?x=1", "http://a#b"),
        *("http://a:0", "http://u:p@a", "http://a b", "http://a\nb", "file:///etc/passwd", "http://[::1"),
    ],
)
def test_what_is_no_address(url: str) -> None:
    """It is refused before anything is asked, with an example."""
    with pytest.raises(ParameterError, match="is no address of a service; write such as http"):
        Client(url)


@pytest.mark.parametrize("url", ["http://ex\xe4mple.org", "http://a/\xe4", "http://\u4f8b.jp:80"])
def test_an_address_beyond_ascii(url: str) -> None:
    """It says how to write it."""
    with pytest.raises(ParameterError, match="has characters beyond ASCII; write the host as xn--"):
        Client(url)


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf")])
def test_what_is_no_time_out(timeout: float) -> None:
    """It must be above 0, and end."""
    with pytest.raises(ParameterError, match="no number of seconds"):
        Client("http://a", timeout=timeout)


def test_it_prints_its_address() -> None:
    """As it was made."""
    assert repr(Client("https://a.b/c/")) == "Client('https://a.b/c')"


def test_it_needs_the_standard_library_and_little_else() -> None:
    """What is imported beside it is ours, or ``lazy_loader``: by the top-level names of all modules."""
    code = """
import sys
before = set(sys.modules)  # what the interpreter itself has, such as finders of editable packages
import swftools.client
found = {name.partition(".")[0] for name in set(sys.modules) - before}
print(sorted(found - sys.stdlib_module_names))
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "['lazy_loader', 'swftools']\n"
