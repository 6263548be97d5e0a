# SPDX-License-Identifier: BSD-3-Clause
"""Which group of a saved state is meant: by numbers, by the names that the log has behind them, or by nothing."""

from __future__ import annotations

from typing import Any

import pytest

from swftools.errors import ParameterError
from swftools.qbets.live_state import label_of
from swftools.qbets.saved_state import SavedState

QUEUES = {3: "batch", 4: "night", 5: "night", 6: "a/b", 7: "3", 8: "unknown", 9: "gone", 10: "12", 11: "13"}
"""Two of one name, one with a slash, and names that look like numbers; queues 8 to 10 are no groups."""


def state(by: list[str], groups: list[str], **names: dict[int, str]) -> SavedState:
    """Return a state of these groups, of which only the names are asked."""
    return SavedState("file", {"by": by}, {group: ([], b"") for group in groups}, names)


BY_QUEUE = state(["queue"], ["3", "4", "5", "6", "7", "11", "12", "unknown"], queue=QUEUES)
BY_BOTH = state(["queue_id", "user"], ["3/17", "3/18", "6/18", "unknown/17"], queue=QUEUES, user={18: "ann"})


@pytest.mark.parametrize(
    ("saved", "group", "expected"),
    [
        (BY_QUEUE, "batch", "3"),
        (BY_QUEUE, {"queue": "batch"}, "3"),
        (BY_QUEUE, "a/b", "6"),
        (BY_QUEUE, {"queue": "a/b"}, "6"),
        (BY_QUEUE, "3", "3"),
        (BY_QUEUE, 3, "3"),
        (BY_QUEUE, {"queue": 3}, "3"),
        (BY_QUEUE, {"queue": "3"}, "7"),
        (BY_QUEUE, "13", "11"),
        (BY_QUEUE, "unknown", "unknown"),
        (BY_QUEUE, {"queue": "unknown"}, "unknown"),
        (BY_QUEUE, {"queue": "12"}, "12"),
        (BY_QUEUE, {"queue": 4}, "4"),
        (BY_BOTH, "batch/ann", "3/18"),
        (BY_BOTH, "batch/17", "3/17"),
        (BY_BOTH, "6/ann", "6/18"),
        (BY_BOTH, {"queue_id": "batch", "user": 17}, "3/17"),
        (BY_BOTH, {"queue_id": "a/b", "user": "ann"}, "6/18"),
        (BY_BOTH, {"queue_id": "unknown", "user": "17"}, "unknown/17"),
        (state([], ["all"]), None, "all"),
        (state([], ["all"]), {}, "all"),
        (state([], ["all"]), "all", "all"),
        (state(["queue"], ["3"]), None, "3"),
    ],
)
def test_which_is_meant(saved: SavedState, group: Any, expected: str) -> None:
    """Of a text, the group as the state calls it goes first; of one column a name does; else the other is tried."""
    assert label_of(saved, group) == expected


@pytest.mark.parametrize(
    ("saved", "group", "says"),
    [
        (BY_QUEUE, "bach", "knows no queue 'bach'; there are: batch, 4 night, 5 night, a/b, 3, 13, 12, unknown; did"),
        (BY_QUEUE, "gone", "knows no queue 'gone'; there are: batch"),
        (BY_QUEUE, {"queue": "gone"}, "knows no queue 'gone'"),
        (BY_QUEUE, {"queue": 9}, "knows no queue '9'"),
        (BY_QUEUE, "night", "file: several queues are called 'night'; give the number: 4, 5"),
        (BY_QUEUE, {"queue": "night"}, "several queues are called 'night'"),
        (BY_QUEUE, None, "has groups by queue: say which; there are: batch, 4 night"),
        (BY_QUEUE, {"user": "ann"}, "has groups by queue: leave out user"),
        (BY_QUEUE, {}, "has groups by queue: say queue too"),
        (BY_BOTH, "batch", "knows no queue_id/user 'batch'; there are: batch/17, batch/ann, a/b/ann, unknown/17"),
        (BY_BOTH, "a/b/ann", "knows no queue_id/user 'a/b/ann'"),
        (BY_BOTH, {"queue_id": "batch"}, "has groups by queue_id and user: say user too"),
        (state([], ["all"]), "batch", "knows no group 'batch'; there are: all"),
        (state([], ["all"]), {"queue": "batch"}, "has all jobs in one group: leave out queue"),
        (state([], []), None, "nothing was replayed"),
        (state(["queue"], []), None, "say which; there are: "),
    ],
)
def test_what_is_refused(saved: SavedState, group: Any, says: str) -> None:
    """Groups are listed as people may type them."""
    with pytest.raises(ParameterError) as caught:
        label_of(saved, group)
    assert says in str(caught.value)


def test_no_name_is_read_twice() -> None:
    """The number behind a name is not taken for a name: that would be another group."""
    saved = state(["queue"], ["5"], queue={3: "batch", 5: "3"})
    for group in ("batch", {"queue": "batch"}):
        with pytest.raises(ParameterError, match="knows no queue 'batch'"):
            label_of(saved, group)
