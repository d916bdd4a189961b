"""A plan of two hundred cells, killed on the way and resumed: is every cell in the ledger exactly once?

    python benchmarks/two_hundred.py --engine local    # the run is killed with SIGKILL twice
    python benchmarks/two_hundred.py --engine dask     # two worker processes, one killed; the run killed once

Eight tasks of three tiny clips, each under a program of the user's with eleven "models" in two arms (cheap) and under
nop, autopilot and oracle (with the real server). About four minutes of CPU time.
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
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from avb_mcp.experiments.ledger import Ledger
from avb_mcp.experiments.processes import MARK
from avb_mcp.experiments.run import load_expected
from tests.avb_mcp.experiments.making import ORDER, order_suite

TASKS, MODELS = 8, 11
CELLS_PER_TASK = 2 * MODELS + 3
COMMAND = """
import json, pathlib
segments = [{"source": name} for name in %r]
pathlib.Path("outputs/solution.json").write_text(json.dumps({"segments": segments}))
"""
PLAN = """
name = "two hundred"
suites = ["suite"]
arms = ["shell", "typed"]
repetitions = 1
workers = 2

[retries]
backoff_s = 0

[[agents]]
harness = "nop"

[[agents]]
harness = "autopilot"

[[agents]]
harness = "oracle"
"""
PROGRAM = """
[[agents]]
harness = "command"
model = "m%d"
command = %s
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=("local", "dask"), default="local")
    parser.add_argument("--tasks", type=int, default=TASKS, help="25 cells each")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="avb-two-hundred-") as scratch:
        folder = Path(scratch)
        make_plan(folder, options.tasks)
        count = CELLS_PER_TASK * options.tasks
        (on_dask if options.engine == "dask" else on_pool)(folder, count)
        sys.exit(0 if proof(folder, count) else 1)


def make_plan(folder: Path, tasks: int) -> None:
    order_suite(folder / "suite", tasks)
    command = json.dumps([sys.executable, "-c", COMMAND % ORDER])
    programs = "".join(PROGRAM % (number, command) for number in range(1, MODELS + 1))
    (folder / "plan.toml").write_text(PLAN + programs, encoding="utf-8")


def on_pool(folder: Path, count: int) -> None:
    for share in (0.25, 0.6):
        run = start(folder)
        wait_for(folder, int(share * count), run)
        run.kill()
        run.wait()
        told(folder, f"the run was killed (SIGKILL); processes of agents left: {left_over(folder)}")
    finish(folder)


def on_dask(folder: Path, count: int) -> None:
    with cluster(folder) as (address, workers):
        options = ("--engine", "dask", "--scheduler", address)
        run = start(folder, *options)
        wait_for(folder, int(0.25 * count), run)
        workers[0].kill()
        workers[0].wait()
        told(folder, f"a worker was killed (SIGKILL); workers left: {sum(w.poll() is None for w in workers)}")
        wait_for(folder, int(0.6 * count), run)
        run.kill()
        run.wait()
        told(folder, "the run was killed (SIGKILL)")
        finish(folder, *options)


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A scheduler and two workers, processes of their own."""
    about = folder / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": (folder / "dask.log").open("wb")}
    dask = (sys.executable, "-m", "dask")
    scheduler = subprocess.Popen(
        [*dask, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(about)],
        **quiet,
    )
    worker = [*dask, "worker", "--scheduler-file", str(about), "--nthreads", "1", "--no-nanny", "--no-dashboard"]
    while not about.is_file():
        time.sleep(0.1)
    workers = [subprocess.Popen([*worker, "--local-directory", str(folder / f"w{n}")], **quiet) for n in range(2)]
    try:
        yield json.loads(about.read_text(encoding="utf-8"))["address"], workers
    finally:
        for process in (*workers, scheduler):
            process.send_signal(signal.SIGTERM)
            process.wait()


def start(folder: Path, *options: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "avb_mcp", "run", str(folder / "plan.toml"), *options]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def finish(folder: Path, *options: str) -> None:
    started = time.monotonic()
    code = start(folder, *options).wait()
    told(folder, f"the last run ended with exit code {code} after {time.monotonic() - started:.0f} s")


def wait_for(folder: Path, count: int, run: subprocess.Popen[bytes]) -> None:
    while len(list(ledger(folder).records())) < count:
        if run.poll() is not None:
            sys.exit(f"the run ended by itself with exit code {run.returncode}")
        time.sleep(0.2)


def ledger(folder: Path) -> Ledger:
    return Ledger(folder / "runs" / "two-hundred")


def told(folder: Path, what: str) -> None:
    expected = load_expected(ledger(folder).path.parent)
    standing = ledger(folder).standing(expected)
    finished = len(expected) - len(standing.missing)
    print(f"{what}\n  {len(expected)} expected = {finished} attempted + {len(standing.missing)} missing", flush=True)


def left_over(folder: Path) -> int:
    """Agents of this run that outlived it: marked, and at work in its folder."""
    found = 0
    time.sleep(1)
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            is_marked = f"{MARK}=".encode() in (entry / "environ").read_bytes()
            found += is_marked and str(folder).encode() in (entry / "cmdline").read_bytes()
        except OSError:
            continue
    return found


def proof(folder: Path, count: int) -> bool:
    expected, records = load_expected(ledger(folder).path.parent), list(ledger(folder).records())
    finals = Counter(record.cell_id for record in records if record.final)
    once = finals == Counter(cell.id for cell in expected) and len(expected) == count
    outcomes = Counter(record.outcome.value for record in records)
    scores: dict[str, list[float]] = {}
    for record in records:
        scores.setdefault(record.cell.agent.harness, []).append(-1.0 if record.score is None else record.score)
    print(f"{len(records)} records, {len(finals)} cells with a final one; outcomes {dict(outcomes)}")
    print(f"isolation {sorted({record.isolation for record in records})}")
    for agent, values in scores.items():
        print(f"  {agent:10} {len(values):4} cells, scores {sorted(set(values))}")
    print("every cell exactly once" if once and max(finals.values()) == 1 else "NOT every cell exactly once")
    return once


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
