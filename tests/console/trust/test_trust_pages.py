import json
from dataclasses import replace

import numpy as np
import pytest
from django.urls import reverse
from django.utils import timezone

from console.trust.round_parts import count_part
from core.errors import CounterpartError
from core.files.stored_files import write_file
from core.models import Job
from core.work.jobs import finish, running
from evaluation.live_effect import measure_effect
from hits.models import Round
from tests.console.conftest import counted
from tests.dataset.releasing import release_version
from tests.evaluation.worlds import judge, judge_all, known_round

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def few_samples(monkeypatch):
    monkeypatch.setattr("evaluation.analyses.completeness_analysis.SAMPLES", 10)


@pytest.fixture(scope="module")
def lasting_round(lasting) -> Round:
    return known_round()


@pytest.fixture
def round(lasting_round) -> Round:
    return Round.objects.get(pk=lasting_round.pk)


@pytest.fixture
def version(round):
    judge_all(round)
    return release_version("v1", collection=round.pool.collection, sample=round.pool.sample, rounds=[round])


def page(client, name: str, *arguments: str) -> str:
    answer = counted(client, reverse(name, args=arguments))
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_version_shows_how_far_to_trust_it_once_that_is_measured(member, researcher, version, commit):
    assert reverse("version_trust", args=["v1"]) in page(member, "version", "v1")
    assert "not measured yet" in page(member, "version_trust", "v1")
    trusting = {"spec": None, "no_bias": "", "biases": [], "completeness": [{"found": 3, "probes": 9}]}
    write_file(f"trust/v1-{version.manifest_sha256}.json", json.dumps(trusting).encode())  # of votes that do not count
    assert "not measured yet" in page(member, "version_trust", "v1")
    with commit(execute=True):
        job = researcher.post(reverse("version_measure", args=["v1"]))
    assert reverse("version_trust", args=["v1"]) in member.get(job.url, follow=True).text
    shown = page(member, "version_trust", "v1")
    assert "Resampling interval" in shown
    assert "At least" not in shown
    assert "non-self-bias" in shown
    assert "Only its own" in shown
    assert 'aria-label="image → captions, R@1; bias, ' in shown


def test_a_round_shows_its_effect_as_judgments_arrive(member, round):
    assert "HIT 1 is not judged" in page(member, "round_effect", "round-1")
    for hit in round.hits.order_by("number")[:3]:
        judge(hit)
    judge(round.hits.get(number=5))
    assert reverse("round_effect", args=["round-1"]) in page(member, "round", "round-1")
    shown = page(member, "round_effect", "round-1")
    assert "open</strong> after 3 of" in shown
    assert "only once HIT 4 is." in shown
    Round.objects.filter(pk=round.pk).update(closed_at=timezone.now())
    shown = page(member, "round_effect", "round-1")
    assert "before HIT 4 was judged" in shown


def test_a_settled_round_offers_to_close_it_to_those_who_may_and_shows_ties(member, researcher, round, monkeypatch):
    judge_all(round)
    close = reverse("round_close", args=["round-1"])
    for client, may in ((member, False), (researcher, True)):
        shown = page(client, "round_effect", "round-1")
        assert "The ranking is settled" in shown
        assert (close in shown) == may
    round.refresh_from_db()
    assert round.state == "open"
    effect = measure_effect(round)
    ahead = np.array([[0, 1, 1], [-1, 0, 0], [-1, 0, 0]])
    look = replace(effect.last.look, scores=np.array([0.6, 0.5, 0.5]), ahead=ahead, equal=ahead == 0)
    tied = replace(effect, looks=(replace(effect.last, look=look, is_settled=True),))
    monkeypatch.setattr("console.trust.round_parts.measure_effect", lambda *_, **__: tied)
    Round.objects.filter(pk=round.pk).update(closed_at=timezone.now())
    shown = page(member, "round_effect", "round-1")
    assert "with ties: b = c." in shown
    assert "a &gt; b = c" in shown


def test_a_page_starts_one_job_and_keeps_the_last_figures_while_new_ones_are_counted(member, round, settings):
    settings.CELERY_TASK_ALWAYS_EAGER = False
    address = reverse("round_effect", args=["round-1"])
    first = [member.get(address).text for _ in range(2)]
    job = Job.objects.get()
    assert all(f'data-then="{address}"' in shown for shown in first)
    with running(job.pk) as progress:
        count_part(round, "effect", progress=progress)
        finish(job.pk, "Counted.")
    assert "HIT 1 is not judged" in member.get(address).text
    assert Job.objects.get().state == "done"
    judge(round.hits.get(number=1))
    shown = member.get(address).text
    assert "HIT 1 is not judged" in shown
    assert "The data changed since" in shown
    assert Job.objects.get().state == "queued"


def test_a_failed_count_says_so_and_is_not_tried_again_on_the_same_data(member, round, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise CounterpartError("No disk.")

    monkeypatch.setattr("console.jobs.count_part", fail)
    for _ in range(2):
        assert "This was not counted: <a" in page(member, "round_effect", "round-1")
    assert "No disk." in page(member, "round_effect", "round-1")
    assert Job.objects.get().state == "failed"
