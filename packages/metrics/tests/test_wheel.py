"""The package as its users get it: a small wheel that needs NumPy alone."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
METRICS = Path(__file__).resolve().parents[1]


def run(*command: object, folder: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_scores_an_export_where_numpy_alone_is_installed(tmp_path):
    pip = "-m", "pip", "--quiet", "--disable-pip-version-check"
    run(sys.executable, *pip, "wheel", "--no-deps", "--wheel-dir", tmp_path, METRICS, folder=tmp_path)
    (wheel,) = tmp_path.glob("counterpart_metrics-*.whl")
    assert wheel.stat().st_size < 100_000
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "empty", folder=tmp_path)
    python = tmp_path / "empty/bin/python"
    run(sys.executable, *pip, "--python", python, "install", "--no-compile", wheel, folder=tmp_path)
    listed = json.loads(
        run(sys.executable, "-m", "pip", "--python", python, "list", "--format", "json", folder=tmp_path)
    )
    assert {one["name"] for one in listed} == {"counterpart-metrics", "numpy"}
    (tmp_path / "v1_image_to_caption.json").write_text(json.dumps({"1": [10, 11], "2": [12]}))
    (tmp_path / "mine.json").write_text(json.dumps({"i2t": {"1": [10, 12, 11], "2": [12, 10]}}))
    printed = run(python, "-m", "counterpart_metrics", tmp_path, "mine.json", "--json", folder=tmp_path)
    assert {name: one["value"] for name, one in json.loads(printed)["mine"]["i2t"].items()} == {
        "mAP@R": 0.75, "R-Precision": 0.75, "R@1": 1.0, "R@5": 1.0, "R@10": 1.0
    }  # fmt: skip
    asked = (
        "import counterpart_metrics as m\ntry: m.positives('eccv')\nexcept m.CounterpartError as error: print(error)"
    )
    assert "[benchmarks]" in run(python, "-c", asked, folder=tmp_path)
