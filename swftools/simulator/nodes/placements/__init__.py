# SPDX-License-Identifier: BSD-3-Clause
"""Placements: which of the nodes that fit a job are taken. A rule is a file here, and its line below."""

import swftools.simulator.nodes.placements.best_fit
import swftools.simulator.nodes.placements.contiguous
import swftools.simulator.nodes.placements.dot_product
import swftools.simulator.nodes.placements.fewest_switches
import swftools.simulator.nodes.placements.fgd
import swftools.simulator.nodes.placements.first_fit
import swftools.simulator.nodes.placements.gpu_clustering
import swftools.simulator.nodes.placements.gpu_packing
import swftools.simulator.nodes.placements.lowest_weight
import swftools.simulator.nodes.placements.random
import swftools.simulator.nodes.placements.weng_best_fit
import swftools.simulator.nodes.placements.weng_dot_product
import swftools.simulator.nodes.placements.weng_gpu_packing
import swftools.simulator.nodes.placements.worst_fit  # noqa: F401 (they register)
from swftools.errors import ParameterError
from swftools.parameters import refuse_unknown
from swftools.simulator.nodes.gpus.choosing import GPU_RULES
from swftools.simulator.nodes.placement import PLACEMENTS, Placement, PlacementRule


def find_placement(text: str | Placement) -> Placement:
    """Return a placement by name, as in ``best-fit`` or ``first-fit:sparing=false``.

    Raises
    ------
    ParameterError
        There is none of that name, or it takes no such parameter.

    Examples
    --------
    >>> find_placement("first-fit: sparing=false").to_text()
    'first-fit:sparing=false'
    """
    if isinstance(text, Placement):
        return text
    if not isinstance(text, str):
        raise ParameterError(f"placement={text!r} is neither a text, such as 'first-fit', nor a Placement")
    if (name := text.partition(":")[0].strip()) in GPU_RULES.list():
        raise ParameterError(
            f"placement {name!r} looks at each GPU of a node, which this simulation counts together: in Python, "
            f"swftools.simulator.simulate_on_gpus(trace, machine, {name!r}, 'easy') does it; here choose one of: "
            f"{', '.join(PLACEMENTS.list())}"
        )
    rule, given = PLACEMENTS.read(text)
    base = rule.parameters or Placement
    refuse_unknown(rule.name, given, base.names())
    kind: type[Placement] = type("Placement", (base,), {"NAME": rule.name})
    return kind.from_mapping(given)


def list_placements() -> dict[str, PlacementRule]:
    """Return all placements by name."""
    return PLACEMENTS.list()
