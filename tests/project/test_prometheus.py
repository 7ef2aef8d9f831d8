"""Figures for Prometheus, and lines of logs for programs."""

import json
import logging
from datetime import timedelta

import pytest
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from config.logs import JsonFormatter
from core.models import Heartbeat, Job
from core.tasks import beat
from core.work.jobs import finish
from tests.factories import make_round
from tests.project.log_lines import Kept, logged


@pytest.fixture
def scraped(stranger, settings):
    """The figures as Prometheus reads them, by name and labels."""
    settings.METRICS_TOKEN = "a token"

    def scrape() -> dict[tuple[str, ...], float]:
        answer = stranger.get("/metrics", headers={"authorization": "Bearer a token", "host": "10.0.0.7"})
        assert answer.status_code == 200
        read = text_string_to_metric_families(answer.text)
        return {(one.name, *one.labels.values()): one.value for family in read for one in family.samples}

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
    beat()
    stranger.get("/login/")
    figures = scraped()
    assert (figures["counterpart_jobs", "queued"], figures["counterpart_jobs", "failed"]) == (1, 0)
    assert (figures["counterpart_leases", "running"], figures["counterpart_open_rounds",]) == (0, 1)
    assert figures["counterpart_requests_total", "GET", "200"] >= 1
    age = ("counterpart_queue_heartbeat_age_seconds",)
    assert figures[age] < 1
    Heartbeat.objects.all().delete()
    assert age not in scraped()


def test_each_queue_has_its_jobs_and_the_age_of_the_oldest_that_waits(scraped, db):
    opened = timezone.now() - timedelta(seconds=90)
    Job.objects.create(title="search", task="mitl.tasks.search_shard", created_at=opened)
    Job.objects.create(title="search", task="mitl.tasks.search_shard", state=Job.State.RUNNING)
    figures = scraped()
    assert [figures[f"counterpart_queue_{state}", "retrieval"] for state in ("waiting", "running")] == [1, 1]
    assert figures["counterpart_queue_waiting", "crowd"] == 0
    assert 90 <= figures["counterpart_queue_oldest_seconds", "retrieval"] < 120


def test_made_up_methods_are_one_figure(scraped, stranger):
    stranger.generic("BREW", "/login/")
    methods = {labels[0] for name, *labels in scraped() if name == "counterpart_requests_total"}
    assert "other" in methods
    assert "BREW" not in methods


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
