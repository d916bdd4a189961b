"""Two groups of shots, with others between them, stand in each other's place."""

from __future__ import annotations

from functools import partial

from avb_mcp.tasks.defects import _scene_swap
from avb_mcp.tasks.defects._base import Defect, Needs

DEFECT = Defect(
    name="scene_swap_gapped",
    scheme="v3",
    needs=Needs(shots=5),
    draw=partial(_scene_swap.draw, gapped=True),
    damage=partial(_scene_swap.damage, gapped=True),
    symptoms=(
        "I have seen this story told, and not like this. Everything that I remember is still in it.",
        "It jumps ahead and later makes up for it. I should not have to be a detective to follow.",
        "Somebody dragged something around on the timeline by accident. It was right before.",
    ),
)
