"""What every command and page waits for: packages that few of them use are imported where they are used."""

import subprocess
import sys

HEAVY = ("boto3", "httpx", "numba", "scipy.stats", "sklearn", "torch")


def test_heavy_packages_are_not_imported_at_the_start():
    """Neither by the apps, which commands load, nor by the pages."""
    program = f"import django, sys; django.setup(); import config.urls; print([*filter(sys.modules.get, {HEAVY})])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
