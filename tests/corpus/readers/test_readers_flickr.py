import pytest

from core.errors import CounterpartError
from corpus.readers.flickr import read_flickr
from tests.corpus.files import written


def test_the_token_file_is_keyed_by_file_name_and_place(tmp_path):
    path = written(tmp_path / "results.token", "1000.jpg#0\tTwo young guys .\n1000.jpg#1\t A # sign\tand a tab \n")
    assert list(read_flickr(path)) == [
        ("1000.jpg", "1000.jpg", "1000.jpg#0", "Two young guys .", ""),
        ("1000.jpg", "1000.jpg", "1000.jpg#1", " A # sign\tand a tab ", ""),
    ]


def test_the_csv_with_bars_gives_the_same_records(tmp_path):
    barred = "image_name| comment_number| comment\n1000.jpg| 0| Two young guys .\n1000.jpg| 1| He said | so, too\n"
    first, second = read_flickr(written(tmp_path / "results.csv", barred))
    assert first == ("1000.jpg", "1000.jpg", "1000.jpg#0", "Two young guys .", "")
    assert second.text == "He said | so, too"


def test_the_published_row_without_its_second_bar_is_read(tmp_path):
    barred = "image_name| comment_number| comment\n2199200615.jpg| 4   A dog runs\n"
    [record] = read_flickr(written(tmp_path / "results.csv", barred))
    assert (record.caption, record.text.strip()) == ("2199200615.jpg#4", "A dog runs")


@pytest.mark.parametrize("bad", ["1000.jpg\tno place", "1000.jpg#x\tno number", "1000.jpg#1", "1000.jpg#1\t"])
def test_a_line_of_another_form_is_named_by_its_number(tmp_path, bad):
    with pytest.raises(CounterpartError, match=r"^results.token, line 2: "):
        list(read_flickr(written(tmp_path / "results.token", f"1000.jpg#0\tfine\n{bad}\n")))
