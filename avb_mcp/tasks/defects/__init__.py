"""Defects that a repair task can carry: one file each, listed in `registry.py`."""
