"""Samples, annotators, searches and pools for programs."""

import json
from io import BytesIO

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from pyarrow import parquet

from console.home.outcomes import JobLink, outcome_of
from core.files.stored_files import remove_file
from core.models import Event, Job
from corpus.models import Sample
from counterpart_metrics.ids import number_or_text
from mitl.annotators import kind_of, kinds
from mitl.models import Annotator, Direction, Pool, Retrieval
from mitl.search.gallery import load_lists, rankings_of, store_lists
from tests.commands import output_of
from tests.console.api.calls import Caller, caller_for
from tests.console.api.test_calls import problem
from tests.factories import make_annotator, make_collection, make_pool, make_retrieval, make_sample


def figures(*arguments: str) -> dict:
    return json.loads(output_of(*arguments, "--json"))


@pytest.fixture
def zoo(db):
    return make_collection("zoo", images=6)


@pytest.fixture
def caller(researcher) -> Caller:
    return caller_for(User.objects.get(username="researcher"))


@pytest.fixture
def reader(person) -> Caller:
    return caller_for(person, "retrieval:read")


@pytest.fixture
def searched(zoo) -> Retrieval:
    return make_retrieval(make_annotator(), make_sample(zoo), depth=3)


def test_a_sample_is_drawn_as_by_the_command(caller, zoo):
    response = caller.post("/samples", {"name": "few", "collection": "zoo", "images": 2, "captions": 3, "seed": 7})
    assert response.status_code == 201
    told = response.json()
    assert (told["name"], told["images"], told["captions"], told["seed"]) == ("few", 2, 3, 7)
    assert caller.get("/samples").json() == {"results": [told], "next": None}
    assert Event.objects.get(verb="sampled").actor == "researcher"
    call_command("sample_queries", "again", "--collection=zoo", "--images=2", "--captions=3", "--seed=7")
    drawn, again = Sample.objects.get(name="few"), Sample.objects.get(name="again")
    assert list(drawn.captions.all()) == list(again.captions.all())


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"collection": "farm"}, "Unknown collection"),
        ({"images": 99}, "the gallery of zoo has 6"),
        ({"images": 10**40}, "use a number"),
        ({"images": "9"}, "Invalid images '9': send a whole number"),
        ({"images": {}}, "Invalid images {}: send a whole number"),
        ({"captions": True}, "Invalid captions True: send a whole number"),
        ({"images": "/etc/passwd"}, "send a whole number"),
        ({"name": "a b"}, "Use only letters"),
        ({"sead": 1}, "unknown parameter"),
    ],
)
def test_a_sample_that_cannot_be_drawn_is_refused(caller, zoo, change, sentence):
    body = {"name": "few", "collection": "zoo", "images": 2, "captions": 3}
    response = caller.post("/samples", body | change)
    assert response.status_code == 422
    assert sentence.lower() in problem(response).lower()
    assert not Sample.objects.exists()


def test_a_member_draws_adds_and_searches_nothing(person, zoo):
    caller = caller_for(person)
    for path in ("/samples", "/annotators", "/retrievals", "/pools", "/annotators/overlap/train"):
        assert caller.post(path).status_code == 403


def test_kinds_tell_their_settings(reader, db):
    told = {one["kind"]: one for one in reader.get("/annotator-kinds").json()["results"]}
    assert set(told) == set(kinds())
    options = {one["name"]: one for one in told["vse"]["options"]}
    assert options["vectors"]["by"] == "operator"
    assert options["vocabulary"]["by"] == "files"
    assert options["epochs"]["default"] == kind_of("vse").options["epochs"].initial


def test_an_annotator_is_told_without_what_is_the_operators(reader, db):
    options = {"vocabulary": "/srv/words.pkl", "vectors": "/srv/vectors", "trunk_from": "/srv/trunk.pt", "epochs": 3}
    Annotator.objects.create(name="a", kind="vse", options=options, checkpoint="annotators/a.npz", checksum="0" * 64)
    told = reader.get("/annotators/a").json()
    assert told["options"] == {"vocabulary": "words.pkl", "epochs": 3}
    assert (told["checksum"], told["learns"], told["searches"]) == ("0" * 64, False, 0)
    assert "/srv" not in reader.get("/annotators").text
    assert "annotators/a.npz" not in reader.get("/annotators").text


