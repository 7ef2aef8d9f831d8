"""What the gate for untrusted text lets through, and what not."""

import json
import re
from io import BytesIO
from pathlib import Path

import pytest
from django.conf import settings
from hypothesis import given
from hypothesis import strategies as st

from core.errors import CounterpartError
from core.untrusted import BoundedJson, json_items, read_json, unstorable, whole_number
from tests.hostile import IN_JSON, survives

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(1 - 2**63, 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("ab\\\"u[{"), inner),
    max_leaves=12,
)  # fmt: skip


@given(VALUES, st.booleans())
def test_json_reads_as_it_was_written(value, in_ascii):
    text = json.dumps(value, ensure_ascii=in_ascii)
    assert read_json(text) == read_json(text.encode()) == json.loads(text)


@given(VALUES, st.integers(1, 9))
def test_a_stream_reads_as_the_whole(value, size):
    text = json.dumps([value]).encode()
    stream = BoundedJson("a.json", BytesIO(text))
    assert b"".join(iter(lambda: stream.read(size), b"")) == text
    assert list(json_items("a.json", BytesIO(text), "item")) == [value]


@pytest.mark.parametrize("value", IN_JSON.values(), ids=IN_JSON)
@pytest.mark.parametrize("around", [b"%s", b'{"a": [%s]}', b'["\\\\", %s]'])
def test_hostile_json_is_refused_whole_and_as_a_stream(value, around):
    text = around.replace(b"%s", value)
    with pytest.raises(ValueError, match=r"."):
        read_json(text)
    assert survives(lambda: json_items("a.json", BytesIO(b"[" + text + b"]"), "item"))


@given(st.text('\\ud8c0/"', max_size=14))
def test_escapes_are_judged_as_python_reads_them(inside):
    text = f'"{inside}"'
    try:
        stored = not unstorable(json.loads(text))
    except ValueError:
        return
    if stored:
        assert read_json(text) == json.loads(text)
    else:
        with pytest.raises(ValueError, match="NUL|surrogate"):
            read_json(text)


def test_a_whole_number_beyond_64_bits_is_a_float_as_in_other_languages():
    assert read_json("[9223372036854775807, 9223372036854775808]") == [2**63 - 1, 2.0**63]


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0), ("007", 7), ("9" * 18, 10**18 - 1), ("9" * 19, None), ("9" * 5_000, None), ("٣", None), ("²", None)]
    + [(text, None) for text in ("", "-1", "+1", " 1", "1_0", "1.0")],
)
def test_whole_numbers_are_ascii_digits_that_a_database_stores(text, number):
    assert whole_number(text) == number


def test_what_an_error_quotes_can_be_stored_and_shown():
    assert str(CounterpartError("no image a\0b\ud800\x1b[31m\r, 네")) == r"no image a\x00b\ud800\x1b[31m\x0d, 네"


OURS = {
    "annotation/people/guides.py": "rows of the database",
    "annotation/people/erasure.py": "rows of the database",
    "console/inventory.py": "an answer of the API, written a line before",
    "core/files/archives.py": "a backup, whose manifest is ours",
    "core/files/stored_files.py": "files that were stored and checked by their SHA-256",
    "corpus/galleries/item_parts.py": "a stored manifest",
    "dataset/exports/card.py": "an export that was just written",
    "dataset/exports/eccv_json.py": "a released file, checked by its SHA-256",
    "dataset/versions/rejections.py": "a released file, checked by its SHA-256",
    "dataset/versions/review_rows.py": "a released file, checked by its SHA-256",
    "dataset/versions/version_files.py": "a released file, checked by its SHA-256",
    "packages/annotators/counterpart_annotators/nn/families.py": "a stored annotator",
    "packages/annotators/counterpart_annotators/nn/preparation.py": "a stored annotator",
    "packages/annotators/counterpart_annotators/nn/tokenisers.py": "what the tokeniser library wrote",
    "packages/statistics/counterpart_statistics/auditing/plan_basis.py": "rows of the database",
    "mitl/search/plans.py": "a task of our own",
    "packages/annotators/counterpart_annotators/training/loop.py": "a stored run of training",
}
"""Modules that parse text of our own with Python's parsers. Everything else is read through core/untrusted.py,
and JSON through counterpart_metrics.json_gate."""
GATE = {"core/untrusted.py"}
OUTSIDE = ("benchmarks/", "docs/", "packages/client/", "packages/emulators/", "packages/metrics/", "tests/")
"""What does not belong to the site's process, and the package that has the gate for JSON."""
PARSING = re.compile(
    r"import ijson|\bjson\.loads?\(|\bcsv\.(?:reader|DictReader)\(|from (?:json|csv) import (?!JSONDecodeError)"
)
NUMBERS = re.compile(
    r"\b(?:int|float|Decimal|fromisoformat|strptime)\([^()]*\brequest\.|\.is(?:digit|decimal|numeric)\(\)"
)


def modules_with(pattern: re.Pattern[str]) -> set[str]:
    root = Path(settings.BASE_DIR)
    names = [path.relative_to(root) for path in root.glob("[!.]*/**/*.py")]
    ours = [name.as_posix() for name in names if name.parts[0] != "var" and not {"migrations", "tests"} & {*name.parts}]
    return {
        name for name in ours if not name.startswith(OUTSIDE) and pattern.search((root / name).read_text("utf-8"))
    } - GATE


def test_only_the_gate_parses_what_others_send():
    assert modules_with(PARSING) == set(OURS)


def test_only_the_gate_makes_numbers_of_what_people_send():
    assert modules_with(NUMBERS) == {"config/web_worker.py"}, "which counts bytes before there is any text"
