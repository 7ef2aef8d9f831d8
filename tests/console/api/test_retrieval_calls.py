"""Samples, annotators, searches and pools for programs."""

import json
from io import BytesIO

import pytest
from django.core.management import call_command
from pyarrow import parquet

from console.home.outcomes import JobLink, outcome_of
from core.models import Event, Job
from corpus.models import Sample
from counterpart_metrics.ids import number_or_text
from mitl.annotators import kind_of, kinds
from mitl.models import Annotator, Direction, Pool, Retrieval
from mitl.search.gallery import load_lists, rankings_of
from tests.commands import output_of
from tests.console.api.calls import Caller, check_refused, problem
from tests.factories import make_annotator, make_collection, make_retrieval, make_sample


def figures(*arguments: str) -> dict:
    return json.loads(output_of(*arguments, "--json"))


@pytest.fixture
def zoo(db):
    return make_collection("zoo", images=6)


@pytest.fixture
def searched(zoo) -> Retrieval:
    return make_retrieval(make_annotator(), make_sample(zoo), depth=3)


def test_a_sample_is_drawn_as_by_the_command(caller, zoo):
    response = caller.post("/samples", {"name": "few", "collection": "zoo", "images": 2, "captions": 3, "seed": 7})
    assert response.status_code == 201
    answer = response.json()
    assert (answer["name"], answer["images"], answer["captions"], answer["seed"]) == ("few", 2, 3, 7)
    assert caller.get("/samples").json() == {"results": [answer], "next": None}
    assert Event.objects.get(verb="sampled").actor == "researcher"
    call_command("sample_queries", "again", "--collection=zoo", "--images=2", "--captions=3", "--seed=7")
    drawn, again = Sample.objects.get(name="few"), Sample.objects.get(name="again")
    assert list(drawn.captions.all()) == list(again.captions.all())


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"images": 99}, "the gallery of zoo has 6"),
        ({"sead": 1}, "unknown parameter"),
    ],
)
def test_a_sample_that_cannot_be_drawn_is_refused(caller, zoo, change, sentence):
    body = {"name": "few", "collection": "zoo", "images": 2, "captions": 3}
    response = caller.post("/samples", body | change)
    assert response.status_code == 422
    assert sentence.lower() in problem(response).lower()
    assert not Sample.objects.exists()


def test_kinds_have_their_settings(reader, db):
    answer = {one["kind"]: one for one in reader.get("/annotator-kinds").json()["results"]}
    assert set(answer) == set(kinds())
    options = {one["name"]: one for one in answer["vse"]["options"]}
    assert options["vectors"]["by"] == "operator"
    assert options["vocabulary"]["by"] == "files"
    assert options["epochs"]["default"] == kind_of("vse").options["epochs"].initial


def test_an_annotator_is_described_without_settings_of_the_operator(reader, db):
    options = {"vocabulary": "/srv/words.pkl", "vectors": "/srv/vectors", "trunk_from": "/srv/trunk.pt", "epochs": 3}
    Annotator.objects.create(name="a", kind="vse", options=options, checkpoint="annotators/a.npz", checksum="0" * 64)
    answer = reader.get("/annotators/a").json()
    assert answer["options"] == {"vocabulary": "words.pkl", "epochs": 3}
    assert (answer["checksum"], answer["learns"], answer["searches"]) == ("0" * 64, False, 0)
    assert "/srv" not in reader.get("/annotators").text
    assert "annotators/a.npz" not in reader.get("/annotators").text


def test_an_annotator_is_added_as_on_the_page(caller, zoo, commit):
    images, captions = ([one.key for one in side.all()] for side in (zoo.images, zoo.captions))
    lists = {"i2t": dict.fromkeys(images, captions), "t2i": dict.fromkeys(captions, images)}
    id = caller.send(json.dumps(lists).encode(), "lists.json").json()["id"]
    body = {"name": "theirs", "kind": "files", "checkpoint": id, "source": "a paper", "collection": "zoo"}
    with commit(execute=True):
        response = caller.post("/annotators", body)
    assert response.status_code == 202
    assert Job.objects.get().message == "Annotator theirs is added. It can search: plan a round with it."
    assert caller.get("/annotators/theirs").json()["source"] == "a paper"
    assert caller.post("/annotators", body).status_code == 409


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"options": {"vectors": "/srv"}}, "Invalid option vectors: only the operator sets it."),
        ({"options": {"vocabulary": "/srv"}}, "Invalid option vocabulary: upload the file"),
        ({"files": {"vocabulary": "x-w.pkl"}}, "name a checkpoint too"),
        ({"checkpoint": "x-w.pth"}, "x-w.pth"),
    ],
)
def test_an_annotator_that_cannot_be_added_is_refused_at_once(caller, db, change, sentence):
    response = caller.post("/annotators", {"name": "a", "kind": "vse"} | change)
    assert response.status_code == 422
    assert sentence.lower() in problem(response).lower()
    assert not Job.objects.exists()


