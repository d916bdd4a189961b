"""A model without a mind: an HTTP server on loopback that answers any harness from a script.

It speaks the four wire protocols of the harnesses, streaming and not, plays the script's tool calls in
order, then says the final text, and keeps every request. What a harness offers its model and what it
delivers (tools, images, texts) can thus be read from the wire, offline and without a key.

`script.py` is what the four protocol files have in common, `server.py` is the listening part.
"""
