"""The container files agree with the project. They are parsed, as no engine runs here."""

import re
import runpy
from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml

from config.settings import QUEUES
from tests.project.deployed import documented_settings, options_of
from tests.project.names import ROOT

EMULATORS = {"emulator": 8900, "prolific": 8950}
WORKERS = tuple(f"worker-{queue}" for queue in QUEUES)
OURS = ("site", *WORKERS, "clock", "migrate")


@pytest.fixture(scope="module")
def compose() -> dict:
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text())


def test_all_our_services_share_one_environment_but_for_the_threads_of_searches(compose):
    threads = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")
    shared = [{**compose["services"][name]["environment"]} for name in OURS]
    searching = shared[OURS.index("worker-retrieval")]
    assert [searching.pop(name) for name in threads] == ["${RETRIEVAL_THREADS:-4}"] * 2
    assert all(environment.pop(name) == 1 for environment in shared if environment is not searching for name in threads)
    assert all(environment == shared[0] for environment in shared)


@pytest.mark.parametrize("service", OURS)
def test_every_documented_setting_reaches_the_container(compose, service):
    own = {"VAR_DIR", "DATABASE_URL", "REDIS_URL"}  # which compose itself has to know
    assert compose["services"][service]["env_file"] == ".env"
    environment = compose["services"][service]["environment"]
    fixed = {name for name, value in environment.items() if f"${{{name}:" not in str(value)}
    assert len(documented_settings()) > 40
    assert fixed & documented_settings() == own


def test_no_secret_has_a_default_or_is_on_a_command_line(compose):
    commands = " ".join(str(service.get("command", "")) for service in compose["services"].values())
    assert not re.search("SECRET_KEY|PASSWORD", commands)
    environment = compose["services"]["site"]["environment"]
    assert environment["SECRET_KEY"].startswith("${SECRET_KEY:?")
    assert "${POSTGRES_PASSWORD:?" in environment["DATABASE_URL"]
    assert "${REDIS_PASSWORD:?" in environment["REDIS_URL"]


def test_redis_asks_for_its_password_and_drops_nothing_that_waits(compose):
    redis = compose["services"]["redis"]
    first, *settings, last = redis["command"][-1].splitlines()
    assert (first, last) == ("exec redis-server - <<END", "END")
    assert redis["environment"]["REDISCLI_AUTH"].startswith("${REDIS_PASSWORD:?")  # which its health check needs, too
    assert {"requirepass $$REDISCLI_AUTH", "maxmemory-policy noeviction", "appendonly yes"} < set(settings)


@pytest.mark.parametrize("queue", QUEUES)
def test_every_queue_has_a_worker_of_its_own(compose, queue):
    options = options_of(compose["services"][f"worker-{queue}"]["command"].split())
    assert options["queues"] == [queue]
    assert (options["concurrency"] == 1) == (queue == "retrieval")  # a search has all its threads


def seconds(period: str) -> int:
    return int(period[:-1]) * {"s": 1, "m": 60}[period[-1]]


def test_the_clock_and_the_migration_run_existing_commands(compose):
    assert options_of(compose["services"]["clock"]["command"].split())
    assert options_of(compose["services"]["migrate"]["command"].split())["interactive"] is False


def test_nothing_is_killed_before_it_could_end(compose):
    graceful = runpy.run_path(str(ROOT / "config/gunicorn.py"))["graceful_timeout"]
    assert seconds(compose["services"]["site"]["stop_grace_period"]) > graceful
    assert {seconds(compose["services"][worker]["stop_grace_period"]) for worker in WORKERS} == {120}


def test_no_service_has_or_gains_privileges_and_ours_write_to_two_folders_alone(compose):
    for service in compose["services"].values():
        assert (service["cap_drop"], service["security_opt"]) == (["ALL"], ["no-new-privileges:true"])
    assert [compose["services"][name]["user"] for name in ("postgres", "redis")] == ["postgres", "redis"]
    for name in (*OURS, *EMULATORS):
        service = compose["services"][name]
        written = [volume.split(":")[-1] for volume in service["volumes"] if not volume.endswith(":ro")]
        assert (service["read_only"], written) == (True, ["/var/lib/counterpart", "/tmp"])


def test_emulators_run_from_the_image_that_has_them_and_the_rest_from_the_other(compose):
    targets = {name: one["build"]["target"] for name, one in compose["services"].items() if "build" in one}
    assert targets == dict.fromkeys(OURS, "counterpart") | dict.fromkeys(EMULATORS, "rehearsal")


