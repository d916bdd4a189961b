"""Candidates for cutting: ums, sounds that are no word, words said twice, hesitations.

Whisper leaves ums out, for its training text lacks them. Asked with them as hot words it writes most of them down, at
rough times; and where it does not, the sound is still there: a short stretch of speech that no word covers, voiced and
steady. Both are candidates, not facts.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from primitives._speech.find import plain
from primitives._speech.vad import RATE_HZ, Span
from primitives._speech.words import SENTENCE_ENDS, Word

HOT_WORDS = "um uh umm uhh"
FILLERS = frozenset(["um", "umm", "ummm", "uh", "uhh", "uhm", "er", "erm", "hm", "hmm", "mm", "mhm", "ah", "eh", "äh"])
SOUND_S = (0.15, 1.2)
"""How long a sound that is no word may be to be an um."""
COVERED = 0.35
"""A stretch of speech is explained by words that cover this share of it."""
SURE = 0.3
PAUSE_S = 0.7
LONG_PAUSE_S = 2.0
LEAST_PERIODIC, MOST_CHANGE = 0.55, 0.35
_FRAME, _HOP = 640, 160


@dataclass(frozen=True)
class Candidate:
    """Something that may be cut: a `filler`, a `sound`, a `repeat` or a `pause`."""

    kind: str
    start_s: float
    end_s: float
    text: str
    sure: float


def candidates(words: list[Word], sounds: list[Candidate], speech: list[Span]) -> list[Candidate]:
    """Every candidate in order of time."""
    written = [one for one in (_filler(word, speech) for word in words if _is_filler(word)) if one is not None]
    heard = [sound for sound in sounds if not any(_span(sound).overlaps(_span(one)) for one in written)]
    found = [*written, *heard, *_repeats(words), *_pauses(words, [*written, *heard])]
    return sorted(found, key=lambda one: (one.start_s, one.kind))


def _is_filler(word: Word) -> bool:
    return plain(word.text)[:1] != [] and all(part in FILLERS for part in plain(word.text))


def _filler(word: Word, speech: list[Span]) -> Candidate | None:
    """A written filler at the stretch of speech nearest to it that is short enough to be it.

    None where there is no such stretch and the model is unsure: hot words tempt it to add them to the end of speech.
    """
    near = [span for span in speech if span.start_s - 0.4 < word.end_s and word.start_s < span.end_s + 0.4]
    short = [span for span in near if span.length_s <= SOUND_S[1]]
    middle_s = (word.start_s + word.end_s) / 2
    span = min(short, key=lambda one: abs((one.start_s + one.end_s) / 2 - middle_s), default=None)
    if span is None and word.sure < SURE:
        return None
    start_s, end_s = (span.start_s, span.end_s) if span else (word.start_s, word.end_s)
    return Candidate("filler", round(start_s, 3), round(end_s, 3), word.text.strip(" ,.-"), round(word.sure, 2))


def _span(candidate: Candidate) -> Span:
    return Span(candidate.start_s, candidate.end_s)


def _repeats(words: list[Word]) -> list[Candidate]:
    """One to three words said again at once: the first time is the one to cut."""
    tokens = [" ".join(plain(word.text)) for word in words]
    found: list[Candidate] = []
    at = 0
    while at < len(words):
        size = next((n for n in (3, 2, 1) if at + 2 * n <= len(words) and _said_twice(words, tokens, at, n)), 0)
        if size:
            text = "".join(word.text for word in words[at : at + size]).strip()
            found.append(Candidate("repeat", words[at].start_s, words[at + size].start_s, text, 0.5))
        at += max(1, size)
    return found


def _said_twice(words: list[Word], tokens: list[str], at: int, size: int) -> bool:
    first, second = tokens[at : at + size], tokens[at + size : at + 2 * size]
    within_sentence = not any(word.text.endswith(SENTENCE_ENDS) for word in words[at : at + size])
    return first == second and all(first) and within_sentence and not all(token in FILLERS for token in first)


def _pauses(words: list[Word], others: list[Candidate]) -> list[Candidate]:
    """Hesitations: pauses inside a sentence, and long ones anywhere."""
    found = []
    for before, after in pairwise(words):
        gap = Span(before.end_s, after.start_s)
        inside = not before.text.endswith((*SENTENCE_ENDS, ",", ";", ":"))
        if gap.length_s >= (PAUSE_S if inside else LONG_PAUSE_S) and not any(gap.overlaps(_span(o)) for o in others):
            found.append(Candidate("pause", gap.start_s, gap.end_s, "", 0.5 if inside else 0.3))
    return found


def unexplained(words: list[Word], speech: list[Span], samples: NDArray[np.float32], start_s: float) -> list[Candidate]:
    """Stretches of speech that no word covers, voiced and steady. `samples` are 16 kHz mono from `start_s` on."""
    found = []
    for span in speech:
        if not SOUND_S[0] <= span.length_s <= SOUND_S[1]:
            continue
        covered = sum(max(0.0, min(word.end_s, span.end_s) - max(word.start_s, span.start_s)) for word in words)
        if covered > COVERED * span.length_s:
            continue
        part = samples[round((span.start_s - start_s) * RATE_HZ) : round((span.end_s - start_s) * RATE_HZ)]
        steady = steadiness(part)
        if steady > 0:
            found.append(Candidate("sound", round(span.start_s, 3), round(span.end_s, 3), "", round(steady, 2)))
    return found


def steadiness(samples: NDArray[np.float32]) -> float:
    """0 for what is not voiced or changes as words do; towards 1 for a held vowel."""
    if samples.size < _FRAME + _HOP:
        return 0.0
    frames = np.lib.stride_tricks.sliding_window_view(samples, _FRAME)[::_HOP] * np.hanning(_FRAME)
    energy = (frames**2).sum(axis=1)
    frames = frames[energy > 0.1 * energy.max() + 1e-9]
    if len(frames) < 3:
        return 0.0
    spectra = np.abs(np.fft.rfft(frames, 2 * _FRAME, axis=1))
    periodic = _periodicity(spectra)
    bands = np.log(spectra[:, 8:400].reshape(len(frames), 28, 14).mean(axis=2) + 1e-6)
    shape = bands - bands.mean(axis=1, keepdims=True)
    change = float(np.median(np.abs(np.diff(shape, axis=0)).mean(axis=1)))
    if periodic < LEAST_PERIODIC or change > MOST_CHANGE:
        return 0.0
    return min(1.0, periodic * (1 - change))


def _periodicity(spectra: NDArray[np.float64]) -> float:
    """How much a frame repeats itself at a voice's pitch (70 to 400 Hz), at the median."""
    correlation = np.fft.irfft(spectra**2, axis=1)
    lags = correlation[:, RATE_HZ // 400 : RATE_HZ // 70] / (correlation[:, :1] + 1e-9)
    return float(np.median(lags.max(axis=1)))
