"""Real speech with known words, a synthesised um, and where a speech model for tests may be."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray

from primitives._media.scan import scan
from primitives._media.sound_read import read_sound
from tests.media import SHARED_MEDIA

Samples = NDArray[np.float32]
RATE_HZ = 16_000
MODELS = Path(os.environ.get("AVB_TEST_MODELS", Path(__file__).resolve().parents[2] / "shared" / "models"))


def model_folder() -> Path:
    """A small English model; the test skips where there is none."""
    folder = MODELS / "faster-whisper-tiny.en-int8"
    if not (folder / "model.bin").is_file():
        pytest.skip(f"speech model not found: set AVB_TEST_MODELS to a folder that holds {folder.name}")
    return folder


def clips_with_text(part: str = "") -> list[tuple[Samples, str]]:
    """The real clips whose words are known, 16 kHz mono, in a fixed order."""
    manifest = SHARED_MEDIA / "MANIFEST.json"
    if not manifest.is_file():
        pytest.skip("real media not found: set AVB_TEST_MEDIA to a folder that holds MANIFEST.json")
    found = []
    for entry in json.loads(manifest.read_text(encoding="utf-8"))["files"]:
        path = SHARED_MEDIA / entry["file"]
        if entry.get("transcript") and part in entry["file"] and path.is_file():
            found.append((mono(path), entry["transcript"]))
    return found


def mono(path: Path) -> Samples:
    sound = scan(path, path.name, lambda: None).sound
    assert sound is not None
    samples: Samples = read_sound(path, path.name, 0, float(sound.end), RATE_HZ, 1, lambda: None)[0]
    return samples


def um(seconds: float, pitch_hz: float) -> Samples:
    """A held neutral vowel that closes to a hum: a pulse train through three resonances."""
    count = round(seconds * RATE_HZ)
    pitch = pitch_hz * (1 - 0.08 * np.arange(count) / count)
    phase = np.cumsum(pitch / RATE_HZ)
    pulses = np.diff(np.floor(phase), prepend=0.0)
    voice = np.zeros(count)
    closed = np.clip((np.arange(count) / count - 0.55) / 0.15, 0, 1)
    for frequency_hz, width_hz, level in ((600, 80, 1.0), (1200, 100, 0.5), (2500, 160, 0.2)):
        voice += level * (1 - 0.9 * closed) * _resonance(pulses, frequency_hz, width_hz)
    voice += 0.8 * closed * _resonance(pulses, 250, 60)
    fade = np.minimum(1, np.minimum(np.arange(count), np.arange(count)[::-1]) / (0.04 * RATE_HZ))
    return (voice / np.abs(voice).max() * fade).astype(np.float32)


def _resonance(pulses: NDArray[np.float64], frequency_hz: float, width_hz: float) -> NDArray[np.float64]:
    from scipy.signal import lfilter

    radius = np.exp(-np.pi * width_hz / RATE_HZ)
    rung = lfilter([1.0], [1, -2 * radius * np.cos(2 * np.pi * frequency_hz / RATE_HZ), radius**2], pulses)
    return np.asarray(rung / np.abs(rung).max())


def write_wav(path: Path, samples: Samples, rate_hz: int = RATE_HZ) -> Path:
    """Samples as 16-bit PCM; `[samples]` or `[channels, samples]`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, samples.T, rate_hz, "PCM_16")
    return path
