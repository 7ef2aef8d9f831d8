"""A round that other software judges, from photos to scores: by the client, by commands and by pages."""

import json
from pathlib import Path

import numpy as np
import pytest
from django.contrib.auth.models import Group
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client as Browser
from PIL import Image
from pydantic import RootModel

from core.models import Job
from counterpart_client import ApiError, Client
from counterpart_client.models import JobAnswer
from counterpart_metrics import ExportedVersion
from dataset.models import Version
from hits.models import Item, Round
from tests.commands import output_of
from tests.console.collections.test_imports import zipped
from tests.console.rounds.orders import ORDER
from tests.console.rounds.test_packing_page import SIZES as PACKING

BIRDS = 12
SIZES = {"images": BIRDS, "captions": BIRDS}
POOLING = {"collection": "birds", "annotators": ["words"], "queries": "all", "top_k": 2, "control_depth": 3}
DESIGN = "eccv-18"


@pytest.fixture
def photos(tmp_path) -> Path:
    """A folder of pictures with a caption each, in which all birds look and sound a little alike."""
    folder = tmp_path / "photos"
    folder.mkdir()
    colours = np.random.default_rng(0).integers(0, 256, (BIRDS, 3)).tolist()
    lines = []
    for number, colour in enumerate(colours):
        Image.new("RGB", (64, 48), tuple(colour)).save(folder / f"b{number}.jpg")
        text = f"a bird number {number} of the colour {number % 4} in a tree {number % 3}"
        keys = {"caption_id": f"c{number}", "image_id": f"b{number}", "file_name": f"b{number}.jpg"}
        lines.append(keys | {"text": text})
    (tmp_path / "captions.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return folder


@pytest.fixture
def captions(photos) -> Path:
    return photos.with_name("captions.jsonl")


def labelled(round: str) -> str:
    """What Label Studio exports once somebody has judged every pair that a round asks."""
    items = Item.objects.filter(hit__round__name=round).select_related("image", "caption")
    tasks = {
        (item.image.key, item.caption.key): {
            "id": item.pk,
            "data": {"image": f"/data/upload/1/{item.image.file_name}", "caption": item.caption.text},
            "annotations": [
                {
                    **{"id": item.pk, "completed_by": 7, "was_cancelled": False},
                    "created_at": "2026-03-09T21:52:49.513742Z",
                    "result": [
                        {
                            **{"id": "x", "type": "choices", "from_name": "match", "to_name": "image"},
                            "value": {"choices": ["Yes" if item.image.key[1:] == item.caption.key[1:] else "No"]},
                        }
                    ],
                }
            ],
        }
        for item in items
    }
    return json.dumps([*tasks.values()])


def judged_file(folder: Path, round: str) -> Path:
    file = folder / "project.json"
    file.write_text(labelled(round))
    return file


@pytest.mark.slow
def test_by_the_client(live_server, token, photos, captions, tmp_path):
    with Client(live_server.url, token) as client:
        pictures = tmp_path / "photos.zip"
        pictures.write_bytes(zipped(**{file.stem: file.read_bytes() for file in photos.iterdir()}))
        sent = {"captions": client.upload(captions).id, "images": client.upload(pictures).id}
        client.wait(client.import_collection("birds", format="jsonl", **sent))
        client.wait(client.add_annotator("words", "overlap"))
        client.post("/samples", RootModel[dict], name="all", collection="birds", **SIZES)
        search = {name: POOLING[name] for name in ("collection", "annotators", "queries")}
        client.wait(client.post("/retrievals", JobAnswer, **search))
        client.wait(client.post("/pools", JobAnswer, name="close-ones", **POOLING))
        client.wait(client.post("/pools/close-ones/rounds", JobAnswer, round="outside", design=DESIGN))
        with pytest.raises(ApiError, match="has no judgments"):
            client.close_round("outside")

        judgments = client.upload(judged_file(tmp_path, "outside")).id
        client.wait(client.import_judgments("outside", file=judgments, levels="Yes=1,No=4"))
        client.wait(client.count_votes("outside", method="majority"))
        client.wait(client.release_version("v1", "birds", "all", rounds=["outside"], partial=True))
        with pytest.warns(UserWarning, match=r"1 of 7 files were not sent\. judgments\.csv: .* closed, .* outside\."):
            early = client.download("v1", to=tmp_path / "early")
        assert {file.name for file in early} == {file.name for file in (tmp_path / "early").iterdir()}
        assert "judgments.csv" not in {file.name for file in early}

        client.wait(client.close_round("outside"))
        closed = client.round("outside")
        assert (closed.state, closed.published_at, closed.ledger.owed, closed.ledger.paid) == (
            "closed",
            None,
            "0.00",
            "0.00",
        )
        files = client.download("v1", to=tmp_path / "v1")
        assert {file.name for file in files} == {*Version.objects.get().manifest["files"], "manifest.json"}
        assert ExportedVersion.read(tmp_path / "v1").name == "v1"
        client.wait(client.export_version("v1", "judgments-long"))
        assert client.download_export("v1", "judgments-long", to=tmp_path).stat().st_size
        client.wait(client.post("/versions/v1/scores", JobAnswer))
        assert {row.model for row in client.leaderboard("v1").rows} == {"words"}


def test_by_commands(db, photos, captions, tmp_path):
    output_of("import_collection", "birds", captions, "--format", "jsonl", "--images", photos)
    output_of("add_annotator", "words", "--kind", "overlap")
    output_of("sample_queries", "all", "--collection", "birds", "--images", BIRDS, "--captions", BIRDS)
    output_of("retrieve", "birds", "--annotators", "words", "--queries", "all")
    pooling = ("--top-k", 2, "--control-depth", 3)
    output_of("pool", "close-ones", "--collection", "birds", "--annotators", "words", "--queries", "all", *pooling)
    output_of("pack", "outside", "--pool", "close-ones", "--design", DESIGN)
    file = judged_file(tmp_path, "outside")
    output_of("import_judgments", "outside", file, "--levels", "Yes=1,No=4")
    assert "a draft that was judged elsewhere: close or publish it. (close outside)" in output_of(
        "show", "round", "outside"
    )
    output_of("aggregate", "outside")
    assert "Round outside is closed" in output_of("close", "outside")
    output_of("release", "v1", "--collection", "birds", "--queries", "all", "--rounds", "outside", "--partial")
    output_of("verify", "v1")
    output_of("export", "v1", "--format", "judgments-long", "--out", tmp_path / "out")
    images, texts = [f"b{n}" for n in range(BIRDS)], [f"c{n}" for n in range(BIRDS)]
    rankings = {"i2t": dict.fromkeys(images, texts), "t2i": dict.fromkeys(texts, images)}
    (tmp_path / "mine.json").write_text(json.dumps(rankings))
    scores = json.loads(output_of("evaluate", "--version", "v1", "--rankings", tmp_path / "mine.json", "--json"))
    assert "mine" in scores


@pytest.fixture
def admin(client, person, django_capture_on_commit_callbacks):
    """Send a form as an admin, and have its job run; what the job says, if there is one."""
    person.groups.set(Group.objects.all())
    client.force_login(person)

    def send(path: str, **form: object) -> str:
        with django_capture_on_commit_callbacks(execute=True):
            answer = client.post(path, form)
        assert answer.status_code == 302, answer.content.decode()
        job = Job.objects.order_by("-created_at").first()
        assert job is None or job.state == "done", job.message
        return job.message if job else ""

    return send


def test_by_pages(admin, client: Browser, photos, captions, tmp_path):
    pictures = zipped(**{file.stem: file.read_bytes() for file in photos.iterdir()})
    admin(
        "/import/",
        **{"collection": "birds", "format": "jsonl"},
        captions=SimpleUploadedFile("captions.jsonl", captions.read_bytes()),
        images=SimpleUploadedFile("photos.zip", pictures),
    )
    admin("/add-annotator/?kind=overlap", name="words")
    searched = {"collection": "birds", "annotators": ["words"], "control_depth": 3, **SIZES}
    admin("/plan/", **ORDER | searched, go="pool")
    admin("/pools/zebra-pool/pack/", **PACKING | {"round": "outside"})
    refused = client.post("/rounds/outside/close/")
    assert (refused.status_code, "has no judgments" in refused.text) == (409, True)

    project = SimpleUploadedFile("project.json", labelled("outside").encode())
    admin("/rounds/outside/judgments/", file=project, format="detect", levels="Yes=1,No=4")
    assert "outside is judged elsewhere and not yet closed" in client.get("/").text
    assert 'href="/rounds/outside/close/"' in client.get("/rounds/outside/").text
    admin("/rounds/outside/aggregate/", method="majority", ties="median")
    admin("/rounds/outside/close/")
    sample = Round.objects.get().pool.sample.name
    counting = {"method": "majority", "ties": "median", "precedence": "union", "positive_levels": ["1", "2"]}
    chosen = {"version": "v1", "queries": sample, "rounds": ["outside"], "merge-1-source": "original", "partial": "on"}
    admin("/release/", **chosen, **counting, confirmed="yes")
    for name in Version.objects.get().manifest["files"]:
        assert client.get(f"/versions/v1/files/{name}").status_code == 200
    admin("/versions/v1/export/", what="judgments-long")
    assert client.get("/versions/v1/downloads/judgments-long.zip").status_code == 200
    admin("/versions/v1/score/")
    assert Version.objects.get().scores.filter(run__model="words").exists()
