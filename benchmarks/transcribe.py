"""`transcribe` on real speech: word errors, word times, ums found, and a long film read in slices with a kill between.

    python benchmarks/transcribe.py [--hours 2] [--speech-share 0.15] [--only words,fillers,long]

Needs a speech model: AVB_WHISPER_MODEL, or the folder that the tests use beside the project; and the real clips of the
tests. Word times are judged where the truth is known without a listener: each clip stands between silences, so its
first word begins and its last word ends where the sound of the clip does (within 35 dB of its loudest 10 ms). Ums are
synthesised: a pulse train at 110 or 190 Hz through three resonances of a neutral vowel, closed by a low hum; the
speech around them is real.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.speech import RATE_HZ, clips_with_text, model_folder, um, write_wav  # noqa: E402

Samples = NDArray[np.float32]
PAUSE_S = 1.0
FILLER_TRIAL = ("librivox", "librispeech", "cmu_arctic", "jfk")
ONE_CALL = """
import json, sys
from pathlib import Path
from avb_mcp.workspace import Workspace
from primitives._base import Call
from primitives.registry import by_name
folder, arguments = Path(sys.argv[1]), json.loads(sys.argv[2])
calls = 0
while True:
    result = by_name()["transcribe"].call(arguments, Call(Workspace(folder))).result
    calls += 1
    if result.done_s >= result.end_s:
        break
    arguments["start_s"] = result.done_s
