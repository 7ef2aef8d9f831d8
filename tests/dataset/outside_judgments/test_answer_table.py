"""What all files of other tools have in common: pairs, levels, workers. The files are Potato-like or Argilla's."""

import pytest

from annotation.models import Assignment, Judgment, Worker, WorkerIdentity
from core.errors import CounterpartError
from core.models import Event
from corpus.models import Caption, Image
from dataset.outside_judgments.judgment_import import import_judgments
from dataset.outside_judgments.judgment_parameters import JudgmentParameters
from tests.factories import make_round


@pytest.fixture
def records(write):
    """Write flat records of Argilla, of one person: (answer, image, caption)."""

    def written(*rows, image="image", caption="caption", user="ada"):
        by = {"match.responses.users": [user], "match.responses.status": ["submitted"]}
        found = [
            {"id": f"r{number}", image: row[1], caption: row[2], "match.responses": [row[0]], **by}
            for number, row in enumerate(rows, 1)
        ]
        return write("records.json", found)

    return written


def test_our_words_and_numbers_are_levels(take, levels, records):
    take(records(("  100%  yes ", "0", "2"), ("Partially YES, but", "1", "4"), (3, "2", "6"), ("100% NO", "4", "10")))
    assert list(levels().values()) == [1, 2, 3, 4]


def test_other_words_are_levels_by_the_option_and_no_others(take, levels, records):
    path = records(("Sure", "0", "2"), ("Not, really", "1", "4"), ("can't tell", "2", "6"))
    added = take(path, levels="Sure=1, Not, really = 4,Can't tell=skip")
    assert (added.judgments, added.skipped, list(levels().values())) == (2, 1, [1, 4])
    with pytest.raises(CounterpartError, match=r"2 answers .*\(record r1\)"):
        take(path, levels="Not, really=4")


@pytest.mark.parametrize("wrong", ["Yes", "Yes=5", "Yes=1,No", "=1", "Yes=1 No=4"])
def test_a_mapping_that_cannot_be_read_is_refused(wrong):
    with pytest.raises(CounterpartError, match="Invalid levels"):
        JudgmentParameters(levels=wrong)


@pytest.mark.parametrize(
    "address",
    [
        *("0", "0.jpg", "pics/0.jpg", "https://host/a/0.jpg?x=1", "s3://bucket/a/0.jpg", "C:\\pics\\0.jpg"),
        *("/data/upload/3/9f8e7d6c-0.jpg", "/data/local-files/?d=pics/0.jpg", "https://host/%30.jpg"),
    ],
)
def test_an_image_is_found_by_key_file_name_or_address(take, levels, records, address):
    take(records(("1", address, "2")))
    assert list(levels()) == [("worker 1", "0", "2")]


@pytest.mark.parametrize("text", ["2", "caption 0 of image 1", " caption 0 of image 1\n"])
def test_a_caption_is_found_by_key_or_text(take, levels, records, text):
    take(records(("1", "0", text)))
    assert list(levels()) == [("worker 1", "0", "2")]


def test_a_caption_that_our_tables_keep_from_being_a_formula_is_found(take, levels, records):
    Caption.objects.filter(key="2").update(text="=a bird")
    take(records(("1", "0", "'=a bird")))
    assert list(levels()) == [("worker 1", "0", "2")]


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (("99", "2"), "1 image .*: 99.* --image FIELD"),
        (("http://[", "2"), r"1 image .*: http://\["),
        (("0", "a bird"), "1 caption .*: a bird"),
        (("0", "x" * 200), "1 caption .*: x{59}…"),
        (("0", "11"), "The round does not ask about 1 pair of the file: image 0 with caption 11. Pack a round"),
        (("0\0", "2"), 'has a NUL character in "0'),
        ((0.5, "2"), r"its image is missing, or no text and no whole number \(record r1\)"),
    ],
)
def test_pairs_that_are_not_asked_about_are_named_and_nothing_is_changed(take, records, pair, message):
    path = records(("1", "1", "4"), ("1", *pair))
    if "is missing" in message:
        message = message.replace("its image", "its image_id").replace("r1", "r2")
    with pytest.raises(CounterpartError, match=message):
        take(path)
    assert not Judgment.objects.exists()
    assert not Worker.objects.exists()
    assert not Event.objects.filter(verb="imported").exists()


def test_texts_and_file_names_that_the_collection_has_twice_are_refused(take, records):
    Caption.objects.filter(key="11").update(text="caption 0 of image 1")
    with pytest.raises(CounterpartError, match="1 name .* several captions"):
        take(records(("1", "0", "caption 0 of image 1")))
    Image.objects.filter(key="5").update(file_name="more/0.jpg")
    Image.objects.filter(key="0").update(file_name="pics/0.jpg")
    with pytest.raises(CounterpartError, match="several images .*: 0.jpg"):
        take(records(("1", "0.jpg", "2")))
    assert take(records(("1", "pics/0.jpg", "2"))).judgments == 1


def test_a_worker_is_known_again_after_a_change_of_the_sites_key(take, records, settings):
    path = records(("1", "0", "2"))
    take(path)
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "the new key"
    assert take(path).known == 1


def test_a_person_has_another_pseudonym_in_another_round(take, records, round):
    path = records(("1", "0", "2"), user="zoe@example.org")
    take(path)
    import_judgments(make_round(round.pool.collection, "again", hits=1, candidates=3, published=False), path)
    stored = list(WorkerIdentity.objects.values_list("external_id", flat=True))
    assert len(set(stored)) == 2
    assert not any("zoe" in name for name in stored)


def test_controls_are_judged_too(take, records):
    take(records(("4", "3", "6"), ("4", "4", "10")))
    assert Assignment.objects.get().control_failures == 1


def test_a_wanted_format_that_the_file_has_not_is_refused(take, records):
    path = records(("1", "0", "2"))
    assert take(path, format="argilla").judgments == 1
    with pytest.raises(CounterpartError, match="format potato"):
        take(path, format="potato")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "records.json has no records"),
        ("[]", "records.json has no records"),
        ("[1]", "records.json has no records"),
        ('[{"a": 1}]', "its task has no image_id or the like but a"),
        ('{"a": ', "records.json is not valid JSON"),
    ],
)
def test_what_is_not_a_file_of_judgments_is_refused(take, write, content, message):
    with pytest.raises(CounterpartError, match=message):
        take(write("records.json", content))
