"""Known tricks and honest variations, each with the reward it must get: `avb-mcp check --attacks`.

One file per family (`order`, `assembly`, `repair_v3`, `repair`, `repurpose`) builds small tasks and lists what
is tried on them; `registry` is the one list; `table` runs it through the scorer that scores everything else.
"""