def test_a_search_is_made_as_by_the_command(caller, zoo, commit):
    make_annotator("words")
    make_sample(zoo)
    body = {"collection": "zoo", "annotators": ["words"], "queries": "queries", "depth": 4}
    with commit(execute=True):
        response = caller.post("/retrievals", body)
    assert response.status_code == 202
    made = Retrieval.objects.get()
    assert Job.objects.get().message == "1 search: words over zoo, depth 4."
    assert outcome_of(Job.objects.get()) == JobLink("Collection zoo", "/collections/zoo/")
    assert Event.objects.get(verb="retrieved").actor == "researcher"
    answer = figures("retrieve", "zoo", "--annotators=words", "--queries=queries", "--depth=4")["words"]
    assert (answer["kept"], answer["sha256"]) == (True, made.sha256)
    assert caller.get(f"/retrievals/{made.pk}").json()["sha256"] == made.sha256


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"annotators": ["words", "nobody"]}, "1 annotator is unknown: nobody"),
        ({"engine_on": "ray"}, "unknown parameter"),
    ],
)
def test_a_search_that_cannot_be_made_is_refused_at_once(caller, zoo, change, sentence):
    make_annotator("words")
    check_refused(caller.post("/retrievals", {"collection": "zoo", "annotators": ["words"]} | change), 422, sentence)
    assert not Job.objects.exists()


def downloaded(reader: Caller, retrieval: Retrieval) -> list[dict]:
    response = reader.get(f"/retrievals/{retrieval.pk}/lists")
    assert response["Content-Type"] == "application/vnd.apache.parquet"
    return parquet.read_table(BytesIO(response.getvalue())).to_pylist()


def test_the_lists_of_a_search_are_those_that_dump_writes(reader, searched, monkeypatch):
    monkeypatch.setattr("console.annotators.search_examples.LISTS", 2)
    monkeypatch.setattr("console.annotators.search_examples.IDS", 3)
    rows = downloaded(reader, searched)
    lists: dict = {}
    for row in rows:
        found = lists.setdefault(row["direction"], {}).setdefault(row["query"], [])
        found.append(number_or_text(row["item"]))
        assert row["rank"] == len(found)
    assert lists == rankings_of(searched)
    scores = load_lists(searched)[Direction.IMAGE_TO_CAPTION].scores
    assert [row["score"] for row in rows if row["direction"] == "i2t"] == scores.flatten().tolist()


def test_a_pool_is_made_as_by_the_command(caller, searched, commit):
    body = {"name": "p", "collection": "zoo", "annotators": ["overlap"], "queries": "queries"}
    with commit(execute=True):
        response = caller.post("/pools", body | {"top_k": 2, "control_depth": 3})
    assert response.status_code == 202
    made = Pool.objects.get()
    assert outcome_of(Job.objects.get()) == JobLink("Pool p", "/pools/p/")
    assert Job.objects.get().message == f"Pool p has {made.n_pairs} pairs of {made.n_proposals} proposals."
    answer = caller.get("/pools").json()["results"][0]
    assert (answer["annotators"], answer["pairs"], answer["directions"]) == (["overlap"], made.n_pairs, ["i2t", "t2i"])
    assert answer == caller.get("/pools/p").json()
    again = figures(
        *("pool", "again", "--collection=zoo", "--annotators=overlap", "--queries=queries"),
        *("--top-k=2", "--control-depth=3"),
    )
    assert (again["pairs"], again["proposals"]) == (made.n_pairs, made.n_proposals)
