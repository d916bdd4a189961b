"""Two groups of shots that follow each other stand the wrong way round."""

from __future__ import annotations

from functools import partial

from avb_mcp.tasks.defects import _scene_swap
from avb_mcp.tasks.defects._base import Defect, Needs

DEFECT = Defect(
    name="scene_swap_adjacent",
    scheme="v3",
    needs=Needs(shots=4),
    draw=partial(_scene_swap.draw, gapped=False),
    damage=partial(_scene_swap.damage, gapped=False),
    symptoms=(
        "At one point the answer comes before the question, so to speak. It used to be the other way.",
        "A passage reads wrong to me: first this, then that. It should be that, then this, I think.",
        "The piece is complete, but there is a place in it where time seems to run in circles.",
    ),
)
