"""A straightforward reading of the repair contract: the peer that `repair_v3_speed.py` is timed against.

One ffmpeg process per file, chunk and stream; scikit-image's SSIM on every candidate; nothing left out early.
Shares no code with `verifiers`. Prints its figures as JSON.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from pathlib import Path

import cv2
import numpy as np
from scipy.signal import correlate
from skimage.metrics import structural_similarity

RATE_HZ = 48_000
BAND = 10


def ffmpeg_output(ffmpeg: str, path: Path, start_s: float, duration_s: float, *options: str) -> bytes:
    cut = ["-ss", f"{start_s:.3f}", "-t", f"{duration_s:.3f}", "-i", str(path)]
    command = [ffmpeg, "-nostdin", "-loglevel", "error", *cut, *options, "-"]
    return subprocess.run(command, check=True, capture_output=True).stdout


def chunk_frames(ffmpeg: str, path: Path, start_s: float, duration_s: float, size: tuple[int, int]):
    width, height = size
    options = ("-an", "-f", "rawvideo", "-pix_fmt", "bgr24", "-fps_mode", "passthrough")
    raw = ffmpeg_output(ffmpeg, path, start_s, duration_s, *options)
    return np.frombuffer(raw, np.uint8).reshape(-1, height, width, 3)


def features(bgr):
    gray = cv2.cvtColor(bgr, cv2.COLOR_BGR2GRAY)
    cells = cv2.resize(gray, (9, 8), interpolation=cv2.INTER_AREA)
    return {
        "gray": gray,
        "ab": cv2.cvtColor(bgr, cv2.COLOR_BGR2LAB)[..., 1:].astype(np.int16),
        "sharpness": cv2.Laplacian(gray, cv2.CV_64F).var(),
        "hash": cells[:, 1:] > cells[:, :-1],
    }


def candidate_value(fixed, source, lag):
    similarity = structural_similarity(source["gray"], fixed["gray"], data_range=255)
    sharp = min(1.0, fixed["sharpness"] / source["sharpness"]) if source["sharpness"] > 1 else 1.0
    chroma = max(0.0, 1 - np.abs(fixed["ab"] - source["ab"]).mean() / 25)
    return similarity * sharp * chroma * max(0.0, 1 - 0.03 * abs(lag))


def frame_value(fixed, source_frames, index):
    band = range(max(0, index - BAND), min(len(source_frames), index + BAND + 1))
    nearest = sorted(band, key=lambda at: int((fixed["hash"] != source_frames[at]["hash"]).sum()))[:3]
    chosen = set(nearest) | ({index} if index in band else set())
    return max(candidate_value(fixed, source_frames[at], at - index) for at in chosen)


def video_chunk(options, start_s, duration_s, window):
    size, fps = (options.width, options.height), options.fps
    source = chunk_frames(options.ffmpeg, options.source, start_s, duration_s, size)
    source_features = [features(frame) for frame in source]
    fixed = chunk_frames(options.ffmpeg, options.fixed, start_s, duration_s, size)
    sides: dict[bool, list[float]] = {True: [], False: []}
    places = range(0, len(fixed), max(1, round(fps / 10)))
    for index in places[: round(duration_s * 10)]:
        inside = window[0] <= start_s + index / fps <= window[1]
        sides[inside].append(frame_value(features(fixed[index]), source_features, index))
    return sides


def audio_chunk(options, start_s, duration_s, window):
    raw = ("-vn", "-ac", "1", "-ar", str(RATE_HZ), "-f", "s16le")
    fixed, source = (
        np.frombuffer(ffmpeg_output(options.ffmpeg, path, start_s, duration_s, *raw), np.int16).astype(float)
        for path in (options.fixed, options.source)
    )
    count = min(len(fixed), len(source))
    times_s = start_s + np.arange(count) / RATE_HZ
    inside = (times_s >= window[0]) & (times_s < window[1])
    return {
        side: (audio_value(fixed[:count][mask], source[:count][mask]), mask.sum() / RATE_HZ)
        for side, mask in ((True, inside), (False, ~inside))
        if mask.any()
    }


def audio_value(fixed, source):
    loudness = np.linalg.norm(fixed), np.linalg.norm(source)
    if not any(loudness):
        return 1.0
    if not all(loudness):
        return 0.0
    products = correlate(fixed, source, mode="full", method="fft")
    reach, centre = round(0.150 * RATE_HZ), len(fixed) - 1
    near = products[max(0, centre - reach) : centre + reach + 1]
    best = int(np.argmax(near))
    lag = abs(max(0, centre - reach) + best - centre)
    return float(np.clip(near[best] / (loudness[0] * loudness[1]) * (1 - lag / reach), 0, 1))


def kept(inside, outside):
    lost = min(1, 2.5 * (1 - inside)) if inside is not None else 0
    lost += min(1, 1.0 * (1 - outside)) if outside is not None else 0
    return max(0, 1 - lost)


def mean(pairs):
    total = sum(weight for _, weight in pairs)
    return sum(value * weight for value, weight in pairs) / total if total else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ffmpeg", required=True)
    parser.add_argument("--fixed", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    for name in ("width", "height"):
        parser.add_argument(f"--{name}", type=int, required=True)
    for name in ("fps", "duration-s", "start-s", "end-s"):
        parser.add_argument(f"--{name}", type=float, required=True)
    options = parser.parse_args()
    window = (options.start_s, options.end_s)
    video: dict[bool, list] = {True: [], False: []}
    audio: dict[bool, list] = {True: [], False: []}
    for start_s in np.arange(0, options.duration_s - 1e-6, 10):
        duration_s = min(10.0, options.duration_s - start_s)
        for side, values in video_chunk(options, start_s, duration_s, window).items():
            video[side] += [(max(0.0, float(np.mean(values))), len(values))] if values else []
        for side, pair in audio_chunk(options, start_s, duration_s, window).items():
            audio[side].append(pair)
    sides = [mean(video[True]), mean(video[False]), mean(audio[True]), mean(audio[False])]
    edit = 0.6 * kept(*sides[:2]) + 0.4 * kept(*sides[2:])
    print(json.dumps({"edit": edit, "sides": sides}))


if __name__ == "__main__":
    main()
