"""Qualification tests: what they are made of, and taking them."""

from contextlib import suppress

import pytest

from annotation.models import Admission, QualificationTest, TestAttempt, TestItem
from annotation.people.qualification_questions import Best, set_best
from annotation.people.qualification_tests import (
    QualificationPlan,
    answer_test,
    make_sentence_test,
    make_test,
    tries_of,
)
from annotation.work.leases import lease_seat
from core.errors import CounterpartError
from core.models import Event
from corpus.models import Caption, Image, Match
from hits.models import Control, Item, Round
from hits.task_types.levels import GRAMMAR
from tests.annotation.answering import home_of
from tests.annotation.cast import associate, candidates
from tests.annotation.controlling import vote
from tests.at_once import at_once
from tests.factories import make_collection, make_round, make_worker

PLAN = QualificationPlan(positives=3, negatives=2, pass_mark=4)


@pytest.fixture
def zoo(db):
    return make_collection(images=12, pictures=True)


def right(test: QualificationTest, *, wrong: int = 0) -> dict[int, int]:
    """Levels for all places, ``wrong`` of them on the wrong side."""
    items = list(test.items.all())
    sides = [(item.polarity == "positive") != (place < wrong) for place, item in enumerate(items)]
    return {item.place: 1 if yes else 4 for item, yes in zip(items, sides, strict=True)}


@pytest.fixture
def test(zoo) -> QualificationTest:
    return make_test("first", collection=zoo, plan=PLAN, actor="robin")


def test_positives_are_original_and_negatives_match_in_no_source(test, zoo):
    for item in test.items.all():
        known = Match.objects.filter(image=item.image, caption=item.caption).exists()
        assert known == (item.polarity == Control.Polarity.POSITIVE)
    assert list(test.items.values_list("place", flat=True)) == [1, 2, 3, 4, 5]
    assert test.items.filter(polarity="positive").count() == 3


def test_no_image_or_caption_comes_twice(test):
    items = test.items.select_related("caption")
    assert len({item.image_id for item in items}) == len({item.caption.image_id for item in items}) == 5


def test_a_pair_that_any_source_matches_is_not_a_negative(zoo):
    keep = zoo.captions.get(key="0")
    for image in zoo.images.all():
        for caption in zoo.captions.exclude(pk=keep.pk).exclude(image=image):
            Match.objects.create(collection=zoo, image=image, caption=caption, source="cxc")
    for seed in range(20):
        with suppress(CounterpartError):
            make_test(f"t{seed}", collection=zoo, plan=QualificationPlan(1, 1, 2, seed=seed), actor="x")
    negatives = TestItem.objects.filter(polarity="negative")
    assert {item.caption for item in negatives} == {keep}


def test_a_collection_in_which_all_matches_all_has_no_negative(zoo):
    for image in zoo.images.all():
        for caption in zoo.captions.exclude(image=image):
            Match.objects.create(collection=zoo, image=image, caption=caption, source="cxc")
    with pytest.raises(CounterpartError, match="another --seed"):
        make_test("none", collection=zoo, plan=PLAN, actor="x")
    assert not QualificationTest.objects.exists()


def test_the_same_seed_draws_the_same_pairs_whatever_the_rows_keys(zoo):
    other = make_collection("other", images=12, pictures=True)
    tests = [make_test(c.name, collection=c, plan=PLAN, actor="x") for c in (zoo, other)]
    drawn = [list(t.items.values_list("image__key", "caption__key", "polarity")) for t in tests]
    assert drawn[0] == drawn[1]
    other_seed = make_test("more", collection=zoo, plan=QualificationPlan(3, 2, 4, seed=1), actor="x")
    assert list(other_seed.items.values_list("image__key", "caption__key", "polarity")) != drawn[0]


def test_images_for_training_are_taken_first(zoo):
    Image.objects.filter(key__in="1234567").update(split="train")
    made = make_test("trained", collection=zoo, plan=PLAN, actor="x")
    assert {item.image.split for item in made.items.all()} == {"train"}


