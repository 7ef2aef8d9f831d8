"""What the doctor finds wrong, and the line to change."""

from datetime import timedelta
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import faiss
import httpx
import pytest
from axes.models import AccessLog
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import OperationalError
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from core.health import checks, configuration, heartbeat, services
from core.models import Heartbeat, Job
from hits.models import Round
from mitl.search import engine_checks, flat_index
from mitl.search.engines import on_ray
from tests.commands import figures_printed
from tests.factories import make_round

pytestmark = pytest.mark.django_db
packages_of_faiss = cache(flat_index.installed_packages)  # it reads what every installed package says of itself


def serve(monkeypatch, *queues: str) -> None:
    """Let one worker answer that it serves these queues."""
    answer = {"w1@host": [{"name": queue} for queue in queues]}
    inspect = SimpleNamespace(active_queues=lambda: answer)
    monkeypatch.setattr(heartbeat.current_app.control, "inspect", lambda timeout: inspect)


@pytest.fixture
def healthy(settings, tmp_path, monkeypatch):
    """An installation with nothing wrong, whose queue runs."""
    for folder in (tmp_path, tmp_path / "media"):
        folder.mkdir(exist_ok=True)
        folder.chmod(0o700)
    monkeypatch.setattr(services, "LEAST_FREE", 0)
    monkeypatch.setattr(flat_index, "installed_packages", packages_of_faiss)
    monkeypatch.setattr(heartbeat.current_app.control, "ping", lambda timeout: [])
    serve(monkeypatch, *settings.QUEUES)
    settings.PROXY_COUNT = 1
    heartbeat.beat()


def wrong() -> dict[str, str]:
    return {finding.check: finding.change for finding in checks.examine() if finding.change}


def test_a_healthy_installation_has_nothing_to_change(healthy):
    printed = figures_printed("doctor")
    assert printed["wrong"] == 0
    assert {row["check"] for row in printed["findings"]} == {
        *("settings", "https", "proxy", "addresses", "database", "migrations", "storage", "disk", "clock", "queue"),
        *("computers", "ray", "consent", "gpu", "faiss"),
    }


def test_each_finding_is_one_line_and_the_command_fails(healthy, settings, capsys):
    settings.ALLOWED_HOSTS = ["elsewhere.example"]
    with pytest.raises(CommandError, match="^1 of 17"):
        call_command("doctor")
    lines = [line for line in capsys.readouterr().out.splitlines() if "WRONG" in line]
    assert len(lines) == 1
    assert lines[0].endswith("Change: Set ALLOWED_HOSTS=127.0.0.1.")


def test_an_open_paid_round_whose_consent_sheet_has_no_terms(healthy, settings):
    assert wrong() == {}
    made = make_round()
    settings.CONTACT = settings.RESEARCHERS = "The lab, lab@example.org"
    assert wrong() == {"consent": 'PAYMENT_TERMS="…"'}
    Round.objects.filter(pk=made.pk).update(closed_at=timezone.now())
    assert wrong() == {}


def test_an_admin_has_the_checks_on_a_page(healthy, releaser, researcher, settings):
    assert releaser.get("/doctor/").context["findings"] is None
    settings.ALLOWED_HOSTS = ["elsewhere.example", "testserver"]
    page = releaser.post("/doctor/")
    assert {one.check for one in page.context["findings"]} >= {"settings", "queue", "consent"}
    assert "ALLOWED_HOSTS=127.0.0.1" in page.text
    assert researcher.post("/doctor/").status_code == 403


@pytest.fixture
def public(settings, monkeypatch):
    """A public site behind TLS, with a broker and a database that other computers reach."""
    monkeypatch.setattr(configuration, "_of_this_computer", dict)
    settings.SITE_URL = "https://judge.example"
    settings.ALLOWED_HOSTS = ["judge.example"]
    settings.BEHIND_TLS = True


