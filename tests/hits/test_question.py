"""The words that decide what a level means are fixed once a round could be packed with them."""

from hashlib import sha256

from hits.question import WORDINGS, Level, Shortcoming
from hits.task_types import TASK_TYPES

RELEASED = {
    "levels": {1: "fa5f0c5f5e64", 2: "186ee2953b4c", 3: "19ec90ca73b8"},
    "checkbox": {1: "8bf0c00c4c54"},
    "expert": {1: "2dc6612350f9"},
    "determinate": {1: "ce08112eda69", 2: "97e2c3ebe0d7"},
    "caption": {1: "26df65e6f0b9"},
    "preference": {1: "6b5bc26e5df1"},
}


def test_a_version_is_never_changed():
    written = {
        name: {
            version: repr((words.levels, words.why, words.shortcomings, *words.examples, *words.rules))
            for version, words in task.wordings.items()
        }
        for name, task in TASK_TYPES.items()
    }
    digests = {
        name: {version: sha256(text.encode()).hexdigest()[:12] for version, text in texts.items()}
        for name, texts in written.items()
    }
    assert digests == RELEASED, f"add digests of a new type, or version, to RELEASED in {__file__}; change none there"


def test_every_version_explains_all_levels_and_shortcomings():
    for words in WORDINGS.values():
        assert (list(words.levels), list(words.shortcomings)) == ([*Level], [*Shortcoming])