def test_an_annotator_of_a_kind_that_is_no_longer_installed_is_listed(reader, db):
    make_annotator("old", "gone", key="secret")
    told = reader.get("/annotators").json()["results"][0]
    assert (told["kind"], told["options"], told["learns"]) == ("gone", {}, False)


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


def test_an_annotator_without_weights_is_added_and_trained(caller, zoo, commit):
    with commit(execute=True):
        caller.post("/annotators", {"name": "e", "kind": "vse", "options": {"epochs": 1}})
    told = caller.get("/annotators/e").json()
    assert (told["options"]["epochs"], told["learns"]) == (1, True)
    response = caller.post("/annotators/e/train", {"collection": "zoo", "seed": 3})
    assert response.status_code == 202
    assert Job.objects.get(title="Train e on zoo").params["seed"] == 3


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"kind": "mind"}, "Unknown kind of annotator 'mind'"),
        ({"options": {"vectors": "/srv"}}, "Invalid option vectors: only the operator sets it."),
        ({"options": {"vocabulary": "/srv"}}, "Invalid option vocabulary: upload the file"),
        ({"options": {"speed": 3}}, "1 unknown option for kind vse: speed"),
        ({"options": {"epochs": "many"}}, "Invalid epochs"),
        ({"options": [1]}, "send an object"),
        ({"files": {"vocabulary": "x-w.pkl"}}, "name a checkpoint too"),
        ({"files": {"epochs": "x-w.pkl"}, "checkpoint": "x-w.pth"}, "read no such file"),
        ({"checkpoint": "x-w.exe"}, "ends in .npz or"),
        ({"checkpoint": "x-w.pth", "files": {"vocabulary": "x-w.sh"}}, "ends in .pkl or"),
        ({"checkpoint": "x-w.pth"}, "There is no upload"),
        ({"kind": "files"}, "Annotators of kind files need files"),
        ({"kind": "overlap", "checkpoint": "x-w.pth"}, "have no weights"),
        ({"collection": "farm"}, "Unknown collection"),
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
    told = figures("retrieve", "zoo", "--annotators=words", "--queries=queries", "--depth=4")["words"]
    assert (told["kept"], told["sha256"]) == (True, made.sha256)
    assert caller.get(f"/retrievals/{made.pk}").json()["sha256"] == made.sha256


def test_a_search_by_parts_is_plain(caller, zoo):
    make_annotator("e", "files")
    body = {"collection": "zoo", "annotators": ["e"], "shards": 2, "rerank": "csls"}
    assert "only for plain, exact searches" in problem(caller.post("/retrievals", body))
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"annotators": ["words", "nobody"]}, "1 annotator is unknown: nobody"),
        ({"collection": "farm"}, "Unknown collection"),
        ({"queries": "none"}, "Unknown sample"),
        ({"depth": 0}, "Lists need a depth of at least 1"),
        ({"cascade": "words"}, "A cascade is only for annotators that score pair by pair"),
        ({"engine_on": "ray"}, "unknown parameter"),
    ],
)
def test_a_search_that_cannot_be_made_is_refused_at_once(caller, zoo, change, sentence):
    make_annotator("words")
    response = caller.post("/retrievals", {"collection": "zoo", "annotators": ["words"]} | change)
    assert response.status_code == 422
    assert sentence in problem(response)
    assert not Job.objects.exists()


def test_searches_are_listed_the_latest_first(reader, searched):
    later = make_retrieval(make_annotator("other"), searched.sample)
    first = reader.get("/retrievals?limit=1").json()
    assert [one["annotator"] for one in first["results"]] == ["other"]
    rest = reader.get(f"/retrievals?after={first['next']}").json()
    assert [one["id"] for one in rest["results"]] == [searched.pk]
    assert [one["id"] for one in reader.get("/retrievals?annotator=other").json()["results"]] == [later.pk]


