"""Collections for programs: what they have, and links to their pictures."""

import json
from io import BytesIO

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from PIL import Image as Pillow

from console.collections import picture_links
from console.uploads import stored_upload
from core.errors import CounterpartError
from core.models import Job
from corpus.models import Image, Match
from tests.console.api.calls import Caller, caller_for
from tests.console.api.test_calls import problem
from tests.console.collections.test_imports import zipped
from tests.factories import make_collection, picture


@pytest.fixture
def zoo(db):
    return make_collection("zoo", images=3, pictures=True)


@pytest.fixture
def caller(person) -> Caller:
    return caller_for(person, "data:read")


def test_a_collection_tells_what_it_has(caller, zoo):
    image = zoo.images.first()
    Match.objects.create(collection=zoo, image=image, caption=zoo.captions.last(), source="cxc", score=0, grade=4)
    told = caller.get("/collections/zoo").json()
    assert (told["images"], told["captions"], told["samples"]) == (3, zoo.captions.count(), 0)
    assert told["matches"] == [
        {"source": "cxc", "matches": 1, "rejected": 1},
        {"source": "original", "matches": zoo.captions.count(), "rejected": 0},
    ]
    assert caller.get("/collections").json() == {"results": [told], "next": None}


def test_many_collections_take_as_many_queries_as_one(caller, zoo, django_assert_max_num_queries):
    for number in range(5):
        make_collection(f"farm-{number}")
    with django_assert_max_num_queries(5):
        assert len(caller.get("/collections").json()["results"]) == 6


def test_an_unknown_collection_is_told(caller, db):
    for path in ("", "/images", "/captions", "/matches"):
        assert caller.get(f"/collections/nothing{path}").status_code == 404


@pytest.mark.parametrize("thing", ["images", "captions", "matches"])
def test_a_list_comes_in_parts(caller, zoo, thing):
    first = caller.get(f"/collections/zoo/{thing}?limit=2").json()
    rest = caller.get(f"/collections/zoo/{thing}?after={first['next']}").json()
    assert len(first["results"]) == 2
    assert len(first["results"] + rest["results"]) == getattr(zoo, thing).count()
    assert rest["next"] is None


def test_images_and_captions_are_told_with_what_reviewers_excluded(caller, zoo):
    image, caption = zoo.images.first(), zoo.captions.first()
    Image.objects.filter(pk=image.pk).update(excluded_at=timezone.now())
    told = caller.get("/collections/zoo/images").json()["results"][0]
    assert {name: told[name] for name in ("key", "file_name", "width", "split", "excluded")} == {
        "key": image.key,
        "file_name": image.file_name,
        "width": image.width,
        "split": image.split,
        "excluded": True,
    }
    first = caller.get("/collections/zoo/captions").json()["results"][0]
    assert first == {"key": caption.key, "image": caption.image.key, "text": caption.text, "excluded": False}


def test_matches_can_be_of_one_source(caller, zoo):
    image, caption = zoo.images.first(), zoo.captions.last()
    made = Match.objects.create(collection=zoo, image=image, caption=caption, source="cxc", score=4.5)
    assert caller.get("/collections/zoo/matches?source=cxc").json()["results"] == [
        {"id": made.pk, "source": "cxc", "image": image.key, "caption": caption.key, "score": 4.5, "grade": None}
    ]


@pytest.mark.parametrize(("thing", "queries"), [("images", 5), ("captions", 7), ("matches", 7)])
def test_a_long_list_takes_no_query_a_row(caller, zoo, thing, queries, django_assert_max_num_queries):
    with django_assert_max_num_queries(queries):
        assert caller.get(f"/collections/zoo/{thing}").status_code == 200


def test_a_token_without_the_scope_reads_nothing(person, zoo):
    response = caller_for(person, "jobs:read").get("/collections/zoo/images")
    assert response.status_code == 403
    assert "data:read" in problem(response)


def link(caller: Caller) -> str:
    return caller.get("/collections/zoo/images").json()["results"][0]["picture"]


def test_a_link_shows_the_picture_without_a_login(caller, zoo):
    response = Client().get(link(caller))
    assert response["Content-Type"] == "image/jpeg"
    assert Pillow.open(BytesIO(response.getvalue())).size == (64, 48)
    assert "private, max-age=3" in response["Cache-Control"]
    assert response["Referrer-Policy"] == "no-referrer"


