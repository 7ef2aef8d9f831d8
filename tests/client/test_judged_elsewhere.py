"""A round that other software judges, from photos to scores: by the client, by commands and by pages."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from pydantic import RootModel

from counterpart_client import ApiError, Client
from counterpart_client.models import JobAnswer
from counterpart_metrics import ExportedVersion
from dataset.models import Version
from hits.models import Item
from tests.console.collections.zip_files import zipped

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
    """The export of Label Studio once every pair of a round is judged."""
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
        client.wait(client.import_collection("birds", **sent))
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
        with pytest.warns(UserWarning, match=r"judgments\.csv: .* outside"):
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
