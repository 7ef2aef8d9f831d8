import json
from pathlib import Path
from shutil import make_archive

import numpy as np
import pytest

from core.errors import CounterpartError
from core.models import Event
from corpus.matches import import_matches, known_pairs
from corpus.models import Match
from tests.corpus.files import written
from tests.factories import make_collection

CXC = "caption,image,agg_score,sampling_method\n"


@pytest.fixture
def zoo(db):
    """Images 0-3 with file names 0.jpg …; captions 0-7, two each."""
    return make_collection(images=4)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "matches"


def imported(zoo, path, content, source="other", **more):
    return import_matches(zoo, source=source, path=written(path, content), **more)


def keys(source="other") -> set[tuple[str, str]]:
    return set(Match.objects.filter(source=source).values_list("image__key", "caption__key"))


def test_cxc_finds_images_by_file_name_and_keeps_every_score(zoo, path):
    rows = "COCO_val2014:sentid:3,0.jpg,4.97,c2i_intrasim\nCOCO_val2014:sentid:0,0.jpg,0.0,c2i_original\n"
    summary = imported(zoo, path, CXC + rows, source="cxc")
    assert (summary.added, summary.there) == (2, 0)
    scores = Match.objects.filter(source="cxc").values_list("image__key", "caption__key", "score", "grade")
    assert set(scores) == {("0", "3", 4.97, None), ("0", "0", 0.0, None)}


def test_the_general_table_takes_scores_and_grades_in_any_order(zoo, path):
    imported(zoo, path, "grade,image,caption,score\n1,0,3,\n,1,0,-2.5\n")
    rows = Match.objects.filter(source="other").values_list("image__key", "caption__key", "score", "grade")
    assert set(rows) == {("0", "3", None, 1), ("1", "0", -2.5, None)}


def test_the_name_of_a_json_file_gives_its_direction_and_both_of_a_source_are_united(zoo, path):
    imported(zoo, path.with_name("eccv_image_to_caption.json"), {"1": [0, 3]})
    summary = imported(zoo, path.with_name("eccv_caption_to_image.json"), {"0": [1, 2]})
    assert (summary.added, summary.there) == (1, 1)
    assert keys() == {("1", "0"), ("1", "3"), ("2", "0")}


def test_the_ids_of_a_nameless_json_file_may_give_its_direction(zoo, path):
    imported(zoo, path, {"7": [0, 3], "5": ["1"]})  # 7 and 5 are captions only
    assert keys() == {("0", "7"), ("3", "7"), ("1", "5")}


def test_ids_of_both_kinds_need_a_direction_which_goes_before_the_name(zoo, path):
    with pytest.raises(CounterpartError, match="1 as i2t and 1 as t2i"):
        imported(zoo, path, {"1": [2]})
    imported(zoo, path, {"1": [2]}, direction="t2i")
    imported(zoo, path.with_name("eccv_image_to_caption.json"), {"1": [2]}, source="named", direction="t2i")
    assert keys() == keys("named") == {("2", "1")}


def test_importing_twice_changes_nothing_and_says_so_in_one_event(zoo, path):
    table = "image,caption,score\n0,3,1.5\n0,4,2\n"
    imported(zoo, path, table)
    assert Event.objects.get().data == {"source": "other", "matches": 2, "batch": "zoo-1"}
    before, events = list(Match.objects.order_by("pk").values()), Event.objects.count()
    assert str(imported(zoo, path, table)) == "other: 2 matches already imported; nothing changed."
    assert (list(Match.objects.order_by("pk").values()), Event.objects.count()) == (before, events)


def test_of_a_repeated_pair_the_first_counts_and_another_score_for_a_known_pair_is_refused(zoo, path):
    table = "image,caption,score\n0,3,1.5\n0,3,4\n0,3,1.5\n"
    assert imported(zoo, path, table).repeated == 1
    assert Match.objects.get(source="other").score == 1.5
    assert imported(zoo, path, table).there == 1
    with pytest.raises(CounterpartError, match="image 0 and caption 3"):
        imported(zoo, path, "image,caption,score\n1,3,1.5\n0,3,2\n")
    assert keys() == {("0", "3")}


def test_unknown_ids_are_named_and_counted_and_nothing_is_written(zoo, path):
    table = CXC + "x:sentid:1,0.jpg,4,c2i\nx:sentid:90,0.jpg,4,c2i\nx:sentid:91,7.jpg,4,c2i\nx:sentid:91,0.jpg,4,c2i\n"
    with pytest.raises(CounterpartError, match=r"7.jpg; 2 captions: 90, 91\)"):
        imported(zoo, path, table)
    assert keys() == set()


