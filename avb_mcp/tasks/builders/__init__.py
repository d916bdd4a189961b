"""Builders: one file per family turns footage into task plans, listed in `registry.py`."""
