"""Compare audits with ppi-python: python -m benchmarks.estimation.witness PYTHON

PYTHON is an interpreter of an environment of its own with ppi-python 0.2.3 (674 MB with what it needs, so that the
project does not depend on it). Of ten models and three metrics on a drawn world, 30% of 1,500 queries are audited;
prints by how much the values and the half widths of the two programs differ at most, relative to each.
"""

import argparse
import json
import subprocess

import numpy as np

from benchmarks.estimation.beds import synthetic_bed
from benchmarks.estimation.replays import Prepared
from evaluation.estimation import estimate

NORMAL = 1.959964  # the package's intervals are of the normal distribution, ours of Student's
THEIRS = """
import json, sys
import numpy as np
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
found = []
for metric, proxy, other in json.load(sys.stdin):
    labelled = np.array(metric), np.array(proxy), np.array(other)
    low, high = ppi_mean_ci(*labelled, alpha=0.05)
    found.append([float(np.ravel(ppi_mean_pointestimate(*labelled))[0]), float(np.ravel(high - low)[0]) / 2])
json.dump(found, sys.stdout)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("python", help="interpreter with ppi-python")
    options = parser.parse_args()
    world = Prepared.of(synthetic_bed(queries=1500, items=2000), 0)
    audited = np.random.default_rng(0).permutation(1500) < 450
    ours = []
    given = []
    for metrics, proxies in zip(world.metrics[:3], world.expected.mean[:3], strict=True):
        for metric, proxy in zip(metrics, proxies, strict=True):
            found = estimate(metric, proxy, audited, 0.3)
            ours.append([found.value, NORMAL * found.error])
            given.append([metric[audited].tolist(), proxy[audited].tolist(), proxy[~audited].tolist()])
    done = subprocess.run(
        [options.python, "-c", THEIRS], input=json.dumps(given), capture_output=True, text=True, check=True
    )
    value, width = np.abs(np.array(ours) / np.array(json.loads(done.stdout)) - 1).max(axis=0)
    print(f"{len(ours)} estimates: values differ by at most {value:.2%}, half widths by at most {width:.2%}")


if __name__ == "__main__":
    main()
