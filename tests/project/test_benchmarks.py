"""Benchmarks are run by hand: nothing else would notice that what they import was renamed."""

import ast
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from benchmarks.judging_crowd import Visitor, join
from crowd.posting.publication import join_link
from tests.factories import make_round

ROOT = Path(__file__).resolve().parent.parent.parent
OURS = {path.parent.name for path in ROOT.glob("*/apps.py")} | {
    "benchmarks",
    "config",
    "tests",
    *(path.parent.name for path in ROOT.glob("packages/*/*/__init__.py")),
}


@pytest.mark.parametrize("path", sorted((ROOT / "benchmarks").rglob("*.py")), ids=lambda path: path.stem)
def test_what_a_benchmark_imports_exists(path):
    asked = [
        (node.module, alias.name)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] in OURS
        for alias in node.names
    ]
    missing = [f"{module}.{name}" for module, name in asked if not _exists(module, name)]
    assert not missing


def _exists(module: str, name: str) -> bool:
    found = import_module(module)
    return hasattr(found, name) or (hasattr(found, "__path__") and find_spec(f"{module}.{name}") is not None)


@pytest.mark.django_db(transaction=True)
def test_a_worker_of_the_judging_benchmark_joins_takes_a_hit_and_submits_it(live_server):
    made = make_round()
    made.pool.collection.images.update(width=300, height=200)  # by its size a worker knows a picture
    site = live_server.url.removeprefix("http://")
    (door,) = join(site, urlsplit(join_link(made)).path, 1)
    visitor = Visitor(site)
    assert visitor.judge(door, drafts=True, pictures=False)
    visitor.connection.close()
    assert (visitor.hits, visitor.failed) == (1, 0)
