"""Find what was said, although the model may have heard or written it a little differently. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from primitives._speech.words import Word

LIKE = 0.75
"""From here on a passage counts as a hit; 1 is the same letters."""
WORD_LIKE = 0.7
_ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["zero", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_ORDINALS = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth"}
_ORDINALS |= {"twelve": "twelfth"}
_YEARS = ((1100, 2000), (2010, 2100))


@dataclass(frozen=True)
class Hit:
    """A passage that matches; `first` and `last` count words, `last` excluded."""

    first: int
    last: int
    likeness: float


def plain(text: str) -> list[str]:
    """The words of a text as they are compared: small letters, numbers spelled out, no marks."""
    tokens = re.findall(r"[^\W_]+(?:'[^\W_]+)*", text.lower().replace("’", "'"))
    return [part for token in tokens for part in _spelled(token)]


def _spelled(token: str) -> list[str]:
    match = re.fullmatch(r"(\d{1,4})(st|nd|rd|th|s)?", token)
    if match is None:
        return [token]
    words, ending = spoken(int(match[1])), match[2]
    if ending == "s":
        words[-1] = words[-1][:-1] + "ies" if words[-1].endswith("y") else words[-1] + "s"
    elif ending:
        last = words[-1]
        words[-1] = _ORDINALS.get(last, last[:-1] + "ieth" if last.endswith("y") else last + "th")
    return words


def spoken(number: int) -> list[str]:
    """A number below ten thousand in words; one that looks like a year as a year."""
    if any(low <= number < high for low, high in _YEARS) and number % 100:
        return spoken(number // 100) + (["oh"] if number % 100 < 10 else []) + spoken(number % 100)
    if number >= 1000:
        return [*spoken(number // 1000), "thousand", *(spoken(number % 1000) if number % 1000 else [])]
    if number >= 100:
        return [*spoken(number // 100), "hundred", *(spoken(number % 100) if number % 100 else [])]
    if number >= 20:
        return [_TENS[number // 10], *(spoken(number % 10) if number % 10 else [])]
    return [_ONES[number]]


def find(query: str, words: list[Word]) -> list[Hit]:
    """The passages most like a query, best first, none overlapping a better one."""
    asked = plain(query)
    heard = [(part, index) for index, word in enumerate(words) for part in plain(word.text)]
    if not asked or not heard:
        return []
    tokens = [part for part, _ in heard]
    best: list[tuple[float, int, int]] = []
    for start in _starts(asked, tokens):
        tried = [(_likeness(asked, tokens[start : start + size]), start, size) for size in _sizes(len(asked))]
        best.append(max(tried, key=lambda one: (one[0], -one[2])))
    hits: list[Hit] = []
    for likeness, start, size in sorted(best, key=lambda one: (-one[0], one[1])):
        last = min(start + size, len(heard)) - 1
        hit = Hit(heard[start][1], heard[last][1] + 1, round(likeness, 2))
        if likeness >= LIKE and all(hit.last <= other.first or other.last <= hit.first for other in hits):
            hits.append(hit)
    return hits


def _sizes(count: int) -> range:
    slack = max(1, count // 4)
    return range(max(1, count - slack), count + slack + 1)


def _starts(asked: list[str], tokens: list[str]) -> list[int]:
    """Where a passage may begin: where enough of the asked words are heard nearby. Most of a film is left out here."""
    vocabulary = {token: any(_alike(one, token) for one in asked) for token in set(tokens)}
    known = [vocabulary[token] for token in tokens]
    reach, needed = _sizes(len(asked)).stop, max(1, len(asked) // 3)
    return [start for start in range(len(tokens)) if sum(known[start : start + reach]) >= needed]


@lru_cache(maxsize=20_000)
def _alike(one: str, other: str) -> bool:
    if one == other or (min(len(one), len(other)) >= 4 and (one in other or other in one)):
        return True
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return matcher.real_quick_ratio() >= WORD_LIKE and matcher.ratio() >= WORD_LIKE


def _likeness(asked: list[str], heard: list[str]) -> float:
    """Letters in common, with and without the spaces: a model may join or split words."""
    spaced = SequenceMatcher(None, " ".join(asked), " ".join(heard), autojunk=False)
    if spaced.real_quick_ratio() < LIKE - 0.1:
        return 0.0
    return max(spaced.ratio(), SequenceMatcher(None, "".join(asked), "".join(heard), autojunk=False).ratio())
