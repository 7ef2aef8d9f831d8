"""The metrics as a library: without Django, and quick to import."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from counterpart_metrics import named_benchmarks

ROOT = Path(__file__).resolve().parents[1]


def run_alone(program: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DJANGO")}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_metrics_work_without_django_and_import_nothing_heavy():
    program = """
import sys
import counterpart_metrics as metrics
heavy = {"django", "torch", "numba", "scipy", "pandas", "nltk", "eccv_caption"} & set(sys.modules)
found = metrics.find(metrics.Rankings.of({1: [2, 3]}), metrics.Qrels.of({1: {3}}))
print(heavy or "light", metrics.METRICS["R@5"](found)[0], "django" in sys.modules)
"""
    assert run_alone(program) == "light 1.0 False"


@pytest.mark.parametrize(
    ("rankings", "options", "problem"),
    [
        ({}, {"benchmarks": ["flickr"]}, "Unknown flickr. Benchmarks: coco-1k, coco-5k, cxc, eccv, pmrp"),
        ({"i2i": None}, {}, "Unknown i2i"),
        ({"i2t": None}, {"benchmarks": "pmrp"}, "pmrp needs the categories of the images"),
        ({"i2t": None}, {"benchmarks": "pmrp", "categories": {}}, "5000 of the 5,000 images have no categories"),
    ],
)
def test_a_benchmark_that_cannot_be_scored_is_refused(rankings, options, problem):
    with pytest.raises(ValueError, match=problem):
        named_benchmarks.score(rankings, **options)


def test_an_unknown_name_has_no_positives():
    with pytest.raises(ValueError, match="'pmrp'; choose coco-1k"):
        named_benchmarks.positives("pmrp")


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("coco-1k", {"i2t": (5000, 25000), "t2i": (25000, 25000)}),
        ("cxc", {"i2t": (5000, 35585), "t2i": (24972, 35585)}),
        ("eccv", {"i2t": (1261, 22550), "t2i": (1332, 11279)}),
    ],
)
def test_the_positives_of_a_benchmark_have_the_papers_numbers(name, sizes):
    found = named_benchmarks.positives(name)
    assert {d: (len(one.queries), len(one.items)) for d, one in found.items()} == sizes


def test_a_fold_of_coco_1k_is_a_fifth_of_the_images_with_their_captions():
    folds = named_benchmarks._folds()
    assert [(len(images), len(captions)) for images, captions in folds] == [(1000, 5000)] * 5
    assert len({image for images, _ in folds for image in images.tolist()}) == 5000
