# SPDX-License-Identifier: BSD-3-Clause
"""5,000 requests that schemathesis draws from the OpenAPI document: never a mistake, always as documented.

It is no package of the tests: it costs each start of pytest a second. ``pip install schemathesis`` into the environment
before ``make slow``; else this is skipped.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.pipelines.service.asked import Asker, small_service

schemathesis = pytest.importorskip("schemathesis", reason="needs schemathesis: pip install schemathesis")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]

CASES = 5000

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)

JOB = "/api/v1/jobs/{id}"
"""Of jobs nobody guesses the ids."""

FREE = ("cluster", "within", "quantile", "at", "confidence", "probability")
"""Parameters that are drawn also where the others are good ones."""

GOOD = {
    "/api/v1/wait": {"queue": "batch"},
    "/api/v1/start": {"processors": "4", "time": "1h"},
    "/api/v1/reserve": {"queue": "night", "processors": "4", "time": "1h", "by": "2h"},
    "/api/v1/plan": {"piece": "queue=batch,processors=4,time=1h", "by": "2h"},
}
"""What may be asked, by address; where waits are told apart by more, that is refused."""


@pytest.mark.parametrize("chosen", [{}, {"explanatory": "requested_work"}, {"training": 100_000}], ids=str)
def test_the_document_is_kept(chosen: dict[str, Any]) -> None:
    """Status, content type and body of each answer are those of the document; each address is asked often."""
    asker = Asker(small_service(**chosen), ("localhost", "testserver"))
    schema = schemathesis.openapi.from_asgi("/api/v1/openapi.json", asker.app)
    operations = [each.ok() for each in schema.get_all_operations()]
    assert len(operations) >= 4
    modes = [schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE]
    cases = st.one_of(*[each.as_strategy(generation_mode=mode) for each in operations for mode in modes])
    asked: Counter[tuple[str, int]] = Counter()

    @settings(
        max_examples=CASES // 3 + 1,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(cases, st.booleans())
    def ask(case: Any, is_good: bool) -> None:
        if is_good:  # else hardly any question names a queue that there is
            case.query = {name: value for name, value in (case.query or {}).items() if name in FREE}
            case.query.update(GOOD.get(case.path, {}))
        answer = case.call(headers={"Host": "localhost"} | dict(case.headers or {}))
        asked[case.path, answer.status_code] += 1
        assert answer.status_code < 500
        assert answer.headers["x-content-type-options"] == ["nosniff"]
        # Which parameters are needed depends on the predictor, so a question that fits the document may be refused.
        checks = [getattr(schemathesis.checks, name) for name in CHECKS]
        case.validate_response(answer, checks=checks)

    ask()
    assert asked.total() >= CASES // 3
    if not chosen:
        assert {path for path, status in asked if status == 200} >= {each.path for each in operations} - {JOB}
    assert {404, 400} < {status for _, status in asked}