print(json.dumps({"calls": calls, "words": result.word_count, "done_s": result.done_s}))
"""


def call(folder: Path, **arguments: Any) -> list[dict[str, Any]]:
    """All rows of a call: every page of every slice, to the end of the film."""
    from avb_mcp.workspace import Workspace
    from primitives._base import Call
    from primitives.registry import by_name

    rows: list[dict[str, Any]] = []
    arguments |= {"limit": 100, "offset": 0, "start_s": 0.0}
    while True:
        result = by_name()["transcribe"].call(arguments, Call(Workspace(folder))).result.model_dump()
        rows += result["rows"]
        arguments["offset"] += len(result["rows"])
        if arguments["offset"] < result["row_count"]:
            arguments["end_s"] = result["done_s"]  # a later page of what has been read
        elif result["done_s"] < whole_s(folder / arguments["path"]):
            arguments |= {"offset": 0, "start_s": result["done_s"]}
            arguments.pop("end_s", None)
        else:
            return rows


def whole_s(path: Path) -> float:
    import soundfile

    return float(round(soundfile.info(path).duration, 3))


def errors(reference: list[str], heard: list[str]) -> int:
    """The fewest words to put in, take out or exchange."""
    row = list(range(len(heard) + 1))
    for i, wanted in enumerate(reference, start=1):
        before, row[0] = row[0], i
        for j, word in enumerate(heard, start=1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (wanted != word))
    return row[-1]


def extent_s(samples: Samples) -> tuple[float, float]:
    """Where the sound of a clip begins and ends."""
    step = RATE_HZ // 100
    energy = (samples[: samples.size // step * step].reshape(-1, step) ** 2).mean(axis=1)
    loud = np.flatnonzero(energy > energy.max() * 10**-3.5)
    return float(loud[0]) / 100, float(loud[-1] + 1) / 100


def words_figures(folder: Path) -> None:
    from primitives._speech.find import plain

    clips = clips_with_text()
    film, starts_s = [np.zeros(round(PAUSE_S * RATE_HZ), np.float32)], []
    for samples, _ in clips:
        starts_s.append(sum(part.size for part in film) / RATE_HZ)
        film += [samples, np.zeros(round(PAUSE_S * RATE_HZ), np.float32)]
    write_wav(folder / "film.wav", np.concatenate(film))
    began = time.process_time()
    rows = call(folder, path="film.wav", words=True)
    cpu_s = time.process_time() - began
    wrong = total = 0
    off_s: list[float] = []
    for (samples, text), start_s in zip(clips, starts_s, strict=True):
        end_s = start_s + samples.size / RATE_HZ
        inside = [row for row in rows if start_s - 0.5 <= (row["start_s"] + row["end_s"]) / 2 < end_s + 0.5]
        reference = plain(text)
        wrong += errors(reference, [word for row in inside for word in plain(str(row["text"]))])
        total += len(reference)
        first_s, last_s = extent_s(samples)
        if inside:
            off_s += [inside[0]["start_s"] - start_s - first_s, inside[-1]["end_s"] - start_s - last_s]
    off_ms = np.abs(np.array(off_s).reshape(-1, 2)) * 1000
    length_s = sum(part.size for part in film) / RATE_HZ
    print(f"words: {len(clips)} clips, {total} words, word error rate {wrong / total:.1%}")
    print(f"words: {cpu_s / length_s:.2f} x real time, CPU")
    for end, off in zip(("first words begin", "last words end"), off_ms.T, strict=True):
        print(
            f"word times: {end} {np.median(off):.0f} ms off at the median, 90 % within {np.percentile(off, 90):.0f} ms"
        )


def fillers_figures(folder: Path, about: str, clips: list[tuple[Samples, str]], seed: int) -> None:
    """Ums put between clips of real speech; everything else called a filler or a sound is false."""
    rng = np.random.default_rng(seed)
    film, truth_s, place = [], [], 0
    for number, (samples, _) in enumerate(clips):
        film.append(samples)
        place += samples.size
        pause = np.zeros(round(rng.uniform(0.25, 0.5) * RATE_HZ), np.float32)
        sound = um(float(rng.uniform(0.25, 0.6)), 190 if number % 2 else 110) * float(np.abs(samples).max()) * 0.6
        parts = [pause, sound, pause] if number % 4 != 3 else [pause, pause]
        if len(parts) == 3:
            truth_s.append(((place + pause.size) / RATE_HZ, (place + pause.size + sound.size) / RATE_HZ))
        film += parts
        place += sum(part.size for part in parts)
    write_wav(folder / f"ums{seed}.wav", np.concatenate(film))
    rows = [row for row in call(folder, path=f"ums{seed}.wav", fillers=True) if row["kind"] in ("filler", "sound")]
    found = [any(row["start_s"] < end and start < row["end_s"] for row in rows) for start, end in truth_s]
    right = [any(row["start_s"] < end and start < row["end_s"] for start, end in truth_s) for row in rows]
    edges = [
        max(abs(row["start_s"] - start), abs(row["end_s"] - end))
        for start, end in truth_s
        for row in rows
        if row["start_s"] < end and start < row["end_s"]
    ]
    kinds = [row["kind"] for row in rows]
    print(
        f"fillers, {about}: {sum(found)} of {len(truth_s)} ums found (recall {np.mean(found):.2f}), "
        f"{sum(right)} of {len(rows)} candidates right (precision {np.mean(right):.2f}); {kinds.count('filler')} "
        f"written, {kinds.count('sound')} by sound; edges {np.median(edges) * 1000:.0f} ms off at the median"
    )


def long_film(path: Path, hours: float, share: float) -> None:
    """Real speech in stretches of a minute, with silence of a length that makes speech the given share."""
    import soundfile

    speech = np.concatenate([samples for samples, _ in clips_with_text("ljspeech")])
    quiet = np.zeros(round(speech.size * (1 - share) / share), np.float32)
    left = round(hours * 3600 * RATE_HZ)
    with soundfile.SoundFile(path, "w", RATE_HZ, 1, "PCM_16") as file:
        while left > 0:
            for part in (speech, quiet):
                file.write(part[:left])
                left -= min(left, part.size)


def long_figures(folder: Path, hours: float, share: float) -> None:
    long_film(folder / "long.wav", hours, share)
    command = [sys.executable, "-c", ONE_CALL, str(folder), json.dumps({"path": "long.wav"})]
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=ROOT)
    wanted = max(3, round(hours * 3600 * share / 28 / 2))
    while len(kept(folder)) < wanted:
        time.sleep(0.2)
    os.kill(process.pid, signal.SIGKILL)
    _, _, usage = os.wait4(process.pid, 0)
    before = kept(folder)
    print(
        f"long: killed after {len(before)} windows, {time.monotonic() - began:.0f} s, peak {usage.ru_maxrss // 1024} MB"
    )
    process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)
    output = process.stdout.read() if process.stdout else b""
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0
    after = kept(folder)
    again = sum(after[name] != changed for name, changed in before.items())
    cpu_s = usage.ru_utime + usage.ru_stime
    print(f"long: {hours} h with {share:.0%} speech resumed to the end: {json.loads(output)}")
    print(f"long: {len(after)} windows, {len(after) - len(before)} new, {again} read twice, {cpu_s:.0f} s CPU, "
          f"peak {usage.ru_maxrss // 1024} MB")  # fmt: skip


def kept(folder: Path) -> dict[str, int]:
    """The windows that are kept, and when each was written."""
    files = list((folder / ".avb/cache").glob("*.words-*/[0-9]*.json"))
    return {file.name: file.stat().st_mtime_ns for file in files}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=0.2)
    parser.add_argument("--speech-share", type=float, default=0.5)
    parser.add_argument("--only", default="words,fillers,long")
    options = parser.parse_args()
    os.environ.setdefault("AVB_WHISPER_MODEL", str(model_folder()))
    print(f"model: {Path(os.environ['AVB_WHISPER_MODEL']).name}")
    with tempfile.TemporaryDirectory() as scratch:
        if "words" in options.only:
            words_figures(Path(scratch))
        if "fillers" in options.only:
            reader = clips_with_text("ljspeech")
            others = [clip for part in FILLER_TRIAL for clip in clips_with_text(part)]
            fillers_figures(Path(scratch), "the film that thresholds were set on", reader, 4)
            fillers_figures(Path(scratch), "other voices, held out", others, 5)
        if "long" in options.only:
            long_figures(Path(scratch), options.hours, options.speech_share)


if __name__ == "__main__":
    main()
