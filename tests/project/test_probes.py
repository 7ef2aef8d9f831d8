"""What load balancers and Prometheus ask for."""

import pytest

from config import probes
from core import health


@pytest.fixture(autouse=True)
def _asked_anew(monkeypatch):
    monkeypatch.setattr(probes, "LASTS", -1)


def test_healthz_answers_a_stranger_under_any_host(stranger, settings):
    settings.SECURE_SSL_REDIRECT = True
    answer = stranger.get("/healthz", headers={"host": "10.0.0.7:8000"})
    assert (answer.status_code, answer.json()) == (200, {"database": True, "broker": True, "storage": True})


@pytest.mark.parametrize("part", ["database", "broker", "storage"])
def test_healthz_fails_with_each_part_and_tells_nothing_of_it(stranger, monkeypatch, part):
    monkeypatch.setattr(health, f"{part}_trouble", lambda: "password authentication failed for user me")
    answer = stranger.get("/healthz")
    assert (answer.status_code, answer.json()[part]) == (503, False)
    assert "password" not in answer.text


def test_healthz_does_not_ask_the_database_for_every_visitor(stranger, monkeypatch, django_assert_num_queries):
    monkeypatch.setattr(probes, "LASTS", 60)
    stranger.get("/healthz")
    with django_assert_num_queries(0):
        stranger.get("/healthz")