def test_images_that_a_round_asks_about_are_taken_last(zoo):
    made = make_round(zoo)
    asked = set(Item.objects.filter(hit__round=made).values_list("image", flat=True))
    drawn = make_test("later", collection=zoo, plan=PLAN, actor="x").items.values_list("image", flat=True)
    assert 0 < len(asked) <= 12 - 7
    assert not asked & set(drawn)


def test_of_an_image_in_hits_another_caption_is_taken(zoo):
    made = make_round(zoo)
    taken = {image: captions.first() for image in zoo.images.all() if (captions := image.captions.order_by("pk"))}
    for place, (image, caption) in enumerate(taken.items(), 50):
        Item.objects.get_or_create(hit=made.hits.get(), image=image, caption=caption, defaults={"place": place})
        Caption.objects.create(collection=zoo, image=image, key=f"other-{image.pk}", text="Another.")
    drawn = make_test("later", collection=zoo, plan=QualificationPlan(3, 1, 4), actor="x").items.filter(
        polarity="positive"
    )
    assert not {caption.pk for caption in taken.values()} & set(drawn.values_list("caption", flat=True))


def test_images_without_a_file_are_not_drawn(zoo):
    Image.objects.filter(key__in=list("01234567")).update(file="")
    with pytest.raises(CounterpartError, match="4 pictures .* needs 7"):
        make_test("bare", collection=zoo, plan=PLAN, actor="x")
    assert not QualificationTest.objects.exists()


def test_making_it_again_changes_nothing_and_another_of_its_name_is_refused(test, zoo):
    assert make_test("first", collection=zoo, plan=PLAN, actor="x") == test
    assert TestItem.objects.count() == 5
    with pytest.raises(CounterpartError, match="There is a test first already"):
        make_test("first", collection=zoo, plan=QualificationPlan(3, 2, 5), actor="x")


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ((0, 2, 2), "at least one of each"),
        ((2, 0, 2), "at least one of each"),
        ((30, 21, 40), "at most 50"),
        ((3, 2, 3), "one answer to all gets 3 right"),
        ((3, 2, 6), "use 4 to 5"),
        ((3, 2, 4, 0), "Invalid number of attempts 0"),
    ],
)
def test_a_test_that_says_nothing_is_refused(numbers, said):
    with pytest.raises(CounterpartError, match=said):
        QualificationPlan(*numbers)


def test_enough_right_answers_pass_and_the_middle_levels_count_on_their_side(test):
    attempt = answer_test(test, make_worker(), right(test, wrong=1), number=1)
    assert (attempt.right, attempt.passed, attempt.number) == (4, True, 1)
    levels = {item.place: 2 if item.polarity == "positive" else 3 for item in test.items.all()}
    assert answer_test(test, make_worker(), levels, number=1).right == 5


def test_too_few_do_not_and_after_the_last_try_no_other_is_taken(test):
    worker = make_worker()
    assert not answer_test(test, worker, right(test, wrong=2), number=1).passed
    tries = tries_of(test, worker)
    assert (tries.used, tries.left, tries.next, tries.passed) == (1, 1, 2, False)
    answer_test(test, worker, right(test, wrong=5), number=2)
    with pytest.raises(CounterpartError, match="2 were made"):
        answer_test(test, worker, right(test), number=3)
    assert not tries_of(test, worker).passed


def test_a_passed_test_is_not_taken_again_and_no_try_out_of_turn(test):
    worker = make_worker()
    answer_test(test, worker, right(test), number=1)
    with pytest.raises(CounterpartError, match="No try"):
        answer_test(test, worker, right(test, wrong=5), number=2)
    assert tries_of(test, worker).passed
    with pytest.raises(CounterpartError, match="Try 1 comes next, not 2"):
        answer_test(test, make_worker(), right(test), number=2)


