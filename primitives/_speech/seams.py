"""How sure a speech model is of what it writes across a seam of two sounds; kept, so that no pair is heard twice."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primitives._base import Call
from primitives._speech import models, vad
from primitives._speech.models import SpeechModel

Samples = NDArray[np.float32]
SIDE_S = 3.0
"""How much is heard on either side of a seam."""
NEAR_S = 1.0
LEAST_SPOKEN = 0.3
"""Share of the last or first second in which somebody has to speak."""
_FEATURES = 700
"""A little silence behind what is heard, as the model is used to; its features are 10 ms each."""
_MOST_TOKENS = 60


def is_spoken(side: Samples, at_end: bool) -> bool:
    """Whether somebody speaks near the seam."""
    near = round(NEAR_S * vad.RATE_HZ)
    part = side[-near:] if at_end else side[:near]
    return part.size >= vad.STEP and float((vad.speech_probability(part) >= vad.ON).mean()) >= LEAST_SPOKEN


def key_of(model: SpeechModel) -> str:
    """What readings are kept by: other weights, other readings."""
    return f"{model.mark}-{_FEATURES}"


def mark_of(side: Samples) -> str:
    return hashlib.sha256(np.ascontiguousarray(side).tobytes()).hexdigest()[:12]


class SeamListener:
    """Listens across seams with one model, in the language of the first thing it hears."""

    def __init__(self, call: Call, model: SpeechModel) -> None:
        self._call, self._model = call, model
        self._prompt: list[int] | None = None

    def sureness(self, tail: Samples, head: Samples) -> float:
        """The mean logarithm of the probability of each piece of a word that is written for both as one sound."""
        self._call.check()
        whisper = models.load(self._model.folder)
        sound = np.concatenate([tail, head])
        silence = np.zeros(_FEATURES * 160, np.float32)
        features = whisper.feature_extractor(np.concatenate([sound, silence]))[:, :_FEATURES]
        encoded = whisper.encode(features)
        if self._prompt is None:
            self._prompt = _prompt(whisper, encoded)
        (written,) = whisper.model.generate(
            encoded,
            [self._prompt],
            beam_size=1,
            return_scores=True,
            max_length=len(self._prompt) + _MOST_TOKENS,
            no_repeat_ngram_size=3,
        )
        return float(written.scores[0])


def _prompt(whisper: Any, encoded: Any) -> list[int]:
    from faster_whisper.tokenizer import Tokenizer

    several = whisper.model.is_multilingual
    language = whisper.model.detect_language(encoded)[0][0][0][2:-2] if several else "en"
    tokenizer = Tokenizer(whisper.hf_tokenizer, several, task="transcribe", language=language)
    return [*tokenizer.sot_sequence, tokenizer.no_timestamps]
