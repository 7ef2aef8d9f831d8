import pytest

from core.errors import CounterpartError
from dataset.versions.merging import MergeTerm, check_sources, merged_pairs, parse_merge
from tests.annotation.cast import associate
from tests.factories import make_collection


@pytest.fixture
def zoo(db):
    return make_collection(images=4, captions_each=1)


def pair(collection, image: int, caption: int) -> tuple[int, int]:
    return collection.images.get(key=str(image)).pk, collection.captions.get(key=str(caption)).pk


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        ("original", [MergeTerm("original")]),
        (" cxc >= 3 , original,", [MergeTerm("cxc", ">=", 3.0), MergeTerm("original")]),
        ("a<-0.5,b=2", [MergeTerm("a", "<", -0.5), MergeTerm("b", "=", 2)]),
        ("c>1,d<=4", [MergeTerm("c", ">", 1), MergeTerm("d", "<=", 4)]),
    ],
)
def test_terms_are_read(text, terms):
    assert parse_merge(text) == terms


def test_a_term_is_written_as_it_is_read():
    terms = parse_merge("cxc >= 3.0,original,far>2000000,near<0.00001")
    assert [str(term) for term in terms] == ["cxc>=3", "original", "far>2000000", "near<0.00001"]
    assert parse_merge(",".join(map(str, terms))) == terms


@pytest.mark.parametrize("text", ["cxc>=", "cxc>=three", ">=3", "cxc=>3", "a b", "cxc>=3>2"])
def test_nonsense_is_refused_by_name(text):
    with pytest.raises(CounterpartError, match="Invalid match source"):
        parse_merge(text)


def test_a_source_named_twice_is_refused():
    with pytest.raises(CounterpartError, match="named twice: cxc"):
        parse_merge("cxc>=3,cxc>=4")


def test_an_unknown_source_is_refused_with_the_known_ones(zoo):
    with pytest.raises(CounterpartError, match="cxd; it has original"):
        check_sources(zoo, parse_merge("original,cxd"))


@pytest.mark.parametrize(
    ("term", "captions"), [("cxc", "123"), ("cxc>=3", "23"), ("cxc>3", "3"), ("cxc<3", "1"), ("cxc=3", "2")]
)
def test_a_score_condition_chooses_pairs(zoo, term, captions):
    for caption, score in (("1", 2.9), ("2", 3.0), ("3", 4.2)):
        associate(zoo, "cxc", [pair(zoo, 0, caption)], score=score)
    expected = {("0", caption) for caption in captions}
    assert merged_pairs(zoo, *parse_merge(term), positive_levels=(1, 2)) == expected


def test_graded_pairs_count_only_at_positive_levels(zoo):
    for caption, grade in (("1", 1), ("2", 3)):
        associate(zoo, "truth", [pair(zoo, 0, caption)], grade=grade)
    assert merged_pairs(zoo, MergeTerm("truth"), positive_levels=(1, 2)) == {("0", "1")}


def test_pairs_with_an_item_of_a_training_split_are_left_out(zoo):
    every = merged_pairs(zoo, MergeTerm("original"), positive_levels=(1, 2))
    associate(zoo, "cxc", [pair(zoo, 0, 1)], score=4)
    cxc = MergeTerm("cxc", ">=", 3)
    assert merged_pairs(zoo, cxc, positive_levels=(1, 2)) >= {("0", "1")}
    zoo.images.filter(key="1").update(split="train")
    assert ("0", "1") not in merged_pairs(zoo, cxc, positive_levels=(1, 2))
    assert merged_pairs(zoo, MergeTerm("original"), positive_levels=(1, 2)) < every
