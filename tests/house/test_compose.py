"""The container files agree with the house: no engine runs here, so they are parsed."""

from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def compose() -> dict:
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text())


def test_site_worker_and_clock_share_one_environment(compose):
    environments = [compose["services"][name]["environment"] for name in ("site", "worker", "clock", "migrate")]
    assert all(environment == environments[0] for environment in environments)


def test_no_secret_has_a_default(compose):
    environment = compose["services"]["site"]["environment"]
    assert environment["SECRET_KEY"].startswith("${SECRET_KEY:?")
    assert "${POSTGRES_PASSWORD:?" in environment["DATABASE_URL"]


def test_the_site_is_not_published_beyond_this_machine(compose):
    assert compose["services"]["site"]["ports"] == ["127.0.0.1:8000:8000"]


def test_every_named_volume_exists(compose):
    used = {volume.split(":")[0] for service in compose["services"].values() for volume in service.get("volumes", [])}
    assert used == set(compose["volumes"])


def test_cpu_and_gpu_requirements_differ_in_faiss_alone():
    def pins(name: str) -> set[str]:
        return {line for line in (ROOT / name).read_text().splitlines() if "==" in line}

    assert {pin.split("==")[0] for pin in pins("requirements.txt") ^ pins("requirements-gpu.txt")} == {
        "faiss-cpu",
        "faiss-gpu-cu12",
    }
