"""`make demo`: the whole loop on a laptop, without keys, network or footage."""
