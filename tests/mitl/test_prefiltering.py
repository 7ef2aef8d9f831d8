import pytest

from core.errors import CounterpartError
from core.models import Event
from corpus.models import Caption, Collection, Image
from mitl.models import Pool
from mitl.pooling import prefilter_pool
from tests.commands import figures_printed
from tests.factories import make_annotator, make_collection, make_pool, make_retrieval, make_sample

TEXTS = {"0": "a brown dog runs", "1": "a dog is asleep", "2": "two red buses", "3": "a bus in town"}


@pytest.fixture
def zoo(db) -> Collection:
    """Two images with two captions each, of dogs and of buses."""
    zoo = make_collection(images=2)
    for key, text in TEXTS.items():
        zoo.captions.filter(key=key).update(text=text)
    return zoo


@pytest.fixture
def pool(zoo) -> Pool:
    """All eight pairs."""
    sample = make_sample(zoo)
    pairs = [(image, caption) for image in zoo.images.all() for caption in zoo.captions.all()]
    return make_pool(sample, [make_retrieval(make_annotator(), sample, depth=2)], pairs=pairs)


def pairs_of(pool: Pool) -> set[tuple[str, str]]:
    return set(pool.proposals.values_list("image__key", "caption__key"))


def test_pairs_whose_caption_shares_too_little_are_dropped(pool):
    # Dogs share nothing with buses; of "a bus in town", half its words (town, bus) are with "two red buses"' image.
    made = prefilter_pool("likely", pool=pool)
    assert pairs_of(made) == {("0", "0"), ("0", "1"), ("1", "2"), ("1", "3")}
    assert (made.n_pairs, made.n_proposals) == (4, 4)


def test_the_threshold_itself_is_kept(zoo, pool):
    zoo.captions.filter(key="2").update(text="dog van car train")
    assert ("0", "2") in pairs_of(prefilter_pool("likely", pool=pool, threshold=0.25))
    assert ("0", "2") not in pairs_of(prefilter_pool("likelier", pool=pool, threshold=0.26))


def test_an_image_without_captions_keeps_its_pairs(zoo, pool):
    bare = Image.objects.create(collection=zoo, key="bare", file_name="bare.jpg")
    pool.proposals.create(
        image=bare, caption=Caption.objects.first(), annotator=make_annotator("b"), direction="i2t", rank=1, score=0
    )
    assert ("bare", "0") in pairs_of(prefilter_pool("likely", pool=pool))


def test_the_same_again_returns_the_pool_that_is_there(pool):
    made = prefilter_pool("likely", pool=pool)
    assert prefilter_pool("likely", pool=pool) == made
    assert Event.objects.filter(verb="prefiltered").count() == 1


def test_a_name_of_another_pool_is_refused(pool):
    prefilter_pool("likely", pool=pool)
    for name, threshold in (("likely", 0.3), (pool.name, 0.25)):
        with pytest.raises(CounterpartError, match=f"already a pool {name} "):
            prefilter_pool(name, pool=pool, threshold=threshold)


def test_a_pool_of_which_nothing_is_left_is_not_made(zoo, pool):
    zoo.captions.update(text="it is")
    with pytest.raises(CounterpartError, match="scores 0.25 or more"):
        prefilter_pool("likely", pool=pool)
    assert Pool.objects.count() == 1


def test_the_command_prints_the_figures(pool):
    figures = figures_printed("pool", "likely", "--bleu", "--pool", pool.name)
    assert figures == {"pool": "likely", "proposals": 4, "pairs": 4, "dropped": 4}
