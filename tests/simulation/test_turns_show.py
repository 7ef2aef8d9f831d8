"""The show of greedy rounds: planned on pages, answered by a simulated crowd, stopped by their rule, released, and
followed by two turns."""

from hashlib import sha256
from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from core.models import Job
from corpus.models import Match
from dataset.models import Version
from evaluation.asking import greedy_rounds
from evaluation.asking.greedy_rounds import why_stopped
from hits.models import Round
from mitl.models import Annotator, Pool
from mitl.registration import add_annotator
from tests.commands import figures_printed
from tests.conftest import client_of
from tests.console.rounds.orders import ORDER
from tests.factories import make_collection, make_sample, picture

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

QUERIES = 32
GREEDY = {"judge": "audit+greedy", "audit_share": "0.4", "stop_recall": "0.9", "reward": "2.00", "ceiling": "900"}


@pytest.fixture
def world(tmp_path, monkeypatch) -> None:
    """Images and captions near one of four topics; two annotators see the topics through noise."""
    monkeypatch.setattr(greedy_rounds, "BATCH", 2)
    zoo = make_collection(images=QUERIES, captions_each=1, pictures=True)
    zoo.images.update(sha256=sha256(picture()).hexdigest())
    make_sample(zoo)
    rng = np.random.default_rng(0)
    topics = np.arange(QUERIES) % 4
    keys = np.array([str(place) for place in range(QUERIES)])
    for name, noise in (("near", 0.8), ("far", 1.2)):
        sides = [np.eye(8, dtype=np.float32)[topics] + noise * rng.standard_normal((QUERIES, 8)) for _ in range(2)]
        images, captions = (side.astype(np.float32) for side in sides)
        np.savez(tmp_path / f"{name}.npz", image_ids=keys, images=images, caption_ids=keys, captions=captions)
        add_annotator(name, kind="files", checkpoint=tmp_path / f"{name}.npz")
    Match.objects.bulk_create(
        Match(collection=zoo, image=image, caption=caption, source="truth", grade=1)
        for place, image in enumerate(zoo.images.order_by("pk"))
        for number, caption in enumerate(zoo.captions.order_by("pk"))
        if topics[place] == topics[number]
    )


def done(client: Client, url: str, fields: dict) -> None:
    """Send a form; its job must end well."""
    answer = client.post(url, fields)
    assert answer.status_code == 302, answer.context["form"].errors
    job = Job.objects.latest("created_at")
    assert job.state == "done", job.message


def answer_and_close(researcher: Client, name: str, profile) -> Round:
    """Publish the round in the browser pool, let simulated people answer it until it stops, and close it."""
    fields = {"on": "browser", "minutes": 30, "expected_minutes": 8}
    assert researcher.post(f"/rounds/{name}/publish/", fields).status_code == 302
    call_command("simulate", name, workers=12, seed=1, profile=profile(), stdout=StringIO())
    made = Round.objects.get(name=name)
    assert why_stopped(made)
    assert why_stopped(made) in researcher.get(f"/rounds/{name}/").context["why_stopped"]
    researcher.post(f"/rounds/{name}/close/", {"confirmed": "yes"})
    made.refresh_from_db()
    assert made.state == "closed"
    return made


def release(admin: Client, version: str, *rounds: str) -> Version:
    fields = {"version": version, "queries": "queries", "rounds": rounds, "merge-1-source": "original"}
    policies = {
        "method": "majority",
        "positive_levels": ["1", "2"],
        "ties": "median",
        "precedence": "union",
        "confirmed": "yes",
    }
    done(admin, "/release/", fields | policies)
    assert failure_of(version) == ""
    return Version.objects.get(name=version)


def failure_of(version: str) -> str:
    """What ``verify`` says where it fails."""
    told = StringIO()
    try:
        call_command("verify", version, stdout=told)
    except CommandError:
        return told.getvalue()
    return ""


def test_a_greedy_round_and_two_turns_of_it(world, profile):
    researcher, admin = client_of("researcher"), client_of("admin")
    chosen = {"round": "first", "collection": "zoo", "queries": "queries", "annotators": ["near", "far"]}
    done(researcher, "/plan/", ORDER | GREEDY | chosen | {"top_k": "8", "control_depth": "16"})
    first = answer_and_close(researcher, "first", profile)
    assert "of the matches are found" in why_stopped(first)
    before = release(admin, "v1", "first")
    guards = figures_printed("estimate", "first", "--metric", "mAP@R")["guards"]
    assert {row["model"] for row in guards} == {"near", "far"}

    done(researcher, "/rounds/first/turn/", {"name": "second", "audit_share": "0.4", "ceiling": "900"})
    second = answer_and_close(researcher, "second", profile)
    assert set(Annotator.objects.filter(retrievals__pools=second.pool).values_list("name", flat=True)) == {
        "near-v1",
        "far-v1",
    }
    after = release(admin, "v2", "first", "second")
    done(researcher, "/rounds/second/turn/", {"name": "third", "audit_share": "0.4", "ceiling": "900", "top_k": "6"})
    answer_and_close(researcher, "third", profile)
    last = release(admin, "v3", "first", "second", "third")

    assert [pool_of(last, name)["turn"] for name in ("second", "third")] == [2, 3]
    assert [pool_of(last, name)["beyond"] for name in ("second", "third")] == ["v1", "v2"]
    counts = [version.manifest["counts"]["positives"] for version in (before, after, last)]
    assert counts == sorted(set(counts))  # each turn finds more
    told = figures_printed("diff", "v1", "v3")
    assert told["causes"]["round added"] == told["changed_pairs"]
    assert [told["designs"]["v3"][name].get("turn") for name in ("first", "second", "third")] == [None, 2, 3]
    assert first.pool != second.pool
    Pool.objects.filter(pk=second.pool.pk).update(beyond="truth")
    assert "goes beyond" in failure_of("v3")


def pool_of(version: Version, round: str) -> dict:
    (pool,) = [one["pool"] for one in version.manifest["rounds"] if one["name"] == round]
    found: dict = pool
    return found
