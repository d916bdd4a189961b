"""Repair as released in May (contract, "Repair, released scheme"): format 5 + localization 35 + edit 60.

`schema.py` reads the profile, `truth.py` derives truth windows from it, `report.py` reads the submitted
report, `scoring.py` holds every constant and formula, `pictures.py` and `sound.py` measure, `runner.py` runs.
"""
