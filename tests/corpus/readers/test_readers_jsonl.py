import pytest

from core.errors import CounterpartError
from tests.corpus.files import jsonl, line, records_of, written, zipped


@pytest.fixture
def path(tmp_path):
    return tmp_path / "captions.jsonl"


def test_numbers_become_keys_texts_stay_verbatim_and_a_line_without_caption_and_id_is_a_bare_image(path):
    [record] = records_of("jsonl", jsonl(path, line(7, 391895, " A man\n on a moped. ", "a.jpg", split="test")))
    assert record == ("391895", "a.jpg", "7", " A man\n on a moped. ", "test")
    [record] = records_of("jsonl", jsonl(path, line(None, 10, None, split="val")))
    assert record == ("10", "10.jpg", "", None, "val")


def test_captions_without_ids_have_the_same_keys_every_time_and_equal_ones_are_two(path):
    jsonl(path, line(None, 10, "a cat"), line(None, 10, "a dog"), line(None, 11, "a cat"))
    keys = [record.caption for record in records_of("jsonl", path)]
    assert len(set(keys)) == 3
    assert keys == [record.caption for record in records_of("jsonl", path)]
    assert keys[0].startswith("10-")
    first, second = records_of("jsonl", jsonl(path, line(None), line(None)))
    assert second.caption == f"{first.caption}-2"


def test_blank_lines_and_a_byte_order_mark_are_passed_over(path):
    path.write_bytes(b"\xef\xbb\xbf" + jsonl(path, line()).read_bytes() + b"\n\n")
    assert len(records_of("jsonl", path)) == 1


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ('{"caption_id": 1, "image_id"', "line 2: not valid JSON (Expecting ':' delimiter at character 29)."),
        ("[1]", "row 2: not a JSON object"),
        ('{"caption_id": 1, "text": "a"}', "line 2: the image of this caption has no id."),
        (line(image=None, file_name="a"), "line 2: the image of this caption has no id."),
        (line(text=""), "line 2: the caption has no text."),
        (line(text=" \u2003\t"), "line 2: the caption has no text."),
        (line(text="a" * 10_001), "line 2: the caption has 10,001 characters, more than 10,000."),
        (line(text=None), "line 2: the caption has no text."),
        (line(caption=1.5), "line 2: the id of the caption is missing or not a string."),
        (line(caption=True), "line 2: the caption has no id."),
        (line(caption="x" * 121), "line 2: the id of the caption has 121 characters, more than 120."),
        (line(file_name=""), "line 2: the file name is missing or not a string."),
        (line(text="a\0b"), "line 2: it has a NUL character"),
        (line(text="a\ud800b"), "line 2: it has half of a surrogate pair"),
        ("[" * 100_000, "line 2: "),
    ],
)
def test_a_bad_line_is_named_by_its_number(path, content, complaint):
    jsonl(path, line(0))
    bad = content if isinstance(content, str) else jsonl(path.with_name("bad"), content).read_text()
    written(path, path.read_text() + bad)
    with pytest.raises(CounterpartError) as raised:
        (records_of("jsonl", path))
    assert str(raised.value).startswith(f"captions.jsonl, {complaint}")
    assert "\n" not in str(raised.value)


def test_a_cut_gzip_is_named(path):
    content = jsonl(path, *(line(i, text=str(i) * 50) for i in range(500))).read_bytes()
    zipped(path, content).write_bytes(path.read_bytes()[:-40])
    with pytest.raises(CounterpartError, match="captions.jsonl is cut short"):
        (records_of("jsonl", path))


def test_a_file_that_is_not_there_or_is_not_utf8_is_named(path):
    with pytest.raises(CounterpartError, match="Cannot read .*captions.jsonl"):
        (records_of("jsonl", path))
    path.write_bytes('{"text": "café"}'.encode("latin-1"))
    with pytest.raises(CounterpartError, match="not UTF-8 text"):
        (records_of("jsonl", path))