def test_a_key_goes_before_a_file_name(zoo, path):
    zoo.images.filter(key="1").update(file_name="0")
    imported(zoo, path, "image,caption\n0,3\n")
    assert keys() == {("0", "3")}


def test_a_file_name_that_two_images_share_names_neither(zoo, path):
    zoo.images.filter(key__in="01").update(file_name="same.jpg")
    with pytest.raises(CounterpartError, match="1 images: same.jpg"):
        imported(zoo, path, "image,caption\nsame.jpg,3\n")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "matches is not a match file"),
        ("a,b\n1,2\n", "matches is not a match file"),
        ("query-id\tcorpus-id\tscore\n0\t3\t\n1\t2\t1\n", "The direction of matches is unclear: of its 2 pairs"),
        ("0 0 3 1\n0 0 3\n", "matches, line 2: not a line of qrels, query 0 item label."),
        ("image,caption,level,worker\n0,3,1,ann\n", "matches has answers of people (worker). Use import_judgments."),
        ("image,caption\n", "matches contains no pairs."),
        ("{}", "matches contains no pairs."),
        ("image,caption,score\n0,3,high\n", "matches, line 2: the score 'high' is not a number."),
        ("image,caption,score\n0,3,nan\n", "matches, line 2: the score 'nan' is not a number."),
        ("image,caption,grade\n0,3,5\n", "matches, line 2: the grade '5' is not 1, 2, 3 or 4."),
        ("image,caption\n0,3\n0\n", "matches, line 3: 1 field, but the header has 2."),
        ("image,caption\n0,\n", "matches, line 2: the caption has no id."),
        ('{"0": [1, 2', "matches is not valid JSON"),
        ('{"0": 3}', "matches, entry 1: '0' does not map to a list of ids."),
        ('{"0": [null]}', "matches, entry 1: an item of '0' has no id."),
    ],
)
def test_a_bad_file_is_one_clear_line_and_changes_nothing(zoo, path, content, complaint):
    with pytest.raises(CounterpartError) as raised:
        imported(zoo, path, content)
    assert str(raised.value).startswith(complaint)
    assert "\n" not in str(raised.value)
    assert keys() == set()


@pytest.mark.parametrize(
    ("source", "more", "complaint"),
    [
        ("x" * 81, {}, "1 to 80"),
        ("other", {"direction": "both"}, "Invalid direction 'both': pass i2t or t2i"),
        ("other", {"direction": "i2t"}, "Omit --direction"),
    ],
)
def test_a_wish_that_makes_no_sense_is_refused(zoo, path, source, more, complaint):
    with pytest.raises(CounterpartError, match=complaint):
        imported(zoo, path, "image,caption\n0,3\n", source=source, **more)


@pytest.mark.parametrize(
    "content",
    [
        "Image ID;Caption-Id;note\n0;5;\n1.0;7.0;a, b\n",
        "file_name\tsentid\n.\\0.jpg\tx:sentid:5\n./1.jpg\t7\n",
        "\ufeffimage,caption\r0,5\r\u200b1 ,7\ufeff\r",
        "5 0 0 1\n7 0 1 1\n",
        '{"5.0": [0], "7.0": [1]}',
        "query-id\tcorpus-id\tscore\ncaption-5\timage-0\t1\ncaption-7\timage-1\t1\n",
        '{"image_id": 0, "caption_id": 5}\n{"image_id": 1.0, "caption_id": "7"}\n',
        '[{"iid": 0, "cid": 5}, {"iid": 1, "cid": 7}]',
        '{"images": [], "annotations": [{"image_id": 0, "caption_id": 5, "caption": "a cat"}],'
        ' "negatives": [{"image_id": 1, "caption_id": 7, "caption": "a dog"}]}',
    ],
)
def test_the_same_pairs_are_read_from_every_form(zoo, path, content):
    assert imported(zoo, path, content).added == 2
    assert keys() == {("0", "5"), ("1", "7")}