def test_a_link_runs_out(caller, zoo, monkeypatch):
    address, now = link(caller), picture_links.time()
    monkeypatch.setattr(picture_links, "time", lambda: now + 3601)
    assert Client().get(address).status_code == 404


def test_a_changed_link_opens_nothing(caller, zoo):
    address = link(caller)
    assert Client().get(address[:-3] + "xx/").status_code == 404


def test_a_link_to_a_picture_that_was_lost_opens_nothing(caller, zoo):
    address = link(caller)
    Image.objects.update(file="images/zoo/gone.jpg", sha256="0" * 64)
    assert Client().get(address).status_code == 404


def test_an_image_without_a_picture_has_no_link(caller, db):
    make_collection("zoo")
    assert link(caller) is None


@pytest.fixture
def writer(researcher) -> Caller:
    return caller_for(User.objects.get(username="researcher"), "data:read", "data:write")


def sent(writer: Caller, content: bytes, name: str) -> str:
    return writer.send(content, name).json()["id"]


CAPTIONS = b'{"caption_id": "c1", "image_id": "owl", "file_name": "owl.jpg", "text": "an owl"}'


def test_captions_and_pictures_are_imported_as_on_the_page(writer, commit):
    body = {"format": "jsonl", "captions": sent(writer, CAPTIONS, "birds.jsonl")}
    body["images"] = sent(writer, zipped(owl=picture()), "pictures.zip")
    with commit(execute=True):
        response = writer.post("/collections/birds/imports", body)
    assert response.status_code == 202
    job = Job.objects.get()
    assert (job.state, job.message) == ("done", "birds: 1 caption and 1 image added; 1 picture stored.")
    assert job.title == "Import birds"
    told = writer.get("/collections/birds").json()
    assert (told["images"], told["captions"]) == (1, 1)
    with pytest.raises(CounterpartError, match="no upload"):
        stored_upload(body["captions"])


def test_the_name_of_a_caption_file_tells_its_split_as_on_the_page(writer, commit):
    coco = {
        "images": [{"id": 1, "file_name": "1.jpg"}],
        "annotations": [{"id": 2, "image_id": 1, "caption": "an owl"}],
    }
    body = {"format": "coco", "captions": sent(writer, json.dumps(coco).encode(), "captions_train2014.json")}
    with commit(execute=True):
        writer.post("/collections/birds/imports", body)
    assert Image.objects.get().split == "train"


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({}, "Choose a file of captions"),
        ({"captions": "x-a.json"}, "Choose the format of the captions: coco"),
        ({"captions": "x-a.exe", "format": "coco"}, "ends in .json or"),
        ({"captions": "x-a.json", "format": "coco", "append": True}, "Collection birds does not exist"),
        ({"captions": "x-a.json", "format": "coco"}, "There is no upload 'x-a.json'"),
        ({"captions": "x-a.json", "format": "coco", "path": "/etc/passwd"}, "1 unknown parameter: path."),
        ({"images": "x-a.rar"}, "ends in .zip"),
    ],
)
def test_an_import_that_cannot_work_is_refused_at_once(writer, body, sentence):
    response = writer.post("/collections/birds/imports", body)
    assert response.status_code == 422
    assert sentence in problem(response)
    assert not Job.objects.exists()


def test_matches_are_imported_as_on_the_page(writer, zoo, commit):
    file = sent(writer, b"image,caption,score\n0,2,4.5\n1,0,2\n", "matches.csv")
    with commit(execute=True):
        response = writer.post("/collections/zoo/matches", {"source": "cxc", "file": file})
    assert response.status_code == 202
    assert Job.objects.get().message == "cxc: 2 matches added."
    assert len(writer.get("/collections/zoo/matches?source=cxc").json()["results"]) == 2


def test_matches_of_an_unknown_collection_or_file_are_refused(writer, zoo):
    body = {"source": "cxc", "file": "x-a.csv"}
    assert writer.post("/collections/farm/matches", body).status_code == 404
    assert "no upload" in problem(writer.post("/collections/zoo/matches", body))
    assert "ends in .csv" in problem(writer.post("/collections/zoo/matches", body | {"file": "x-a.zip"}))
