"""A turn: a version teaches annotators, which propose what it does not know."""

import pytest

from core.errors import CounterpartError
from corpus.models import Match
from dataset.models import Version
from dataset.turns import TurnParameters, next_name, take_turn, turn_of
from dataset.versions.changes import designs_of
from evaluation.auditing.whole_queries import whole_queries
from hits.models import Round
from mitl.models import Annotator, Pool
from mitl.search.gallery import load_lists
from tests.commands import figures_printed, output_of
from tests.dataset.releasing import problems, release
from tests.dataset.turning import first_round
from tests.evaluation.worlds import judge_all, published

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def lineage(lasting) -> tuple[Round, Round]:
    """A round whose version v1 taught an annotator, and the turn that it proposed."""
    first = first_round(lasting)
    release(first)
    return first, turn("second")


@pytest.fixture
def first(lineage) -> Round:
    return Round.objects.get(name="first")


@pytest.fixture
def second(lineage) -> Round:
    return Round.objects.get(name="second")


@pytest.fixture
def both(first, second) -> Version:
    return release(first, "v2", rounds=[first, judge_all(published(second))])


def turn(name: str = "other", **options: object) -> Round:
    wishes = {"round": "first", "seed": 0, "audit_share": 0.5, **options}
    return take_turn(TurnParameters(name=name, **wishes), actor="test")


def pairs_of(pool: Pool) -> set[tuple[int, int]]:
    return set(pool.proposals.values_list("image_id", "caption_id"))


def test_the_annotators_that_embed_are_taught_by_the_version(second):
    (taught,) = Annotator.objects.filter(retrievals__pools=second.pool)
    assert (taught.name, taught.kind, taught.options) == ("seen-v1", "feedback", {"of": "seen"})
    assert (taught.trained_on["matches"], taught.trained_on["gallery"]) == ("v1", True)


def test_lists_that_the_version_knows_whole_are_refused(first):
    collection = first.pool.collection
    for image in collection.images.all():
        for caption in collection.captions.all():
            pair = {"image": image, "caption": caption, "source": "v1"}
            Match.objects.get_or_create(**pair, defaults={"collection": collection, "score": 0})
    with pytest.raises(CounterpartError, match="known to v1"):
        turn(annotators=("seen",))
    assert not Pool.objects.filter(name="other-pool").exists()


def test_every_list_gives_its_first_pairs_that_the_version_does_not_know(second):
    known = set(Match.objects.filter(source="v1").values_list("image_id", "caption_id"))
    assert not pairs_of(second.pool) & known
    (lists,) = [load_lists(one, second.pool.sample) for one in second.pool.retrievals.all()]
    for query, items in zip(lists["i2t"].queries.tolist(), lists["i2t"].items.tolist(), strict=True):
        new = [(query, item) for item in items if (query, item) not in known][:2]
        assert set(new) == set(
            second.pool.proposals.filter(direction="i2t", image=query).values_list("image_id", "caption_id")
        )


def test_a_turn_is_an_audit_that_likely_matches_follow_designed_as_the_round(first, second):
    assert second.summary["judge"]["judge"] == "audit"
    assert second.summary["judge"]["greedy"]
    assert second.summary["judge"]["share"] == 0.5
    same = ("task", "design", "reward", "ceiling", "replication", "reasons")
    assert [getattr(second, name) for name in same] == [getattr(first, name) for name in same]
    assert second.pool.sample == first.pool.sample


def test_taking_the_turn_again_changes_nothing(second):
    assert turn("second") == second
    assert Annotator.objects.count() == 3


def test_a_round_without_a_version_teaches_nothing(first):
    Version.objects.get().rounds.clear()
    with pytest.raises(CounterpartError, match="Round first is in no version"):
        turn()
    with pytest.raises(CounterpartError, match="v2 .* round first"):
        turn(beyond="v2")
    assert Annotator.objects.count() == 3


def test_annotators_without_embeddings_cannot_be_taught(first):
    first.pool.retrievals.remove(first.pool.retrievals.get(annotator__name="seen"))
    with pytest.raises(CounterpartError, match="compares embeddings"):
        turn()


def test_named_annotators_propose_in_place_of_those_that_are_taught(first):
    made = turn(annotators=("seen",))
    assert made.pool.retrievals.get().annotator.name == "seen"
    assert Annotator.objects.count() == 3


def test_the_matches_of_the_version_count_in_the_estimates_of_a_turn_and_cost_nothing(second):
    judge_all(published(second))
    matches = set(Match.objects.filter(source="v1", score=1).values_list("image_id", "caption_id"))
    for whole in whole_queries(second):
        free = whole.queries.codes[~whole.queries.asked & (whole.queries.gains > 0)]
        known = {(code >> 32, code & 0xFFFFFFFF) for code in free.tolist()}
        assert known == matches


def test_the_next_turn_teaches_by_both_rounds(first, second, both):
    third = turn("", round="second", top_k=4)
    (taught,) = Annotator.objects.filter(retrievals__pools=third.pool)
    assert (taught.name, taught.options["of"]) == ("seen-v2", "seen")
    assert [turn_of(made.pool) for made in (first, second, third)] == [1, 2, 3]
    assert third.name == "second-turn3"
    assert next_name(third) == "second-turn4"


def test_the_manifest_and_the_differences_give_the_turn(both):
    pool = both.manifest["rounds"][1]["pool"]
    before = Version.objects.get(name="v1").manifest_sha256
    assert (pool["turn"], pool["beyond"], pool["beyond_sha256"]) == (2, "v1", before)
    assert both.manifest["annotators"]["seen-v1"]["taught_by"] == "v1"
    assert "taught_by" not in both.manifest["annotators"]["seen"]
    assert designs_of(both)["second"]["turn"] == 2
    assert "in turn 2, beyond v1" in output_of("diff", "v1", "v2")


def test_a_released_turn_is_verified_with_its_lineage(second, both):
    assert problems(both) == []
    proposal = second.pool.proposals.first()
    Match.objects.create(
        collection=proposal.pool.collection, image=proposal.image, caption=proposal.caption, source="v1", score=0
    )
    Version.objects.filter(name="v1").update(manifest_sha256="0" * 64)
    found = "\n".join(problems(both))
    assert "beyond sha256 is 000" in found
    assert "1 pairs of pool second-pool" in found


def test_the_command_prints_the_lineage(first):
    figures = figures_printed("turn", "first", "other", "--audit-share", "0.5", "--seed", "0")
    assert [figures[name] for name in ("round", "turn", "beyond", "annotators")] == ["other", 2, "v1", "seen-v1"]
