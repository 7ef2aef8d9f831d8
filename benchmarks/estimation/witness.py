"""Compare audits with other programs: python -m benchmarks.estimation.witness

Of ten models and three metrics on a drawn world, 30% of 1,500 queries are audited. Two packages of prediction-powered
inference estimate from the same queries: ppi-python and GLIDE (glide-py). The command prints by how much our values and
half widths differ from theirs at most, relative to theirs.

Each package is installed into a folder of its own below .venv-witness (2 MB together), without what it depends on: it
runs on the numpy, scipy, numba, statsmodels and scikit-learn of requirements-dev.txt. glide-py asks for Python 3.12
and a newer scipy; the part of it that is used here needs neither.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.estimation.beds import synthetic_bed
from benchmarks.estimation.questions import SHOWN, proxy_of
from counterpart_statistics.estimation import estimate

FOLDER = Path(__file__).resolve().parents[2] / ".venv-witness"
NORMAL = 1.959964  # the packages' intervals are of the normal distribution, ours of Student's
READ = """
import json, sys
import numpy as np
given = [[np.array(part) for part in one] for one in json.load(sys.stdin)]
"""
PPI = """
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
found = []
for metric, proxy, other in given:
    low, high = ppi_mean_ci(metric, proxy, other, alpha=0.05)
    found.append([float(np.ravel(ppi_mean_pointestimate(metric, proxy, other))[0]), float(np.ravel(high - low)[0]) / 2])
json.dump(found, sys.stdout)
"""
GLIDE = """
from glide.estimators.ppi import PPIMeanEstimator
found = []
for metric, proxy, other in given:
    whole = np.concatenate([metric, np.full(len(other), np.nan)])
    interval = PPIMeanEstimator().estimate(whole, np.concatenate([proxy, other])).confidence_interval
    found.append([interval.mean, (interval.upper_bound - interval.lower_bound) / 2])
json.dump(found, sys.stdout)
"""


@dataclass(frozen=True)
class Witness:
    """A package that estimates means from some labels and a proxy. ``program`` prints the values and the half widths of
    what is ``given``."""

    package: str
    version: str
    program: str


WITNESSES = (Witness("ppi-python", "0.2.3", PPI), Witness("glide-py", "0.11.0", GLIDE))


def installed(witness: Witness, folder: Path = FOLDER) -> Path:
    """Return the folder of the package, installed there if it was not. Raises subprocess.CalledProcessError where pip
    fails, as without a network."""
    wanted = f"{witness.package}=={witness.version}"
    path = folder / wanted
    if not path.exists():
        folder.mkdir(exist_ok=True)
        options = ["--quiet", "--disable-pip-version-check", "--retries", "1", "--timeout", "10"]
        alone = ["--no-deps", "--ignore-requires-python", "--only-binary", ":all:"]
        with tempfile.TemporaryDirectory(dir=folder) as begun:
            command = [sys.executable, "-m", "pip", "install", *options, *alone, "--target", f"{begun}/made", wanted]
            subprocess.run(command, check=True, capture_output=True, text=True)
            shutil.move(f"{begun}/made", path)
    return path


def audits(queries: int = 1500) -> tuple[np.ndarray, list[Any]]:
    """Audit 30% of the queries of a drawn world. Return our values and half widths (n, 2), and for each the metric and
    the proxy of the audited queries and the proxy of the others."""
    world = synthetic_bed(queries=queries, items=queries + 500)
    proxy = proxy_of(world, 0, queries // 20)
    audited = np.random.default_rng(0).permutation(queries) < 0.3 * queries
    ours = []
    given = []
    for metrics, proxies in zip(world.metrics[:SHOWN], proxy, strict=True):
        for metric, proxy in zip(metrics, proxies, strict=True):
            found = estimate(metric, proxy, audited, 0.3)
            ours.append([found.value, NORMAL * found.error])
            given.append([metric[audited].tolist(), proxy[audited].tolist(), proxy[~audited].tolist()])
    return np.array(ours), given


def theirs(witness: Witness, given: list[Any]) -> np.ndarray:
    """Return the package's values and half widths (n, 2) of what ``audits`` gives."""
    path = installed(witness)
    done = subprocess.run(
        [sys.executable, "-c", READ + witness.program],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=True,
        cwd=path,
        env=os.environ | {"PYTHONPATH": str(path)},
    )
    return np.array(json.loads(done.stdout))


def main() -> None:
    ours, given = audits()
    for witness in WITNESSES:
        value, width = np.abs(ours / theirs(witness, given) - 1).max(axis=0)
        name = f"{witness.package} {witness.version}"
        print(f"{name}: {len(ours)} values differ by at most {value:.2%}, half widths by at most {width:.2%}")


if __name__ == "__main__":
    main()