@pytest.mark.parametrize(
    ("changes", "change"),
    [
        ({"SITE_URL": "http://judge.example", "BEHIND_TLS": False}, {"https": "SITE_URL=https://judge.example"}),
        ({"BEHIND_TLS": False}, {"https": "BEHIND_TLS=true"}),
        ({"BEHIND_TLS": False, "CSRF_TRUSTED_ORIGINS": ["https://judge.example"]}, {}),
    ],
)
def test_a_public_site_needs_https(healthy, public, settings, monkeypatch, changes, change):
    for name, value in changes.items():
        setattr(settings, name, value)
    monkeypatch.setattr(httpx, "get", lambda url, timeout: httpx.Response(200))
    assert wrong() == change


@pytest.mark.parametrize(
    ("status", "change"),
    [
        (301, "nginx: proxy_set_header X-Forwarded-Proto $scheme;"),
        (400, "nginx: proxy_set_header Host $host;"),
        (502, "Correct the proxy's address of the site."),
    ],
)
def test_a_proxy_that_leaves_out_a_header(healthy, public, monkeypatch, status, change):
    answer = httpx.Response(status, headers={"location": "https://judge.example/login/"} if status == 301 else {})
    monkeypatch.setattr(httpx, "get", lambda url, timeout: answer)
    assert wrong() == {"proxy": change}


def test_a_site_that_does_not_answer(healthy, public, monkeypatch):
    def fail(url, timeout):
        raise httpx.ConnectError("refused")

    monkeypatch.setattr(httpx, "get", fail)
    assert wrong()["proxy"].startswith("Start the site")


def test_visitors_whose_address_a_proxy_does_not_send(healthy, settings, client):
    User.objects.create_user("robin", password="a long passphrase")
    form = {"username": "robin", "password": "a long passphrase"}
    client.post("/login/", form, headers={"x-forwarded-for": "198.51.100.4"})
    assert wrong() == {}
    client.post("/logout/")
    client.post("/login/", form, headers={"x-forwarded-for": "not-an-ip"})
    assert wrong()["addresses"].startswith("PROXY_COUNT=")
    AccessLog.objects.update(attempt_time=timezone.now() - timedelta(days=31))
    assert wrong() == {}


def test_a_database_that_does_not_answer_is_reported_once(healthy, monkeypatch):
    def fail(*args):
        raise OperationalError("refused")

    monkeypatch.setattr(services, "database_trouble", lambda: "refused")
    monkeypatch.setattr(services, "MigrationExecutor", fail)
    assert list(wrong()) == ["database"]


@pytest.mark.parametrize(
    ("owner", "name", "value", "check", "change"),
    [
        (MigrationExecutor, "migration_plan", lambda self, targets: [1, 2], "migrations", "python manage.py migrate"),
        (services, "LEAST_FREE", 2**60, "disk", "TMPDIR=<a folder on a larger disk>"),
        (services, "clock_trouble", lambda: "7200 s behind", "clock", "timedatectl set-ntp true"),
    ],
)
def test_each_service_has_a_line_to_change(healthy, monkeypatch, owner, name, value, check, change):
    monkeypatch.setattr(owner, name, value)
    assert wrong() == {check: change}


def test_folders_that_others_may_enter(healthy, tmp_path):
    (tmp_path / "media").chmod(0o755)
    assert wrong() == {"storage": f"chmod 700 {tmp_path / 'media'}"}


def test_a_queue_without_a_worker_differs_from_one_without_a_clock(healthy, monkeypatch):
    monkeypatch.setattr(heartbeat, "queue_has_stopped", lambda: True)
    assert wrong() == {"queue": "celery -A config worker --beat"}
    monkeypatch.setattr(heartbeat.current_app.control, "ping", lambda timeout: [{"worker@host": {"ok": "pong"}}])
    assert wrong() == {"queue": "celery -A config beat"}


def test_a_worker_that_is_busy_with_a_job_is_not_missed(healthy):
    Heartbeat.objects.update(at=timezone.now() - timedelta(hours=1))
    assert "queue" in wrong()
    Job.objects.create(title="a search", task="console.tasks.sync", state=Job.State.RUNNING)
    assert wrong() == {}
    found = [one.found for one in checks.examine() if one.check == "queue"]
    assert found[0].startswith("a worker is busy with a search; last at")


