"""Collections for programs: what they have, and links to their pictures."""

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
from tests.console.api.calls import Caller, check_refused
from tests.console.collections.zip_files import zipped
from tests.factories import make_collection, picture


@pytest.fixture
def zoo(db):
    return make_collection("zoo", images=3, pictures=True)


def test_a_collection_has_counts(reader, zoo):
    image = zoo.images.first()
    Match.objects.create(collection=zoo, image=image, caption=zoo.captions.last(), source="cxc", score=0, grade=4)
    answer = reader.get("/collections/zoo").json()
    assert (answer["images"], answer["captions"], answer["samples"]) == (3, zoo.captions.count(), 0)
    assert answer["matches"] == [
        {"source": "cxc", "matches": 1, "rejected": 1},
        {"source": "original", "matches": zoo.captions.count(), "rejected": 0},
    ]
    assert reader.get("/collections").json() == {"results": [answer], "next": None}


@pytest.mark.parametrize("thing", ["images", "captions", "matches"])
def test_a_list_comes_in_parts(reader, zoo, thing):
    first = reader.get(f"/collections/zoo/{thing}?limit=2").json()
    rest = reader.get(f"/collections/zoo/{thing}?after={first['next']}").json()
    assert len(first["results"]) == 2
    assert len(first["results"] + rest["results"]) == getattr(zoo, thing).count()
    assert rest["next"] is None


def test_images_and_captions_show_what_reviewers_excluded(reader, zoo):
    image, caption = zoo.images.first(), zoo.captions.first()
    Image.objects.filter(pk=image.pk).update(excluded_at=timezone.now())
    answer = reader.get("/collections/zoo/images").json()["results"][0]
    assert {name: answer[name] for name in ("key", "file_name", "width", "split", "excluded")} == {
        "key": image.key,
        "file_name": image.file_name,
        "width": image.width,
        "split": image.split,
        "excluded": True,
    }
    first = reader.get("/collections/zoo/captions").json()["results"][0]
    assert first == {"key": caption.key, "image": caption.image.key, "text": caption.text, "excluded": False}


def test_matches_can_be_of_one_source(reader, zoo):
    image, caption = zoo.images.first(), zoo.captions.last()
    made = Match.objects.create(collection=zoo, image=image, caption=caption, source="cxc", score=4.5)
    assert reader.get("/collections/zoo/matches?source=cxc").json()["results"] == [
        {"id": made.pk, "source": "cxc", "image": image.key, "caption": caption.key, "score": 4.5, "grade": None}
    ]


@pytest.mark.parametrize(("thing", "queries"), [("images", 5), ("captions", 7), ("matches", 7)])
def test_a_long_list_takes_no_query_a_row(reader, zoo, thing, queries, django_assert_max_num_queries):
    with django_assert_max_num_queries(queries):
        assert reader.get(f"/collections/zoo/{thing}").status_code == 200


def link(reader: Caller) -> str:
    return reader.get("/collections/zoo/images").json()["results"][0]["picture"]


def test_a_link_shows_the_picture_without_a_login(reader, zoo):
    response = Client().get(link(reader))
    assert response["Content-Type"] == "image/jpeg"
    assert Pillow.open(BytesIO(response.getvalue())).size == (64, 48)
    assert "private, max-age=3" in response["Cache-Control"]
    assert response["Referrer-Policy"] == "no-referrer"


def test_a_link_that_was_changed_or_has_run_out_opens_nothing(reader, zoo, monkeypatch):
    address, now = link(reader), picture_links.time()
    assert Client().get(address[:-3] + "xx/").status_code == 404
    monkeypatch.setattr(picture_links, "time", lambda: now + 3601)
    assert Client().get(address).status_code == 404


def sent(caller: Caller, content: bytes, name: str) -> str:
    return caller.send(content, name).json()["id"]


CAPTIONS = b'{"caption_id": "c1", "image_id": "owl", "file_name": "owl.jpg", "text": "an owl"}'


def test_captions_and_pictures_are_imported_as_on_the_page(caller, commit):
    body = {"captions": sent(caller, CAPTIONS, "birds.jsonl")}
    body["images"] = sent(caller, zipped(owl=picture()), "pictures.zip")
    with commit(execute=True):
        looking = caller.post("/collections/birds/looks", body).json()["id"]
    answer = caller.get(f"/looks/{looking}").json()
    assert (answer["trouble"], answer["look"]["format"], answer["look"]["images"]) == ("", "jsonl", 1)
    assert answer["look"]["splits"] == [{"name": "", "images": 1, "captions": 1, "gallery": True}]
    Job.objects.update(created_by=User.objects.create(username="other"))
    assert caller.get(f"/looks/{looking}").status_code == 404
    Job.objects.all().delete()
    with commit(execute=True):
        response = caller.post("/collections/birds/imports", body)
    assert response.status_code == 202
    job = Job.objects.get()
    assert (job.state, job.message) == (
        "done",
        "birds: 1 caption and 1 image added; 1 picture stored; undo birds-1 takes it back.",
    )
    assert job.title == "Import birds"
    answer = caller.get("/collections/birds").json()
    assert (answer["images"], answer["captions"]) == (1, 1)
    with pytest.raises(CounterpartError, match="upload"):
        stored_upload(body["captions"])


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({}, "Choose a file of captions"),
        ({"captions": "x-a.exe"}, "Invalid upload"),
        ({"captions": "x-a.json", "format": "coco"}, "x-a.json"),
        ({"captions": "x-a.json", "format": "coco", "path": "/etc/passwd"}, "1 unknown parameter: path."),
    ],
)
def test_an_import_that_cannot_work_is_refused_at_once(caller, body, sentence):
    check_refused(caller.post("/collections/birds/imports", body), 422, sentence)
    assert not Job.objects.exists()


def test_matches_are_imported_as_on_the_page(caller, zoo, commit):
    file = sent(caller, b"image,caption,score\n0,2,4.5\n1,0,2\n", "matches.csv")
    with commit(execute=True):
        response = caller.post("/collections/zoo/matches", {"source": "cxc", "file": file})
    assert response.status_code == 202
    assert Job.objects.get().message == "cxc: 2 matches added; undo zoo-1 takes it back."
    assert len(caller.get("/collections/zoo/matches?source=cxc").json()["results"]) == 2
