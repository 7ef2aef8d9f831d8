"""What every command and page waits for: packages that few of them use are imported where they are used."""

import subprocess
import sys

import pytest

HEAVY = ("boto3", "httpx", "numba", "scipy.stats", "sklearn", "torch")


@pytest.mark.parametrize("part", ["django.apps", "config.urls"], ids=["commands", "pages"])
def test_heavy_packages_are_not_imported_at_the_start(part):
    program = f"import django, sys; django.setup(); import {part}; print([*filter(sys.modules.get, {HEAVY})])"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
