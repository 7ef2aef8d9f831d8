"""Packages: the locked lists from which images are built fit the requirements, and wheels of ours have the licence."""

import re
import tomllib
from importlib.metadata import distributions

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.project.names import ROOT

SETS = {"requirements-locked.txt": "requirements.txt", "requirements-gpu-locked.txt": "requirements-gpu.txt"}
LOCKED = {"platform_machine": "x86_64", "python_version": "3.11", "sys_platform": "linux", "extra": ""}


def required(name: str) -> list[Requirement]:
    """The packages of a file and of those that it includes."""
    lines = [line for line in (ROOT / name).read_text().splitlines() if line and not line.startswith(("#", "-e"))]
    included = [one for line in lines if line.startswith("-r ") for one in required(line[3:])]
    return included + [Requirement(line) for line in lines if not line.startswith("-r ")]


def locked(name: str) -> dict[str, tuple[str, list[str]]]:
    """The version and the hashes of each package."""
    packages = re.split(r"^(?=\S)", (ROOT / name).read_text(), flags=re.M)
    named = [re.match(r"(\S+)==(\S+) ", one) for one in packages if one and not one.startswith("#")]
    return {one[1]: (one[2], re.findall(r"--hash=sha256:[0-9a-f]{64}", one.string)) for one in named}


def missing(requirements: list[Requirement], packages: dict[str, tuple[str, list[str]]]) -> list[str]:
    """Those that a list does not have, or in another version."""
    wanted = [one for one in requirements if one.marker is None or one.marker.evaluate(LOCKED)]
    found = {one: packages.get(canonicalize_name(one.name), ("0", []))[0] for one in wanted}
    return [str(one) for one in wanted if not one.specifier.contains(found[one], prereleases=True)]


@pytest.mark.parametrize(("name", "requirements"), SETS.items())
def test_every_requirement_is_locked_at_its_version(name, requirements):
    assert missing(required(requirements), locked(name)) == [], "run make lock"


@pytest.mark.parametrize("name", SETS)
def test_what_a_package_needs_is_locked_too(name):
    """Of those that are installed here in the same version: images are built without a look at what packages need."""
    packages = locked(name)
    here = {canonicalize_name(one.name): one for one in distributions()}
    same = [here[one] for one, (version, _) in packages.items() if one in here and here[one].version == version]
    assert len(same) > 40
    unmet = {one.name: missing([*map(Requirement, one.requires or [])], packages) for one in same}
    assert {package: needs for package, needs in unmet.items() if needs} == {}


def test_no_set_has_two_packages_that_give_the_same_module():
    assert [{"faiss-cpu", "faiss-gpu"} & locked(name).keys() for name in SETS] == [{"faiss-cpu"}, {"faiss-gpu"}]


def test_the_image_takes_every_package_by_its_hash_and_torch_alone_from_its_index():
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    assert any({"PIP_REQUIRE_HASHES=1", "PIP_NO_DEPS=1"} <= {*line.split()} for line in lines)
    installs = [line.split("pip install ")[1].split(" \\")[0] for line in lines if "pip install" in line]
    assert installs == ["--index-url $TORCH_INDEX -r torch.txt", "-r locked.txt"]


# The packages that others install have the licence. tests/client/test_live_site.py finds it in the wheel of one


@pytest.mark.parametrize("package", sorted((ROOT / "packages").iterdir()), ids=lambda package: package.name)
def test_a_package_gives_its_licence_to_its_wheel_as_the_clients_does(package):
    built = tomllib.loads((package / "pyproject.toml").read_text())
    assert built["build-system"]["build-backend"] == "flit_core.buildapi"
    assert "license-files" not in built["project"]
    assert (package / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