def test_a_queue_in_which_jobs_wait_and_that_no_worker_serves(healthy, monkeypatch):
    serve(monkeypatch, "default", "crowd")
    Job.objects.create(title="payments", task="console.tasks.sync")
    search = Job.objects.create(title="a search", task="mitl.tasks.search_shard")
    assert wrong() == {"queue": "celery -A config worker -Q retrieval"}
    Job.objects.filter(pk=search.pk).update(state=Job.State.RUNNING)  # and its worker too busy to answer
    assert wrong() == {}


def test_a_public_site_whose_tasks_and_rows_are_files_of_one_computer(healthy, settings, monkeypatch):
    changes = {"tasks are files in VAR_DIR": "REDIS_URL=…", "the database is a file": "DATABASE_URL=…"}
    monkeypatch.setattr(configuration, "_of_this_computer", lambda: changes)
    assert wrong() == {}
    settings.SITE_URL = "https://judge.example"
    assert [change for _, change in configuration.find_computers()] == [*changes.values()]


def test_a_worker_of_another_computer_that_reads_other_files(healthy, settings, monkeypatch):
    monkeypatch.setattr(configuration, "_of_this_computer", lambda: {"tasks are files in VAR_DIR": "REDIS_URL=…"})
    Heartbeat.objects.update(by="elsewhere")
    assert wrong() == {"computers": "REDIS_URL=…"}
    monkeypatch.setattr(configuration, "_of_this_computer", dict)
    assert wrong() == {}


@pytest.mark.parametrize(
    ("redis", "vendor", "moving"), [("", "sqlite", ["REDIS_URL", "DATABASE_URL"]), ("redis://host", "postgresql", [])]
)
def test_files_of_this_computer_have_a_setting_that_moves_them(settings, monkeypatch, redis, vendor, moving):
    monkeypatch.setattr(configuration, "connection", SimpleNamespace(vendor=vendor))
    settings.REDIS_URL = redis
    assert [change.split("=")[0] for change in configuration._of_this_computer().values()] == moving


def test_a_ray_cluster_without_a_token_is_wrong(healthy, monkeypatch):
    monkeypatch.setattr(on_ray, "version", lambda package: "2.60.0")
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.5:6379")
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    assert wrong()["ray"].startswith("RAY_AUTH_MODE=token")
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    assert wrong() == {}


def test_a_host_without_the_large_packages_is_well_and_says_what_it_cannot_do(healthy, monkeypatch):
    monkeypatch.setattr(engine_checks, "LARGE", ("absent",))
    found = {finding.check: finding.found for finding in checks.examine()}["networks"]
    assert found == "without absent: this host serves pages, but cannot train, search or count by glad"
    assert wrong() == {}


def test_a_gpu_that_torch_cannot_use(healthy, monkeypatch):
    there = Path.exists
    monkeypatch.setattr(Path, "exists", lambda path: str(path) == "/dev/nvidia0" or there(path))
    assert wrong()["gpu"] == engine_checks.GPU_TORCH


def test_the_loaded_faiss_is_named_and_two_that_overwrite_each_other_are_wrong(healthy, monkeypatch):
    monkeypatch.setattr(faiss, "get_num_gpus", lambda: 2)
    found = {finding.check: finding.found for finding in checks.examine()}["faiss"]
    assert found == f"faiss-cpu {version('faiss-cpu')}, which finds 2 GPUs"
    monkeypatch.setattr(flat_index, "installed_packages", lambda: {"faiss-cpu": "1.15.1", "faiss-gpu": "1.15.1"})
    assert wrong() == {"faiss": "pip uninstall -y faiss-cpu faiss-gpu && pip install -r requirements-gpu.txt"}


def test_a_check_that_fails_itself_is_a_finding(healthy, monkeypatch):
    monkeypatch.setattr(services, "default_storage", SimpleNamespace())
    assert wrong()["storage"].startswith("Correct that")
