"""The packages that others install have the licence."""

import subprocess
import sys
from zipfile import ZipFile

import pytest

from tests.project.names import ROOT


@pytest.mark.slow
@pytest.mark.parametrize("package", sorted(path.name for path in (ROOT / "packages").iterdir()))
def test_a_wheel_contains_the_licence(package, tmp_path):
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    source = ROOT / "packages" / package
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", tmp_path, source], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    (licence,) = [name for name in ZipFile(wheel).namelist() if name.endswith("licenses/LICENSE")]
    assert ZipFile(wheel).read(licence) == (ROOT / "LICENSE").read_bytes()
