"""Tests of spelling and grammar: caption_round from a file, taken before the first HIT, and offered for practice."""

import pytest

from annotation.models import Admission, QualificationTest
from annotation.people.qualification_tests import make_sentence_test
from annotation.work.leases import lease_seat
from core.errors import CounterpartError
from hits.task_types.grammar import GRAMMAR
from tests.annotation.answering import home_of
from tests.factories import make_collection, make_round, make_worker

SENTENCES = [("A dog runs.", "right"), ("A dog run.", "wrong"), ("Two dogs run.", "right"), ("Tow dogs run.", "wrong")]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "english.csv"
    path.write_text("sentence,written\n" + "".join(f"{text},{written}\n" for text, written in SENTENCES))
    return path


@pytest.fixture
def test(caption_round, file) -> QualificationTest:
    test = make_sentence_test("english", collection=caption_round.pool.collection, file=file, pass_mark=4, actor="x")
    Admission.objects.create(round=caption_round, test=test)
    return test


def answers(*, wrong: int = 0, number: int = 1) -> dict[str, str]:
    said = [(written == "right") != (place < wrong) for place, (_, written) in enumerate(SENTENCES)]
    return {f"level-{place}": "1" if right else "4" for place, right in enumerate(said, 1)} | {"number": str(number)}


def test_the_items_are_the_sentences_of_the_file_in_its_order(test):
    polarity = {"right": "positive", "wrong": "negative"}
    rows = test.items.values_list("place", "sentence", "polarity", "image", "caption")
    assert list(rows) == [
        (place, text, polarity[written], None, None) for place, (text, written) in enumerate(SENTENCES, 1)
    ]


def test_making_it_again_changes_nothing_and_another_file_is_refused(test, file):
    more = {"collection": test.collection, "file": file, "pass_mark": 4, "actor": "x"}
    assert make_sentence_test("english", **more) == test
    file.write_text(file.read_text().replace("A dog runs.", "A cat runs."))
    with pytest.raises(CounterpartError, match="another one"):
        make_sentence_test("english", **more)
    assert test.items.count() == 4


def test_a_malformed_file_makes_no_test(db, file):
    collection = make_collection()
    for text, message in (
        ("a,b\n1,2\n", "needs the columns sentence and written"),
        ("sentence,written\nA dog.,maybe\n", "english.csv, line 2: written is 'maybe': use right or wrong"),
        ("sentence,written\n ,right\n", "english.csv, line 2: The sentence is empty"),
        ("sentence,written\nA.,right\nA.,wrong\n", "line 3: 'A.' is in the file twice"),
        ("sentence,written\nA.,right\nB.,right\n", "at least one of each"),
        ("", "needs the columns"),
    ):
        file.write_text(text)
        with pytest.raises(CounterpartError, match=message):
            make_sentence_test("english", collection=collection, file=file, pass_mark=2, actor="x")
    assert not QualificationTest.objects.exists()


def test_a_round_of_pairs_may_require_it_too(test, stranger):
    made = make_round(make_collection("other", images=6, pictures=True), "pairs")
    Admission.objects.create(round=made, test=test)
    worker = make_worker()
    assert GRAMMAR.title in stranger.get(f"{home_of(worker, made)}test/").text
    stranger.post(f"{home_of(worker, made)}test/", answers())
    assert lease_seat(made, worker=worker)


def test_as_practice_it_says_which_sentences_are_right(caption_round, file, stranger):
    practice = make_sentence_test("easy", collection=caption_round.pool.collection, file=file, pass_mark=4, actor="x")
    Admission.objects.create(round=caption_round, practice=practice)
    page = stranger.post(f"{home_of(make_worker(), caption_round)}practice/", answers(wrong=1)).text
    assert (page.count("✓"), page.count("✗")) == (3, 1)
    assert "<img" not in page


def test_the_page_makes_it_from_an_uploaded_file(caption_round, file, researcher):
    zoo = caption_round.pool.collection.name
    with file.open("rb") as sentences:
        form = {"name": "english", "sentences": sentences, "pass_mark": 4, "attempts": 2, "seed": 0}
        assert researcher.post(f"/collections/{zoo}/test/", form).status_code == 302
    assert QualificationTest.objects.get().items.count() == 4
    assert researcher.post(f"/collections/{zoo}/test/", form | {"sentences": ""}).status_code == 422