def downloaded(reader: Caller, retrieval: Retrieval) -> list[dict]:
    response = reader.get(f"/retrievals/{retrieval.pk}/lists")
    assert response["Content-Type"] == "application/vnd.apache.parquet"
    return parquet.read_table(BytesIO(response.getvalue())).to_pylist()


def test_the_lists_of_a_search_are_those_that_dump_writes(reader, searched, monkeypatch):
    monkeypatch.setattr("console.annotators.ranked_rows.LISTS", 2)
    monkeypatch.setattr("console.annotators.ranked_rows.IDS", 3)
    rows = downloaded(reader, searched)
    lists: dict = {}
    for row in rows:
        found = lists.setdefault(row["direction"], {}).setdefault(row["query"], [])
        found.append(number_or_text(row["item"]))
        assert row["rank"] == len(found)
    assert lists == rankings_of(searched)
    scores = load_lists(searched)[Direction.IMAGE_TO_CAPTION].scores
    assert [row["score"] for row in rows if row["direction"] == "i2t"] == scores.flatten().tolist()


def test_what_fills_up_a_shorter_list_is_no_row(reader, searched):
    lists = load_lists(searched)
    del lists[Direction.CAPTION_TO_IMAGE]
    lists[Direction.IMAGE_TO_CAPTION].items[0, 1:] = 0
    stored = store_lists("retrievals/shorter", lists)
    Retrieval.objects.update(file=stored.path, sha256=stored.sha256)
    searched.refresh_from_db()
    assert [row["rank"] for row in downloaded(reader, searched)] == [1, *([1, 2, 3] * 5)]


def test_lists_whose_file_is_lost_are_told(reader, searched):
    remove_file(searched.stored)
    response = reader.get(f"/retrievals/{searched.pk}/lists")
    assert response.status_code == 422
    assert "missing" in problem(response)


def test_a_pool_is_made_as_by_the_command(caller, searched, commit):
    body = {"name": "p", "collection": "zoo", "annotators": ["overlap"], "queries": "queries"}
    with commit(execute=True):
        response = caller.post("/pools", body | {"top_k": 2, "control_depth": 3})
    assert response.status_code == 202
    made = Pool.objects.get()
    assert outcome_of(Job.objects.get()) == JobLink("Pool p", "/pools/p/")
    assert Job.objects.get().message == f"Pool p has {made.n_pairs} pairs of {made.n_proposals} proposals."
    told = caller.get("/pools").json()["results"][0]
    assert (told["annotators"], told["pairs"], told["directions"]) == (["overlap"], made.n_pairs, ["i2t", "t2i"])
    assert told == caller.get("/pools/p").json()
    again = figures(
        *("pool", "again", "--collection=zoo", "--annotators=overlap", "--queries=queries"),
        *("--top-k=2", "--control-depth=3"),
    )
    assert (again["pairs"], again["proposals"]) == (made.n_pairs, made.n_proposals)


def test_a_pool_of_unknown_rows_is_refused_at_once(caller, searched):
    body = {"name": "p", "collection": "zoo", "annotators": ["overlap"], "queries": "queries"}
    for change in ({"annotators": ["nobody"]}, {"queries": "none"}, {"collection": "farm"}, {"gallery": "none"}):
        assert caller.post("/pools", body | change).status_code == 422
    assert not Job.objects.exists()


@pytest.mark.parametrize("path", ["/samples", "/annotators", "/retrievals", "/pools"])
def test_a_list_takes_no_query_a_row(reader, zoo, path, django_assert_max_num_queries):
    for number in range(4):
        sample = make_sample(zoo, f"s{number}")
        make_pool(sample, [make_retrieval(make_annotator(f"a{number}"), sample)], f"p{number}")
    with django_assert_max_num_queries(6):
        assert len(reader.get(path).json()["results"]) == 4


@pytest.mark.parametrize("path", ["/annotators/x", "/retrievals/1", "/retrievals/1/lists", "/pools/x"])
def test_what_is_unknown_is_told(reader, db, path):
    assert reader.get(path).status_code == 404
