"""Vocabularies of PVSE, VSRN, PCME and VSE++: Penn Treebank tokens by number, and published vocabulary files."""

import pickle
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from counterpart_metrics.errors import CounterpartError, some_of
from counterpart_metrics.json_gate import read_json

if TYPE_CHECKING:
    from nltk.tokenize.destructive import NLTKWordTokenizer


PAD = "<pad>"
START = "<start>"
END = "<end>"
UNKNOWN = "<unk>"
SPECIALS = (PAD, START, END, UNKNOWN)
CACHED = 2**15  # captions whose tokens are cached: training reads them in every epoch
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True)
class Vocabulary:
    """The words of one annotator in the order of their ids; the first four are the special tokens."""

    words: tuple[str, ...]

    @classmethod
    def learn(cls, texts: Sequence[str], at_least: int = 1) -> "Vocabulary":
        """Return the tokens that occur ``at_least`` times in the texts, sorted."""
        used = Counter(token for text in texts for token in tokens_of(text))
        return cls((*SPECIALS, *sorted(token for token, times in used.items() if times >= at_least)))

    def __len__(self) -> int:
        return len(self.words)

    def ids_of(self, text: str) -> list[int]:
        """Return the ids of a caption, start and end included; unknown words become ``<unk>``."""
        unknown = self._ids[UNKNOWN]
        return [self._ids[START], *(self._ids.get(token, unknown) for token in tokens_of(text)), self._ids[END]]

    def batch(self, texts: Sequence[str]) -> tuple[Tensor, Tensor]:
        """Return the ids of B captions, int64 (B, L), padded with zeros, and their lengths, (B,)."""
        rows = [torch.tensor(self.ids_of(text)) for text in texts]
        ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
        return ids, torch.tensor([len(row) for row in rows])

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {word: place for place, word in enumerate(self.words)}


@lru_cache(maxsize=CACHED)
def tokens_of(text: str) -> tuple[str, ...]:
    """Return the lower-cased tokens of a caption as NLTK's ``word_tokenize`` makes them.

    Sentences are split here after a full stop, exclamation or question mark before white space, where NLTK uses a
    trained model that must be downloaded. The two differ after abbreviations.
    """
    sentences = SENTENCE_END.split(text.lower().strip())
    return tuple(token for sentence in sentences for token in _tokeniser().tokenize(sentence))


def as_bytes(text: str) -> str:
    """Return a caption as Python 3 prints its bytes, ``b'a man'``, which HAL's published models were trained on."""
    return str(text.encode())


@cache
def _tokeniser() -> "NLTKWordTokenizer":
    # NLTK takes a second to import; work on pictures alone does not need it.
    from nltk.tokenize.destructive import NLTKWordTokenizer

    return NLTKWordTokenizer()


CLASS = "Vocabulary"


def forgetful(token_ids: Tensor, lengths: Tensor, share: float) -> tuple[Tensor, Tensor]:
    """Make a random ``share`` of the words of captions (B, L) unknown, then drop as many; both rounded down.

    Start and end of a caption stay.
    """
    rows = []
    for row, length in zip(token_ids, lengths.tolist(), strict=True):
        words = row[1 : length - 1]
        words = words.masked_fill(torch.rand(len(words)).to(words.device) < share, SPECIALS.index(UNKNOWN))
        kept = torch.randperm(len(words))[int(share * len(words)) :].sort().values.to(words.device)
        rows.append(torch.cat([row[:1], words[kept], row[length - 1 : length]]))
    shorter = torch.tensor([len(row) for row in rows])
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True), shorter


def read_vocabulary(path: Path) -> Vocabulary:
    """Read ``word2idx`` from a pickle of an object of class ``Vocabulary``, of a dict, or from JSON.

    No other class in a pickle is looked up, and this class is replaced by one without behaviour. Texts that Python 2
    pickled are UTF-8. Raises CounterpartError for an invalid vocabulary.
    """
    try:
        if path.suffix == ".json":
            read = read_json(path.read_bytes())
        else:
            with path.open("rb") as file:
                read = _Unpickler(file, encoding="utf-8").load()
    except FileNotFoundError:
        raise CounterpartError(f"No vocabulary file at {path}; check the option vocabulary.") from None
    except pickle.UnpicklingError as error:
        raise CounterpartError(f"{path} cannot be read as a vocabulary: {error}. Download it again.") from error
    except Exception as error:  # pickle raises nearly any exception on broken bytes
        raise CounterpartError(
            f"{path} cannot be read as a vocabulary ({type(error).__name__}); pass a pickle or JSON with word2idx."
        ) from error
    fields = read if isinstance(read, dict) else getattr(read, "__dict__", {})
    return vocabulary_of(fields.get("word2idx"), str(path))


def vocabulary_of(word_ids: object, where: str) -> Vocabulary:
    """Return the vocabulary of a dict of words to ids.

    Raises CounterpartError unless ids count up from 0, each once, with the four special words first. ``where`` names
    the file.
    """
    if not isinstance(word_ids, Mapping) or not all(isinstance(word, str) for word in word_ids):
        raise CounterpartError(f"{where} has no dict word2idx from words to ids; pass the vocabulary of these weights.")
    if sorted(word_ids.values(), key=str) != sorted(range(len(word_ids)), key=str):
        raise CounterpartError(f"{where}: the ids of its {len(word_ids)} words must count up from 0, each once.")
    words = tuple(sorted(word_ids, key=lambda word: word_ids[word]))
    if words[: len(SPECIALS)] != SPECIALS:
        raise CounterpartError(
            f"{where} must start with {' '.join(SPECIALS)}, not with {some_of(words[: len(SPECIALS)])}."
        )
    return Vocabulary(words)


class _Placeholder:
    """Replaces the class Vocabulary of a pickle: its fields and nothing else."""


class _Unpickler(pickle.Unpickler):
    def find_class(self, module_name: str, global_name: str, /) -> Any:
        if global_name != CLASS:
            raise pickle.UnpicklingError(
                f"it contains {module_name}.{global_name}, which is not a vocabulary; nothing was run"
            )
        return _Placeholder