def test_sending_a_try_again_costs_no_other(test):
    worker = make_worker()
    first = answer_test(test, worker, right(test, wrong=5), number=1)
    assert answer_test(test, worker, right(test), number=1) == first
    assert tries_of(test, worker).left == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({1: None}, "1 question has no answer yet: 1"),
        ({1: 5}, "1 answer does not belong"),
        ({9: 1}, "1 answer does not belong"),
    ],
)
def test_an_odd_form_costs_no_try(test, change, said):
    worker = make_worker()
    levels = {place: level for place, level in (right(test) | change).items() if level}
    with pytest.raises(CounterpartError, match=said):
        answer_test(test, worker, levels, number=1)
    assert tries_of(test, worker).left == 2


def test_the_journal_names_a_try_without_its_answers(test):
    answer_test(test, make_worker(), right(test), number=1)
    assert Event.objects.get(verb="tested").data == {"right": 5, "passed": True}


def test_two_tabs_make_one_try(transactional_db):
    made = make_test("first", collection=make_collection(images=12, pictures=True), plan=PLAN, actor="x")
    worker = make_worker()
    levels = right(made, wrong=5)
    at_once(*[lambda: answer_test(made, worker, levels, number=1)] * 4)
    assert TestAttempt.objects.count() == 1


# Which of the right levels of an item fits best: what sources know, and what researchers say


def test_a_drawn_pair_has_the_level_that_the_sources_with_levels_agree_on(db):
    zoo = make_collection(pictures=True)
    graded = [
        Match(collection=zoo, image=caption.image, caption=caption, source=source, score=1, grade=grade)
        for number, caption in enumerate(zoo.captions.order_by("pk"))
        for source, grade in (("a", 1 + number % 2), ("b", 1))
    ]
    Match.objects.bulk_create(graded)
    made = make_test("first", collection=zoo, plan=QualificationPlan(2, 1, 3), actor="x")
    agreed = {one.caption_id for one in graded if one.grade == 1} - {one.caption_id for one in graded if one.grade == 2}
    for item in made.items.all():
        assert item.best_level == (1 if item.polarity == "positive" and item.caption_id in agreed else None)


def test_a_practice_of_disputed_pairs_has_the_level_that_a_release_decided(db):
    made = make_round(replication=2)
    vote(made.hits.get(), 1), vote(made.hits.get(), 4)
    Round.objects.update(closed_at="2026-01-01T00:00Z")
    pairs = candidates(made.hits.get())
    for number, pair in enumerate(pairs):
        associate(made.pool.collection, "v1", [pair], score=1 - number, grade=2 + number)
    plan = QualificationPlan(1, 1, 2, disputed=True)
    practice = make_test("disputed", collection=made.pool.collection, plan=plan, actor="x")
    assert set(practice.items.values_list("image", "polarity", "best_level")) == {
        (pairs[0][0], "positive", 2),
        (pairs[1][0], "negative", 3),
    }
    with pytest.raises(CounterpartError, match="has 1 decided pair on which workers disagreed, with answer positive"):
        make_test("more", collection=made.pool.collection, plan=QualificationPlan(2, 1, 3, disputed=True), actor="x")


def test_what_is_said_is_kept_and_saying_it_again_changes_nothing(test):
    place = test.items.filter(polarity="negative").first().place
    assert set_best(test, {place: Best(3, " There is a dog. ")}, actor="x") == 1
    assert set_best(test, {place: Best(3, "There is a dog.")}, actor="x") == 0
    assert test.items.filter(best_level=3, reason="There is a dog.").count() == 1
    assert Event.objects.get(verb="explained").data == {"questions": 1}


@pytest.mark.parametrize(
    ("best", "message"), [(Best(2, ""), "not right for item"), (Best(4, "x" * 301), "reason of item .* shorten it")]
)
def test_a_level_of_the_other_side_and_a_long_reason_are_refused(test, best, message):
    place = test.items.filter(polarity="negative").first().place
    with pytest.raises(CounterpartError, match=message):
        set_best(test, {place: best}, actor="x")


