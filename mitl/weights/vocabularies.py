"""Vocabularies as their authors published them: a pickled object, a pickled dict, or JSON."""

import json
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.errors import CounterpartError, some_of
from mitl.language.words import SPECIALS, Vocabulary

CLASS = "Vocabulary"


def read_vocabulary(path: Path) -> Vocabulary:
    """Read ``word2idx`` from a pickle of an object of class ``Vocabulary``, of a dict, or from JSON.

    No other class in a pickle is so much as looked up, and the class itself is a stand-in without behaviour. Texts
    that Python 2 pickled are UTF-8. Raises CounterpartError for whatever is no vocabulary.
    """
    try:
        read = json.loads(path.read_text("utf-8")) if path.suffix == ".json" else _unpickled(path)
    except FileNotFoundError:
        raise CounterpartError(f"There is no vocabulary at {path}; check the option vocabulary.") from None
    except pickle.UnpicklingError as error:
        raise CounterpartError(f"{path} cannot be read as a vocabulary: {error}. Fetch it again.") from error
    except Exception as error:  # on broken bytes pickle raises nearly anything
        raise CounterpartError(
            f"{path} cannot be read as a vocabulary ({type(error).__name__}); pass a pickle or JSON with word2idx."
        ) from error
    fields = read if isinstance(read, dict) else getattr(read, "__dict__", {})
    return vocabulary_of(fields.get("word2idx"), str(path))


def vocabulary_of(word_ids: object, where: str) -> Vocabulary:
    """Return the vocabulary of a dict of words to ids.

    Raises CounterpartError unless ids run from 0 on, each once, with the four special words first. ``where`` names
    where the dict stands.
    """
    if not isinstance(word_ids, Mapping) or not all(isinstance(word, str) for word in word_ids):
        raise CounterpartError(f"{where} has no dict word2idx of words to ids; pass the vocabulary of these weights.")
    if sorted(word_ids.values(), key=str) != sorted(range(len(word_ids)), key=str):
        raise CounterpartError(f"{where}: the ids of {len(word_ids)} words must run from 0 on, each once.")
    words = tuple(sorted(word_ids, key=lambda word: word_ids[word]))
    if words[: len(SPECIALS)] != SPECIALS:
        raise CounterpartError(
            f"{where} must begin with {' '.join(SPECIALS)}, not with {some_of(words[: len(SPECIALS)])}."
        )
    return Vocabulary(words)


class _StandIn:
    """What an object of class Vocabulary becomes: its fields and nothing else."""


class _Unpickler(pickle.Unpickler):
    def find_class(self, module_name: str, global_name: str, /) -> Any:
        if global_name != CLASS:
            raise pickle.UnpicklingError(
                f"it holds {module_name}.{global_name}, which is no vocabulary; it was not run"
            )
        return _StandIn


def _unpickled(path: Path) -> object:
    with path.open("rb") as file:
        return _Unpickler(file, encoding="utf-8").load()
