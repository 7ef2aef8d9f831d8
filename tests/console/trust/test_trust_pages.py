import json

import pytest
from django.urls import reverse

from core.files.stored_files import write_file
from hits.models import Round
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
    answer = client.get(reverse(name, args=arguments))
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


def test_a_round_shows_its_effect_as_judgments_arrive(charted, round):
    effect = "/charts/round/round-1/stopping/"
    assert "HIT 1 is not judged" in charted(effect).text
    for hit in round.hits.order_by("number")[:3]:
        judge(hit)
    judge(round.hits.get(number=5))
    shown = charted(effect).text
    assert "is open after 3 HITs" in shown
    assert "only once HIT 4 is." in shown
    assert "ranks; " in shown
    for hit in round.hits.exclude(number__in=(1, 2, 3, 5)):
        judge(hit)
    assert "is settled since HIT" in charted(effect).text
