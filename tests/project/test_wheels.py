"""The packages that others install have the licence. tests/client/test_live_site.py finds it in the wheel of one."""

import tomllib

import pytest

from tests.project.names import ROOT


@pytest.mark.parametrize("package", sorted((ROOT / "packages").iterdir()), ids=lambda package: package.name)
def test_a_package_gives_its_licence_to_its_wheel_as_the_clients_does(package):
    built = tomllib.loads((package / "pyproject.toml").read_text())
    assert built["build-system"]["build-backend"] == "flit_core.buildapi"
    assert "license-files" not in built["project"]
    assert (package / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
