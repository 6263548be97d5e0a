# SPDX-License-Identifier: BSD-3-Clause
"""Overrides of a generated log: a type's name is short for the same within ``overrides``."""

from __future__ import annotations

import pytest

from pipelines.logs.generated import find_model
from swftools.errors import ParameterError
from swftools.models.lublin_feitelson import LublinFeitelsonParameters


@pytest.mark.parametrize(
    "text",
    [
        "types=mix,batch.u_med=4,interactive.u_hi=5.5",
        "types=mix,overrides.batch.u_med=4,overrides.interactive.u_hi=5.5",
        "types=mix,overrides.batch.u_med=4,interactive.u_hi=5.5",
    ],
)
def test_both_ways_mean_the_same(text: str) -> None:
    """Also side by side, for different types."""
    expected = LublinFeitelsonParameters(types="mix", overrides={"batch": {"u_med": 4}, "interactive": {"u_hi": 5.5}})
    assert expected == find_model(f"lublin-feitelson:{text}")


@pytest.mark.parametrize("text", ["overrides.all.u_med=4,all.u_hi=6", "overrides=4,all.u_hi=6"])
def test_a_type_in_both_places_is_refused(text: str) -> None:
    """Neither is silently taken for the other."""
    with pytest.raises(ParameterError, match="lublin-feitelson: all is given twice, also by overrides="):
        find_model(f"lublin-feitelson:{text}")


def test_another_model_has_no_types() -> None:
    """A mapping that the model does not have is an unknown parameter."""
    with pytest.raises(
        ParameterError, match=r"cirne-berman: unknown parameters \['batch'\]; there are: jobs, processors"
    ):
        find_model("cirne-berman:batch.u_med=4")
