"""Benchmarks are run by hand: nothing else would notice that what they import was renamed."""

import ast
from importlib import import_module
from importlib.util import find_spec

import pytest

from tests.project.names import ROOT

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