def test_a_researcher_says_on_the_page_of_the_test_which_level_fits_best(test, researcher):
    places = dict(test.items.values_list("place", "polarity"))
    form = {f"best-{place}": "1" if side == "positive" else "" for place, side in places.items()}
    form |= {f"reason-{place}": f"Reason {place}" for place in places}
    assert researcher.post("/tests/first/", form).url == "/tests/first/"
    assert set(test.items.values_list("polarity", "best_level")) == {("positive", 1), ("negative", None)}
    assert {item.reason for item in test.items.all()} == {f"Reason {place}" for place in places}
    negative = next(place for place, side in places.items() if side == "negative")
    refused = researcher.post("/tests/first/", form | {f"best-{negative}": "1"})
    assert refused.status_code == 422


# Tests of spelling and grammar: made from a file, taken before the first HIT, and offered for practice

SENTENCES = [("A dog runs.", "right"), ("A dog run.", "wrong"), ("Two dogs run.", "right"), ("Tow dogs run.", "wrong")]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "english.csv"
    path.write_text(
        "\ufeffSentence;Written\r" + "".join(f"{text};{written}\r" for text, written in SENTENCES), newline=""
    )
    return path


@pytest.fixture
def english(caption_round, file) -> QualificationTest:
    test = make_sentence_test("english", collection=caption_round.pool.collection, file=file, pass_mark=4, actor="x")
    Admission.objects.create(round=caption_round, test=test)
    return test


def answers(*, wrong: int = 0, number: int = 1) -> dict[str, str]:
    said = [(written == "right") != (place < wrong) for place, (_, written) in enumerate(SENTENCES)]
    return {f"level-{place}": "1" if right else "4" for place, right in enumerate(said, 1)} | {"number": str(number)}


def test_the_items_are_the_sentences_of_the_file_in_its_order(english):
    polarity = {"right": "positive", "wrong": "negative"}
    rows = english.items.values_list("place", "sentence", "polarity", "image", "caption")
    assert list(rows) == [
        (place, text, polarity[written], None, None) for place, (text, written) in enumerate(SENTENCES, 1)
    ]


def test_making_it_again_of_its_file_changes_nothing_and_another_file_is_refused(english, file):
    more = {"collection": english.collection, "file": file, "pass_mark": 4, "actor": "x"}
    assert make_sentence_test("english", **more) == english
    file.write_text(file.read_text().replace("A dog runs.", "A cat runs."))
    with pytest.raises(CounterpartError, match="another one"):
        make_sentence_test("english", **more)
    assert english.items.count() == 4


def test_a_malformed_file_makes_no_test(db, file):
    collection = make_collection()
    for text, message in (
        ("a,b\n1,2\n", r"english.csv has no column for sentence \(.*\); written \(written, .*Its columns are: a, b"),
        ("sentence,written\nA dog.,maybe\n", "english.csv, line 2: written is 'maybe': use right or wrong"),
        ("sentence,written\n ,right\n", "english.csv, line 2: The sentence is empty"),
        ("sentence,written\nA.,right\nA.,wrong\n", "line 3: 'A.' is in the file twice"),
        ("sentence,written\nA.,right\nB.,right\n", "at least one of each"),
        ("", "english.csv is empty"),
    ):
        file.write_text(text)
        with pytest.raises(CounterpartError, match=message):
            make_sentence_test("english", collection=collection, file=file, pass_mark=2, actor="x")
    assert not QualificationTest.objects.exists()


def test_a_round_of_pairs_may_require_it_too(english, stranger):
    made = make_round(make_collection("other", images=6, pictures=True), "pairs")
    Admission.objects.create(round=made, test=english)
    worker = make_worker()
    assert GRAMMAR.title in stranger.get(f"{home_of(worker, made)}test/").text
    stranger.post(f"{home_of(worker, made)}test/", answers())
    assert lease_seat(made, worker=worker)


def test_the_page_makes_it_from_an_uploaded_file(caption_round, file, researcher):
    zoo = caption_round.pool.collection.name
    with file.open("rb") as sentences:
        form = {"name": "english", "sentences": sentences, "pass_mark": 4, "attempts": 2, "seed": 0}
        assert researcher.post(f"/collections/{zoo}/test/", form).status_code == 302
    assert QualificationTest.objects.get().items.count() == 4
    assert researcher.post(f"/collections/{zoo}/test/", form | {"sentences": ""}).status_code == 409
