"""A host that only serves pages needs no large package: neither to install nor to start. What every command and page
waits for has no heavy package either: those that few of them use are imported where they are used."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, requires

from django.core.management import get_commands
from packaging.requirements import Requirement

from tests.project.names import COMMANDS, ROOT

LARGE = {"torch", "transformers", "tokenizers", "safetensors", "nltk", "opencv-python-headless", "crowd-kit"}
HEAVY = ("boto3", "httpx", "numba", "scipy.stats", "sklearn")
START = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"torch", "transformers", "tokenizers", "safetensors", "nltk", "cv2", "crowdkit"}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Refuse())
sys.path.insert(0, "")
from django.core.management import execute_from_command_line
execute_from_command_line(["manage.py", "check"])
import config.urls
print(*filter(sys.modules.get, sys.argv[1:]))
"""
COMPUTING = {"add", "aggregate", "analyse", "diff", "estimate", "evaluate", "export", "import_judgments", "plan"}
COMPUTING |= {"release", "review", "verify"}
"""The commands whose options need what computes."""
HELP = """
import sys
sys.path.insert(0, "")
import django
django.setup()
from django.core.management import load_command_class
for command in sys.argv[1:]:
    app, name = command.split(".")
    load_command_class(app, name).create_parser("manage.py", name)
print(*filter(sys.modules.get, ["faiss", "numba", "pandas", "scipy.optimize", "scipy.stats", "sklearn", "torch"]))
"""


def needed() -> set[str]:
    """The names of all packages that requirements-site.txt installs."""
    lines = (ROOT / "requirements-site.txt").read_text().splitlines()
    waiting = [Requirement(line) for line in lines if line and not line.startswith(("#", "-"))]
    for line in lines:
        if line.startswith("-e "):
            project = tomllib.loads((ROOT / line[3:] / "pyproject.toml").read_text())["project"]
            waiting += map(Requirement, project.get("dependencies", []))
    names: set[str] = set()
    while waiting:
        one = waiting.pop()
        name = re.sub(r"[-_.]+", "-", one.name).lower()
        if name in names or name.startswith("counterpart-") or (one.marker and not one.marker.evaluate({"extra": ""})):
            continue
        names.add(name)
        try:
            waiting += map(Requirement, requires(name) or [])
        except PackageNotFoundError:
            continue
    return names


def test_nothing_large_is_installed():
    found = needed()
    assert "django" in found
    assert found & LARGE == set()


def test_it_starts_where_the_large_packages_are_missing_and_imports_no_heavy_one(tmp_path):
    environment = {"PATH": "/usr/bin:/bin", "VAR_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "config.settings"}
    environment["PYTHONPATH"] = ":".join(map(str, ROOT.glob("packages/*/")))
    command = [sys.executable, "-c", START, *HEAVY]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == ""


def test_options_of_a_command_import_nothing_that_computes(tmp_path):
    """So that ``list``, ``publish`` and ``--help`` answer at once."""
    environment = {"PATH": "/usr/bin:/bin", "VAR_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "config.settings"}
    environment["PYTHONPATH"] = ":".join(map(str, ROOT.glob("packages/*/")))
    light = [f"{get_commands()[name]}.{name}" for name in COMMANDS if name not in {*COMPUTING, "demo"}]
    command = [sys.executable, "-c", HELP, *light]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr
