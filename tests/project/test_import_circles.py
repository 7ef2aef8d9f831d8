"""No circles of imports, neither at the start of modules nor inside functions or for types alone."""

import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

from django.conf import settings
from grimp import build_graph


def test_no_module_is_imported_by_what_it_imports():
    """A circle raises CycleError, which names its modules."""
    project = tomllib.loads(Path(settings.BASE_DIR, "pyproject.toml").read_text())
    graph = build_graph(*project["tool"]["importlinter"]["root_packages"], cache_dir=None)
    imported = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert "integrations.deliveries" in imported["integrations.tasks"]
    TopologicalSorter(imported).prepare()
