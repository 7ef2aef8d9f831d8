"""Benchmarks are run by hand: nothing else would notice that what they import was renamed."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
OURS = {path.parent.name for path in ROOT.glob("*/apps.py")} | {"benchmarks", "config", "emulators", "tests"}


@pytest.mark.parametrize("path", sorted((ROOT / "benchmarks").glob("*.py")), ids=lambda path: path.stem)
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
    return hasattr(import_module(module), name) or (ROOT / module.replace(".", "/") / f"{name}.py").exists()
