"""Stored names and values in the words of pages."""

import pytest

from console.templatetags.console import code, words


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        ("positive_levels", "positive levels"),
        ("i2t", "image → captions"),
        ({"t2i": 7}, "caption → images 7"),
        ("9f" * 32, "9f9f9f9f9f9f…"),
        ("demo-V2", "demo-V2"),
        ([], "–"),
        (False, "no"),
    ],
)
def test_a_stored_value_is_shown_in_words(stored, message):
    assert words(stored) == message


def test_text_between_backticks_is_code_and_all_is_escaped():
    assert code("a <b> of ``x`` and `<y>`") == "a &lt;b&gt; of <code>x</code> and <code>&lt;y&gt;</code>"
