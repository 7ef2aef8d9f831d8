import json

import pytest

from annotation.models import Judgment, WorkerIdentity
from dataset.outside_judgments.judgment_import import import_judgments
from dataset.outside_judgments.judgment_parameters import JudgmentParameters
from tests.factories import make_round


@pytest.fixture
def round(db):
    """A draft of one HIT: images 0, 1 and 2 with captions 2, 4 and 6, then the controls 3 with 6 and 4 with 10."""
    return make_round(hits=1, candidates=3, published=False)


@pytest.fixture
def write(tmp_path):
    """Write a file of the test's folder: text, or what becomes JSON, or of .jsonl an object a line."""

    def written(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not isinstance(content, str):
            lines = content if name.endswith(".jsonl") else [content]
            content = "\n".join(map(json.dumps, lines))
        path.write_text(content)
        return path

    return written


@pytest.fixture
def take(round):
    """Import a file into the round with the given options; what it added."""

    def taken(path, **options):
        return import_judgments(round, path, wanted=JudgmentParameters(**options))

    return taken


@pytest.fixture
def levels():
    """The levels that were stored, by worker, image and caption."""

    def stored():
        columns = ("worker__identities__external_id", "image__key", "caption__key", "level")
        names = dict.fromkeys(WorkerIdentity.objects.order_by("pk").values_list("external_id", flat=True))
        short = {name: f"worker {number}" for number, name in enumerate(names, 1)}
        rows = Judgment.objects.order_by("pk").values_list(*columns)
        return {(short[worker], image, caption): level for worker, image, caption, level in rows}

    return stored
