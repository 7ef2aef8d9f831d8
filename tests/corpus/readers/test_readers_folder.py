import pytest

from core.errors import CounterpartError
from tests.corpus.files import picture_folder, records_of, written


@pytest.fixture
def folder(tmp_path):
    return picture_folder(tmp_path / "zoo", "b.jpg", "a.JPG", "cubs/c.png")


def test_each_line_of_a_pictures_text_is_a_caption(folder):
    written(folder / "a.txt", "a cat \n\n another cat\n")
    written(folder / "cubs" / "c.txt", "a cub")
    written(folder / "b.txt", "a bear")
    assert [(r.image, r.caption, r.text) for r in records_of("folder", folder)] == [
        ("a.JPG", "a.JPG#0", "a cat "),
        ("a.JPG", "a.JPG#1", " another cat"),
        ("b.jpg", "b.jpg#0", "a bear"),
        ("cubs/c.png", "cubs/c.png#0", "a cub"),
    ]


def test_a_picture_without_a_text_is_bare(folder):
    written(folder / "a.txt", "a cat")
    assert [r.image for r in records_of("folder", folder) if r.text is None] == ["b.jpg", "cubs/c.png"]


def test_captions_come_from_a_csv_with_ids_and_splits(folder):
    written(folder / "captions.csv", 'file_name,text,caption_id,split\na.JPG,"a cat,\nasleep",c1,train\n')
    first, *bare = records_of("folder", folder)
    assert first == ("a.JPG", "a.JPG", "c1", "a cat,\nasleep", "train")
    assert [record.image for record in bare] == ["b.jpg", "cubs/c.png"]


def test_a_row_without_text_gives_a_picture_its_split(folder):
    written(folder / "captions.csv", "file_name,text,split\na.JPG,a cat,test\nb.jpg,,val\ngone.jpg,,val\n")
    assert [(r.image, r.text, r.split) for r in records_of("folder", folder)] == [
        ("a.JPG", "a cat", "test"),
        ("b.jpg", None, "val"),
        ("cubs/c.png", None, ""),
    ]


def test_a_csv_without_ids_counts_an_images_captions(folder):
    written(folder / "list.csv", "file,title,description\nb.jpg,B,a bear\na.JPG,A,\nb.jpg,B,two bears\n")
    keys = [record.caption for record in records_of("folder", folder) if record.text]
    assert keys == ["b.jpg#0", "b.jpg#1"]


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ("file,words\na.JPG,b\n", "captions.csv has no column for text"),
        ("file,text\na.JPG\n", "captions.csv, line 2: 1 field, but the header has 2."),
        ('file,text\na.JPG,"a cat', "captions.csv, line 2: not valid CSV (unexpected end of data)."),
        ("file,text\n,a cat", "captions.csv, line 2: the image of this caption has no id."),
    ],
)
def test_a_bad_table_is_refused_in_one_line(folder, table, complaint):
    written(folder / "captions.csv", table)
    with pytest.raises(CounterpartError) as raised:
        (records_of("folder", folder))
    assert str(raised.value).startswith(complaint)


@pytest.mark.parametrize(
    ("files", "path", "message"),
    [
        (["one.csv", "two.csv"], ".", "2 tables of captions: one.csv, two.csv"),
        (["d.txt", "readme.txt"], ".", "d.txt: no picture has the name"),
        ([], "b.jpg", "is not a folder"),
    ],
)
def test_what_cannot_be_read_as_a_folder_is_named(folder, files, path, message):
    for name in files:
        written(folder / name, "file,text\n" if name.endswith("csv") else "a cat\n")
    with pytest.raises(CounterpartError, match=message):
        (records_of("folder", folder / path))


def test_the_token_file_is_keyed_by_file_name_and_place(tmp_path):
    path = written(tmp_path / "results.token", "1000.jpg#0\tTwo young guys .\n1000.jpg#1\t A # sign\tand a tab \n")
    assert (records_of("flickr", path)) == [
        ("1000.jpg", "1000.jpg", "1000.jpg#0", "Two young guys .", ""),
        ("1000.jpg", "1000.jpg", "1000.jpg#1", " A # sign\tand a tab ", ""),
    ]


def test_the_csv_with_bars_gives_the_same_records(tmp_path):
    barred = "image_name| comment_number| comment\n1000.jpg| 0| Two young guys .\n1000.jpg| 1| He said | so, too\n"
    first, second = records_of("flickr", written(tmp_path / "results.csv", barred))
    assert first == ("1000.jpg", "1000.jpg", "1000.jpg#0", "Two young guys .", "")
    assert second.text == "He said | so, too"


def test_the_published_row_without_its_second_bar_is_read(tmp_path):
    barred = "image_name| comment_number| comment\n2199200615.jpg| 4   A dog runs\n"
    [record] = records_of("flickr", written(tmp_path / "results.csv", barred))
    assert (record.caption, record.text.strip()) == ("2199200615.jpg#4", "A dog runs")


@pytest.mark.parametrize("bad", ["1000.jpg\tno place", "1000.jpg#x\tno number", "1000.jpg#1", "1000.jpg#1\t"])
def test_a_line_of_another_form_is_named_by_its_number(tmp_path, bad):
    with pytest.raises(CounterpartError, match=r"^results.token, line 2: "):
        (records_of("flickr", written(tmp_path / "results.token", f"1000.jpg#0\tfine\n{bad}\n")))
