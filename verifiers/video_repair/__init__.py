"""Repair scored by the scheme of the paper's Appendix H.1, against a golden and a broken reference.

Every measurement is placed between what the broken input measures (0) and what the golden reference measures
(1). `schema` is the answer folder's `truth.json`, `scoring` the formulas, `picture`, `sound` and `timeline`
take the measurements, `gates` the hard gates, `anchors` what a builder stores and `check` measures again.
"""