def test_the_worker_of_searches_gets_a_gpu_and_its_packages_from_the_overlay():
    overlay = yaml.safe_load((ROOT / "docker-compose.gpu.yml").read_text())
    ((name, service),) = overlay["services"].items()
    (device,) = service["deploy"]["resources"]["reservations"]["devices"]
    assert (name, device["driver"], device["capabilities"]) == ("worker-retrieval", "nvidia", ["gpu"])
    assert service["build"]["args"].keys() <= set(re.findall(r"^ARG (\w+)=", (ROOT / "Dockerfile").read_text(), re.M))
    assert (ROOT / service["build"]["args"]["REQUIREMENTS"]).exists()


@pytest.mark.parametrize("name", [".gitignore", ".dockerignore"])
@pytest.mark.parametrize("file", [".env", ".env.production"])
def test_secrets_in_an_env_file_are_neither_committed_nor_copied_into_the_image(name, file):
    assert any(fnmatch(file, line) for line in (ROOT / name).read_text().splitlines())


def test_the_emulators_are_called_where_they_serve(compose):
    environment = compose["services"]["site"]["environment"]
    usual = {name: str(value).partition(":-")[2].removesuffix("}") for name, value in environment.items()}
    assert usual["MTURK_EMULATOR_URL"] == "http://emulator:8900"
    assert "http://127.0.0.1:8900" in usual["MTURK_EMULATOR_ORIGINS"].split(",")
    assert usual["PROLIFIC_EMULATOR_URL"] == "http://prolific:8950"
    assert usual["PROLIFIC_EMULATOR_ORIGIN"] == "http://127.0.0.1:8950"


@pytest.mark.parametrize(("service", "port"), EMULATORS.items())
def test_an_emulator_serves_this_machine_only_and_its_journal_outlives_its_container(compose, service, port):
    emulator = compose["services"][service]
    given = options_of(emulator["command"].split())
    assert (given["host"], given["port"], given["open_controls"]) == ("0.0.0.0", port, True)
    assert (emulator["ports"], len(emulator["profiles"])) == ([f"127.0.0.1:{port}:{port}"], 1)
    mounted = [volume.split(":")[-1] for volume in emulator["volumes"]]
    assert any(str(given["journal"]).startswith(f"{folder}/") for folder in mounted)


def test_the_image_has_the_servers_own_programs_for_backups(compose):
    client = {"bookworm": 15, "trixie": 17}  # of each Debian
    dockerfile = (ROOT / "Dockerfile").read_text()
    debian = re.search(r"^FROM python:\S+-slim-(\w+)", dockerfile, re.M)[1]
    assert "postgresql-client" in dockerfile.split()
    assert compose["services"]["postgres"]["image"].startswith(f"postgres:{client[debian]}.")


def test_every_image_is_pinned_to_a_patch_version(compose):
    images = [service["image"] for service in compose["services"].values() if "image" in service]
    stages = re.findall(r"^FROM (\S+)(?: AS (\w+))?", (ROOT / "Dockerfile").read_text(), re.M)
    images += [image for image, _ in stages if image not in dict(stages).values()]
    assert len(images) == 3
    assert [image for image in images if not re.search(r":\d+\.\d+(\.\d+)?(-|$)", image)] == []
    assert re.search(r"^FROM python:3\.11\.\d+-", (ROOT / "Dockerfile").read_text(), re.M)


def test_the_site_serves_this_machine_only(compose):
    assert compose["services"]["site"]["ports"] == ["127.0.0.1:8000:8000"]


def test_every_service_that_stays_up_has_a_health_check_and_a_limit_of_memory(compose):
    staying = {name: one for name, one in compose["services"].items() if name not in ("migrate", *EMULATORS)}
    assert [name for name, service in staying.items() if "healthcheck" not in service] == []
    assert all(service["deploy"]["resources"]["limits"]["memory"] for service in staying.values())
    program, option, code = compose["services"]["site"]["healthcheck"]["test"][1:]
    assert (program, option) == ("python", "-c")
    compile(code, "healthcheck", "exec")
    assert "/readyz" in code


def test_the_clocks_health_check_looks_for_the_file_that_beat_writes(compose, settings):
    name = Path(settings.CELERY_BEAT_SCHEDULE_FILENAME).name
    assert f"-name '{name}*'" in compose["services"]["clock"]["healthcheck"]["test"][1]


REQUIREMENTS = sorted(path.name for path in ROOT.glob("requirements*.txt") if "locked" not in path.name)


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_every_requirement_is_pinned_so_that_an_audit_names_what_runs(name):
    ours = ("#", "-r", "-e ./")
    lines = [line for line in (ROOT / name).read_text().splitlines() if line and not line.startswith(ours)]
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+(\[[\w,]+\])?==[\w.]+", line)] == []


def test_the_access_log_keeps_neither_queries_nor_referrers_as_they_name_workers():
    logged = runpy.run_path(str(ROOT / "config/gunicorn.py"))["access_log_format"]
    assert "%(U)s" in logged
    assert not any(atom in logged for atom in ("%(r)s", "%(q)s", "%(f)s", "}i"))