def test_labels_say_what_is_a_match_and_what_was_judged_to_be_none(zoo, path):
    path = path.with_name("v1_image_to_caption_graded.qrels")
    imported(zoo, path, "0 0 5 2\n0 0 7 1\n1 0 5 0\n", source="graded")
    imported(zoo, path.with_name("i2t.qrels"), "0 0 5 1\n1 0 5 0\n", source="strict")
    pairs = "image,caption,positive,level,votes,sources\n0,5,1,1,3,\n0,7,1,4,3,cxc\n1,5,0,3,3,\n1,7,0,,,automatic\n"
    summary = imported(zoo, path.with_name("pairs.csv"), pairs, source="v1")
    assert "1 that a program rejected left out; 1 column not read: votes" in str(summary)
    rows = Match.objects.exclude(source="original").order_by("pk")
    assert list(rows.values_list("source", "image__key", "caption__key", "score", "grade")) == [
        *(("graded", "0", "5", 2, 1), ("graded", "0", "7", 1, 2), ("graded", "1", "5", 0, 4)),
        *(("strict", "0", "5", 1, None), ("strict", "1", "5", 0, 4)),
        *(("v1", "0", "5", 1, 1), ("v1", "0", "7", 1, None), ("v1", "1", "5", 0, 3)),
    ]


def test_a_folder_is_read_where_it_has_one_file_of_matches_or_one_a_direction(zoo, tmp_path):
    written(tmp_path / "v1_image_to_caption.json", {"0": [5]})
    written(tmp_path / "v1_caption_to_image.json", {"7": [1]})
    written(tmp_path / "README.md", "a version")
    assert import_matches(zoo, source="v1", path=tmp_path).added == 2
    archive = make_archive(str(tmp_path.with_suffix(".packed")), "zip", tmp_path)
    assert import_matches(zoo, source="v1", path=Path(archive)).there == 2
    written(tmp_path / "v2_image_to_caption.json", {"0": [5]})
    with pytest.raises(CounterpartError, match="has 3 files of matches: v1_caption_to_image.json, v1_image"):
        import_matches(zoo, source="v2", path=tmp_path)


def test_an_image_is_found_by_the_last_part_of_its_name_in_any_unicode_form(zoo, path):
    zoo.images.filter(key="1").update(file_name="train/caf\u00e9.jpg")
    imported(zoo, path, "image,caption\ncafe\u0301.jpg,3\n")
    assert keys() == {("1", "3")}


@pytest.mark.shared
def test_matches_that_people_bring_are_read(db, shared):
    files = sorted((shared / "fixtures" / "intake" / "matches").iterdir())
    collection = make_collection(images=3)
    for image, key in zip(collection.images.order_by("pk"), ("100277", "103427", "105492"), strict=True):
        collection.images.filter(pk=image.pk).update(key=key)
    for caption, key in zip(
        collection.captions.order_by("pk"), ["1268090", "1335922", "1390957", "5036197", "1759540", "1"], strict=True
    ):
        collection.captions.filter(pk=caption.pk).update(key=key)
    added = {file.name: import_matches(collection, source=file.name, path=file).added for file in files}
    assert added == {file.name: 6 for file in files}


def test_known_pairs_are_row_ids_in_order(zoo, path):
    imported(zoo, path, "image,caption\n2,1\n0,5\n0,3\n")
    image, caption = ({row.key: row.pk for row in rows.all()} for rows in (zoo.images, zoo.captions))
    expected = [(image["0"], caption["3"]), (image["0"], caption["5"]), (image["2"], caption["1"])]
    pairs = known_pairs(zoo, "other")
    assert pairs.dtype == np.int64
    np.testing.assert_array_equal(pairs, expected)


def test_thresholds_keep_what_is_good_enough(zoo, path):
    imported(zoo, path, "image,caption,score,grade\n0,1,2.99,3\n0,2,3,2\n0,3,,\n0,4,5,1\n")
    captions = dict(zoo.captions.values_list("pk", "key"))

    def chosen(**thresholds) -> list[str]:
        return [captions[pk] for _, pk in known_pairs(zoo, "other", **thresholds).tolist()]

    assert chosen(min_score=3) == ["2", "4"]
    assert chosen(max_grade=2) == ["2", "3", "4"]
    assert chosen(max_grade=3, min_score=5) == ["4"]
    assert len(chosen()) == 4


def test_an_unknown_source_is_answered_with_those_there_are(zoo, path):
    imported(zoo, path, json.dumps({"7": [0]}))
    with pytest.raises(CounterpartError, match="'cxc'; .*: original, other"):
        known_pairs(zoo, "cxc")
