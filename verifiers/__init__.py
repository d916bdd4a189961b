"""Deterministic graders: one folder per scheme with `schema.py`, `scoring.py` (pure) and `runner.py`.

A grader uses no randomness, clock or network and shares no code with the primitives it grades:
media access of its own lives in `verifiers/_media.py`.
"""
