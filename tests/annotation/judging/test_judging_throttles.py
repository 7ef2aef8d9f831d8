"""Throttles: how often one address may join a round and take HITs in an hour."""

import pytest
from django.core.cache import cache
from django.test import Client

from annotation.models import Assignment, Participant, Worker
from hits.models import Round
from tests.annotation.answering import address, consent, home_of
from tests.factories import make_round, make_worker

HERE, ELSEWHERE = {"REMOTE_ADDR": "203.0.113.7"}, {"REMOTE_ADDR": "203.0.113.8"}


@pytest.fixture
def made(db, settings) -> Round:
    settings.JOINS_PER_HOUR = settings.TAKES_PER_HOUR = 2
    cache.clear()
    return make_round(hits=4)


def test_a_third_person_from_one_address_is_asked_to_wait_and_makes_no_worker(made):
    answers = [consent(Client(**HERE), made) for _ in range(3)]
    assert [one.status_code for one in answers] == [302, 302, 429]
    assert Worker.objects.count() == Participant.objects.count() == 2
    assert consent(Client(**ELSEWHERE), made).status_code == 302


def test_another_round_has_a_limit_of_its_own(made):
    for _ in range(3):
        consent(Client(**HERE), made)
    assert consent(Client(**HERE), make_round(made.pool.collection, "other")).status_code == 302


def test_a_third_hit_from_one_address_is_not_leased_and_says_what_to_do(made):
    workers = [make_worker() for _ in range(3)]
    answers = [Client(**HERE).post(home_of(worker, made) + "take/") for worker in workers]
    assert [one.status_code for one in answers] == [200, 200, 429]
    assert home_of(workers[-1], made) in answers[-1].text
    assert Assignment.objects.count() == 2


def test_taking_and_returning_for_ever_comes_to_an_end(made):
    worker, client = make_worker(), Client(**HERE)
    statuses = []
    for _ in range(3):
        statuses.append(client.post(home_of(worker, made) + "take/").status_code)
        for held in Assignment.objects.filter(state="leased"):
            client.post(address("give_back", held))
    assert statuses == [200, 200, 429]


def test_who_holds_a_hit_gets_back_to_it_however_often(made):
    worker, client = make_worker(), Client(**HERE)
    statuses = [client.post(home_of(worker, made) + "take/").status_code for _ in range(4)]
    assert statuses == [200, 200, 302, 302]  # beyond the limit, by another request
    assert Assignment.objects.count() == 1
