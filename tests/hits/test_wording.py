"""The words that decide what a level means are fixed once a round could be packed with them."""

from hashlib import sha256

from hits.question import Level, Shortcoming
from hits.wording import LATEST, WORDINGS

RELEASED = {1: "fa5f0c5f5e64", 2: "186ee2953b4c", 3: "19ec90ca73b8"}


def test_a_version_is_never_changed():
    written = {
        version: repr((words.levels, words.why, words.shortcomings, *words.examples))
        for version, words in WORDINGS.items()
    }
    assert {version: sha256(text.encode()).hexdigest()[:12] for version, text in written.items()} == RELEASED


def test_every_version_explains_all_levels_and_shortcomings():
    for words in WORDINGS.values():
        assert (list(words.levels), list(words.shortcomings)) == ([*Level], [*Shortcoming])


def test_workers_see_an_example_of_every_level():
    assert {example.level for example in WORDINGS[LATEST].examples} == {*Level}
