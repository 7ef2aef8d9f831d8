"""Figures for Prometheus, and lines of logs for programs."""

import json
import logging
from datetime import timedelta

import pytest
from django.utils import timezone

from config.logs import JsonFormatter
from core.models import Heartbeat, Job
from core.tasks import heartbeat
from core.work.jobs import finish
from tests.factories import make_round
from tests.project.log_lines import Kept, logged


@pytest.fixture
def scraped(stranger, settings):
    """The figures as lines, as Prometheus gets them."""
    settings.METRICS_TOKEN = "a token"

    def scrape() -> list[str]:
        answer = stranger.get("/metrics", headers={"authorization": "Bearer a token", "host": "10.0.0.7"})
        assert answer.status_code == 200
        return answer.text.splitlines()

    return scrape


def test_without_a_token_in_the_settings_the_page_does_not_exist(stranger):
    assert stranger.get("/metrics", headers={"authorization": "Bearer "}).status_code == 404


@pytest.mark.parametrize("sent", [{}, {"authorization": "Bearer wrong"}, {"authorization": "a token"}])
def test_strangers_and_staff_get_no_figures_without_the_token(stranger, researcher, settings, sent):
    settings.METRICS_TOKEN = "a token"
    assert [client.get("/metrics", headers=sent).status_code for client in (stranger, researcher)] == [401, 401]


def test_jobs_leases_requests_and_the_heartbeat_are_counted(scraped, stranger):
    make_round()
    Job.objects.create(title="long work", task="none")
    heartbeat()
    stranger.get("/login/")
    lines = scraped()
    assert 'counterpart_jobs{state="queued"} 1.0' in lines
    assert 'counterpart_jobs{state="failed"} 0.0' in lines
    assert 'counterpart_leases{state="running"} 0.0' in lines
    assert "counterpart_open_rounds 1.0" in lines
    assert any(line.startswith('counterpart_requests_total{method="GET",status="200"}') for line in lines)
    assert any(line.startswith("counterpart_queue_heartbeat_age_seconds 0.") for line in lines)
    Heartbeat.objects.all().delete()
    assert not any(line.startswith("counterpart_queue_heartbeat_age_seconds ") for line in scraped())


def test_each_queue_has_its_jobs_and_the_age_of_the_oldest_that_waits(scraped, db):
    opened = timezone.now() - timedelta(seconds=90)
    Job.objects.create(title="search", task="mitl.tasks.search_shard", created_at=opened)
    Job.objects.create(title="search", task="mitl.tasks.search_shard", state=Job.State.RUNNING)
    lines = scraped()
    assert 'counterpart_queue_waiting{queue="retrieval"} 1.0' in lines
    assert 'counterpart_queue_running{queue="retrieval"} 1.0' in lines
    assert 'counterpart_queue_waiting{queue="crowd"} 0.0' in lines
    age = next(line for line in lines if line.startswith('counterpart_queue_oldest_seconds{queue="retrieval"}'))
    assert 90 <= float(age.split()[1]) < 120


def test_made_up_methods_are_one_figure(scraped, stranger):
    stranger.generic("BREW", "/login/")
    lines = scraped()
    assert any('method="other"' in line for line in lines)
    assert not any("BREW" in line for line in lines)


@pytest.fixture
def lines():
    """What two loggers write."""
    with logged(Kept(JsonFormatter()), "requests", "core.work.jobs") as kept:
        yield kept


def test_a_request_is_one_line_without_the_workers_link_or_what_a_platform_adds(stranger, db, lines):
    stranger.get("/judge/me/WyI3YmVh:1xUtGL:cMmf/?workerId=A1B2C3")
    line = json.loads(*lines)
    assert (line["method"], line["path"], line["status"]) == ("GET", "/judge/me/***/", 404)
    assert line["milliseconds"] >= 0
    assert not {"A1B2C3", "WyI3YmVh"} & set(json.dumps(line).replace("/", '"').split('"'))


def test_a_job_that_ends_is_one_line_without_its_title(db, lines, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        job = Job.objects.create(title="Write to Ada", task="none")
        finish(job.pk, "Ada was written to.")
    (line,) = [row for row in map(json.loads, lines) if "job" in row]
    assert (line["job"], line["task"], line["state"], line["attempts"]) == (str(job.pk), "none", "done", 0)
    assert "Ada" not in json.dumps(line)


def test_an_error_in_json_keeps_its_traceback_in_one_masked_line():
    try:
        raise ValueError("at /judge/join/0aB-_x/")
    except ValueError as error:
        info = (ValueError, error, error.__traceback__)
    text = JsonFormatter().format(logging.LogRecord("x", 40, "f", 1, "failed", (), info))
    assert "\n" not in text
    assert "0aB-_x" not in text
    assert json.loads(text)["error"].endswith("ValueError: at /judge/join/***/")
