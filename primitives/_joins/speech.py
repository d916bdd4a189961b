"""Whether a sentence goes on from the end of one clip into the start of another. Pure.

A speech model writes down the last seconds of one clip and the first of the other as one sound. Where a word was cut in
two or a phrase goes on it is surer of what it writes than where two strange halves meet. It says little where both
sides rest at the seam, so it decides nothing alone.
"""

from __future__ import annotations

import numpy as np

from primitives._joins.picture import Values

WEIGHT = 4.5
LIMITS = (-1.0, 1.0)
LEAST_PAIRS = 4


def speech_evidence(sureness: Values) -> Values:
    """Of how sure the model was for each end and start (NaN where it did not listen): what that says for each.

    Some clips are easier to read than others whatever they meet, so a pair is held against the others of both.
    """
    heard = np.isfinite(sureness)
    if heard.sum() < LEAST_PAIRS:
        return np.zeros(sureness.shape)
    return np.where(heard, np.clip(WEIGHT * _centred(sureness, heard), *LIMITS), 0.0)


def _centred(values: Values, known: np.ndarray) -> Values:
    """Without what belongs to a row or a column as a whole; one that is known once says nothing."""
    left = np.where(known, values, 0.0)
    for _ in range(3):
        for axis in (1, 0):
            count = np.maximum(known.sum(axis=axis, keepdims=True), 1)
            left = np.where(known, left - left.sum(axis=axis, keepdims=True) / count, 0.0)
    return left
