"""The ten lines of docs/researchers.md that bring embeddings from elsewhere."""

import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command

from mitl.models import Retrieval
from mitl.search.gallery import rankings_of

PAGE = Path(__file__).resolve().parents[2] / "docs/researchers.md"
ROWS = [
    {"caption_id": 10 * image + place, "image_id": image, "file_name": f"{image}.jpg", "text": f"{image}.jpg"}
    for image in range(1, 7)
    for place in range(2)
]


def embed(text: str) -> np.ndarray:
    """A model that embeds a file's name and a caption of the same words alike."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    vector = np.random.default_rng(seed).standard_normal(16)
    return vector / np.linalg.norm(vector)


@pytest.mark.django_db
def test_the_lines_of_the_page_make_a_file_that_is_searched(tmp_path, monkeypatch):
    section = PAGE.read_text().partition("## I want to bring my own embeddings")[2].partition("\n## ")[0]
    (code,) = re.findall(r"```python\n(.*?)```", section, re.S)
    commands = [line.split()[2:] for line in re.findall(r"^    (python manage.py .*)$", section, re.M)]
    assert len(code.splitlines()) <= 12
    monkeypatch.chdir(tmp_path)
    Path("captions.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    exec(code, {"embed": embed})
    call_command("import_collection", "coco", "captions.jsonl", "--format", "jsonl")
    for command in commands:
        call_command(*command)
    found = rankings_of(Retrieval.objects.get())
    assert {image: captions[:2] for image, captions in found["i2t"].items()} == {
        str(image): [10 * image, 10 * image + 1] for image in range(1, 7)
    }
    assert all(images[0] == int(caption[:-1]) for caption, images in found["t2i"].items())
