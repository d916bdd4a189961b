"""Repurpose: a rubric of yes/no items over one deliverable, as in the contract's section "Repurpose".

`python` items are measured (`kinds/`), `llm` and `compound` items are put to a judge (`judge.py`). What could
not be answered is *ungraded* and kept apart from failed.
"""
