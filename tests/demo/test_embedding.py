"""The learned annotators on drawn pictures whose full truth is known."""

import pytest

from corpus.matches import known_pairs
from demo.collection import make_demo_collection
from mitl.models import Direction
from mitl.registration import add_annotator
from mitl.search.gallery import load_lists
from mitl.training.trainer import train_annotator
from tests.mitl.searches import retrieve

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def demo(lasting):
    return make_demo_collection("demo", images=300)


@pytest.mark.parametrize(("image", "text"), [("patches", "words"), ("histogram", "phrases")])
def test_a_learned_annotator_names_fitting_captions_far_above_chance(db, demo, image, text):
    add_annotator("eyes", kind="embedding", options={"image": image, "text": text})
    eyes = train_annotator("eyes", collection=demo)
    lists = load_lists(retrieve(demo, annotators=[eyes], depth=5)[0])[Direction.IMAGE_TO_CAPTION]
    fitting = set(map(tuple, known_pairs(demo, "truth", max_grade=2).tolist()))
    named = [(query, item) for query, row in zip(lists.queries, lists.items, strict=True) for item in row]
    chance = len(fitting) / (demo.images.gallery().count() * demo.captions.gallery().count())
    assert sum(pair in fitting for pair in named) / len(named) > 6 * chance > 0.2
