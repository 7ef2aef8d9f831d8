"""The parts that everything needs, and the heartbeat of the queue."""

from datetime import timedelta
from io import FileIO

import pytest
from django.db import connection
from django.utils import timezone

from core.health import heartbeat as queue
from core.health import services
from core.health.configuration import messages_at_start
from core.models import Heartbeat
from core.tasks import beat

pytestmark = pytest.mark.django_db


def test_a_database_that_does_not_answer_is_reported_in_one_line(monkeypatch):
    def fail():
        raise OSError("gone\naway")

    assert services.database_trouble() == ""
    monkeypatch.setattr(connection, "cursor", fail)
    assert services.database_trouble() == "gone away"


def test_a_folder_that_cannot_be_written_is_trouble(settings, tmp_path):
    assert services.storage_trouble() == ""
    (tmp_path / "file").touch()
    settings.MEDIA_ROOT = tmp_path / "file" / "media"
    assert "cannot be written" in services.storage_trouble()


def test_a_full_disk_is_trouble_but_stops_no_command(settings, monkeypatch):
    settings.MEDIA_ROOT.mkdir()
    assert services.storage_trouble() == ""
    assert list(settings.MEDIA_ROOT.iterdir()) == []
    monkeypatch.setattr(services, "TemporaryFile", lambda dir: FileIO("/dev/full", "wb"))
    assert "No space left on device" in services.storage_trouble()
    assert messages_at_start(None) == []


def test_a_broker_that_does_not_answer_is_trouble(settings, tmp_path):
    settings.REDIS_URL = ""
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = {"data_folder_out": tmp_path}
    assert queue.broker_trouble() == ""
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = {"data_folder_out": tmp_path / "none"}
    assert "cannot be written" in queue.broker_trouble()


def test_the_queue_has_stopped_when_the_clocks_task_was_not_run_for_three_beats(settings):
    settings.RECONCILE_SECONDS = 60
    assert queue.queue_has_stopped()
    beat()
    beat()
    assert not queue.queue_has_stopped()
    Heartbeat.objects.update(at=timezone.now() - timedelta(seconds=181))
    assert queue.queue_has_stopped()
