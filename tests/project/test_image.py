"""What the image has is enough to run, and no more. It is laid out here from the files that git knows."""

import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path
from shutil import copy

import pytest

from tests.project.names import ROOT

CHECK_AND_IMPORT_ALL = """
import pkgutil, sys
from importlib import import_module
import django
from django.core.management import call_command
django.setup()
call_command("check", fail_level="WARNING")
for name in sys.argv[1:]:
    for module in pkgutil.walk_packages(import_module(name).__path__, f"{name}."):
        if "__main__" not in module.name:
            import_module(module.name)
"""


def context() -> list[str]:
    """The files that a build sees."""
    ignored = [line.removeprefix("**/") for line in (ROOT / ".dockerignore").read_text().splitlines()]
    known = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    return [name for name in known if not any(fnmatch(name.split("/")[0], line) for line in ignored)]


def product() -> list[str]:
    """The files of the image that serves: those of the build, less what the stage ``source`` removes."""
    (removed,) = re.findall(r"^RUN rm -r (.*)$", (ROOT / "Dockerfile").read_text(), re.M)
    return [name for name in context() if not any(fnmatch(name, f"{each}*") for each in removed.split())]


def test_the_image_has_neither_emulators_nor_documents_nor_tests():
    folders = {name.split("/")[0] for name in product() if "/" in name}
    assert not folders & {"docs", "tests", "benchmarks", "deploy", ".ci"}
    assert not [
        name for name in product() if fnmatch(name, "packages/client/*") or fnmatch(name, "packages/emulators/*")
    ]
    assert not [name for name in product() if fnmatch(name, "packages/*/tests/*")]
    assert not [name for name in product() if name.endswith("commands/emulate.py")]
    assert {"packages/emulators/counterpart_emulators/__init__.py", "crowd/management/commands/emulate.py"} <= {
        *context()
    }  # for rehearsals


@pytest.mark.slow
def test_everything_in_the_image_can_be_imported_and_checked(tmp_path):
    for name in product():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / name, tmp_path / name)
    packages = sorted({Path(name).parts[0] for name in product() if name.endswith("/__init__.py")} - {"packages"})
    (path,) = re.findall(r"PYTHONPATH=(/app\S+)", (ROOT / "Dockerfile").read_text())[:1]
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": path.replace("/app", str(tmp_path))}
    environment |= {"VAR_DIR": str(tmp_path / "var")}
    environment |= {"DJANGO_SETTINGS_MODULE": "config.settings", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", CHECK_AND_IMPORT_ALL, *packages]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
