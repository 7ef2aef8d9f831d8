"""One rule reads tables: any encoding mark, line end, separator, letter case and synonym gives the same rows."""

import csv
import io
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from core.errors import CounterpartError
from corpus.tables import CAPTION_ID, IMAGE, read_rows
from counterpart_metrics.table_rows import SCORE

WANTED = {"image": IMAGE, "caption": CAPTION_ID, "score": SCORE}
CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12).filter(
    lambda cell: cell.strip() and not cell.startswith("sep=")
)
STYLES = st.sampled_from([str.upper, str.title, lambda name: name.replace("_", " "), lambda name: f" {name}\u200b"])


def written(rows: Sequence[Sequence[str]], header: Sequence[str], separator: str, end: str) -> str:
    text = io.StringIO()
    broken = any(set("\r\n") & set(cell) for row in rows for cell in row)  # which old writers do not enclose
    quoting = csv.QUOTE_ALL if broken else csv.QUOTE_MINIMAL
    writer = csv.writer(text, delimiter=separator, lineterminator=end, quoting=quoting)
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


@given(
    pairs=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=6),
    names=st.tuples(st.sampled_from(IMAGE), st.sampled_from(CAPTION_ID), st.just("further")),
    style=STYLES,
    separator=st.sampled_from(",\t;|"),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    mark=st.sampled_from(["", "\ufeff"]),
)
def test_every_way_to_write_a_table_reads_to_the_same_rows(pairs, names, style, separator, end, mark):
    rows = [(*pair, "x") for pair in pairs]
    header = [style(name) for name in names]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pairs.txt"
        file.write_bytes((mark + written(rows, header, separator, end)).encode())
        read = [(row["image"], row["caption"]) for _, row in read_rows(file, WANTED, required=["image", "caption"])]
        file.write_text("\n".join(json.dumps(dict(zip(names, row, strict=True))) for row in rows))
        in_lines = [(row["image"], row["caption"]) for _, row in read_rows(file, WANTED)]
        parquet.write_table(pa.table(dict(zip(names, zip(*rows, strict=True), strict=True))), file)
        in_parquet = [(row["image"], row["caption"]) for _, row in read_rows(file, WANTED)]
    assert read == in_lines == in_parquet == pairs


@pytest.mark.parametrize(
    ("content", "captions"),
    [
        ('image_id\tcaption_id\n1\t"Stop" says it\n2\t5" nails\n', ['"Stop" says it', '5" nails']),
        ("sep=;\nImage ID;Caption-Id\n1;a, b\n2;c, d, e\n\n;\n", ["a, b", "c, d, e"]),
    ],
)
def test_signs_in_the_texts_are_neither_quotes_nor_separators(tmp_path, content, captions):
    (tmp_path / "pairs").write_text(content)
    assert [row["caption"] for _, row in read_rows(tmp_path / "pairs", WANTED)] == captions


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "t.csv is empty"),
        (b"picture,words\n1,2\n", r"no column for caption \(caption_id, .*\)\. Its columns are: picture, words\."),
        (b"image_id,Image ID,caption_id\n1,1,2\n", "has 2 columns image_id"),
        (b"image,caption_id\n1,2\n3\n", "t.csv, line 3: 1 field, but the header has 2"),
        (b"image,caption_id\n1,2\x00\n", "line 2: it contains a NUL character"),
        ("image,caption_id\n1,2\n".encode("utf-16"), r"t.csv is UTF-16 text\. Convert it to UTF-8 first\."),
        ("image,caption_id\n1,2\n".encode("utf-16-be"), "t.csv is UTF-16 text"),
        ("image,caption_id\n1,2\n".encode("utf-32"), "t.csv is UTF-32 text"),
        ("image,caption_id\n1,café\n".encode("latin-1"), r"not UTF-8 text \(byte 22 is 0xE9, é in Latin-1\)"),
        (b"PK\x03\x04" + bytes(70), r"t.csv is an Excel file or a zip archive\. Save its sheet as CSV"),
        (b"<!DOCTYPE html>\n<html>", "t.csv is a web page. Download the file again"),
        (b"PAR1....", "t.csv is cut short or damaged"),
        (b'[{"image": 1}, 2]', "t.csv, row 2: not a JSON object"),
    ],
)
def test_what_is_not_such_a_table_is_named_in_one_line(tmp_path, content, message):
    file = tmp_path / "t.csv"
    file.write_bytes(content)
    with pytest.raises(CounterpartError, match=message) as raised:
        list(read_rows(file, WANTED, required=["image", "caption"] if b"[" not in content else []))
    assert "\n" not in str(raised.value)
