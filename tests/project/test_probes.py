"""What load balancers and Prometheus ask for."""

import threading

import pytest

from config import probes
from core.health.checks import ADDITIONAL, REQUIRED

WELL = {"database": True, "clock": True, "broker": True, "storage": True}


@pytest.fixture(autouse=True)
def without_repeated_answers(monkeypatch):
    monkeypatch.setattr(probes, "LASTS", -1)


def test_healthz_answers_a_stranger_under_any_host(stranger, settings):
    settings.SECURE_SSL_REDIRECT = True
    answer = stranger.get("/healthz", headers={"host": "10.0.0.7:8000"})
    assert (answer.status_code, answer.json()) == (200, WELL)


@pytest.mark.parametrize(("part", "status"), [("database", 503), ("clock", 503), ("broker", 200), ("storage", 200)])
def test_each_part_fails_healthz_but_readyz_with_the_database_or_the_clock(stranger, monkeypatch, part, status):
    monkeypatch.setattr((REQUIRED | ADDITIONAL)[part], lambda: "password authentication failed for user me")
    answers = [stranger.get(address) for address in ("/healthz", "/readyz")]
    assert [answer.status_code for answer in answers] == [503, status]
    assert [answer.json() for answer in answers] == [WELL | {part: False}] * 2


def test_healthz_does_not_ask_the_database_for_every_visitor(stranger, monkeypatch, django_assert_num_queries):
    monkeypatch.setattr(probes, "LASTS", 60)
    stranger.get("/healthz")
    with django_assert_num_queries(0):
        stranger.get("/healthz")


def test_livez_answers_while_nothing_else_does_and_touches_nothing(stranger, monkeypatch, django_assert_num_queries):
    for part in WELL:
        monkeypatch.setattr((REQUIRED | ADDITIONAL)[part], lambda: pytest.fail("was asked"))
    with django_assert_num_queries(0):
        answer = stranger.get("/livez", headers={"host": "10.0.0.7:8000"})
    assert (answer.status_code, answer.json()) == (200, {"process": True})


def test_readyz_does_not_wait_for_a_storage_that_hangs(stranger, monkeypatch):
    hangs = threading.Event()
    monkeypatch.setattr(probes, "PATIENCE", 0.02)
    monkeypatch.setattr(ADDITIONAL["storage"], lambda: str(hangs.wait(60)))
    try:
        answers = [stranger.get("/readyz") for _ in range(4)]  # more than there are threads
    finally:
        hangs.set()
    assert [answer.status_code for answer in answers] == [200] * 4
    assert not any(answer.json()["storage"] for answer in answers)
