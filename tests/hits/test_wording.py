"""The words that decide what a level means are fixed once a round could be packed with them."""

from hashlib import sha256

from hits.question import Level, Shortcoming
from hits.wording import WORDINGS

RELEASED = {1: "fa5f0c5f5e64", 2: "186ee2953b4c"}


def test_a_version_is_never_changed():
    written = {version: repr((words.levels, words.why, words.shortcomings)) for version, words in WORDINGS.items()}
    assert {version: sha256(text.encode()).hexdigest()[:12] for version, text in written.items()} == RELEASED


def test_every_version_explains_all_levels_and_shortcomings():
    for words in WORDINGS.values():
        assert (list(words.levels), list(words.shortcomings)) == ([*Level], [*Shortcoming])
