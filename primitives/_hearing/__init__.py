"""Hearing: what a sound is like over time (`measure`), in figures (`figures`) and as a picture (`draw`)."""
