"""Words as PVSE, VSRN, PCME and VSE++ take them: the tokens of the Penn Treebank, numbered by a vocabulary."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from nltk.tokenize.destructive import NLTKWordTokenizer

SPECIALS = PAD, START, END, UNKNOWN = "<pad>", "<start>", "<end>", "<unk>"
KEPT = 2**15  # captions whose tokens are kept: a small collection is read in every epoch of a training
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True)
class Vocabulary:
    """The words of one machine in the order of their ids; the first four are the special ones."""

    words: tuple[str, ...]

    @classmethod
    def learn(cls, texts: Sequence[str], at_least: int = 1) -> "Vocabulary":
        """Return the tokens that occur ``at_least`` times in the texts, in the order of the alphabet."""
        used = Counter(token for text in texts for token in tokens_of(text))
        return cls((*SPECIALS, *sorted(token for token, times in used.items() if times >= at_least)))

    def __len__(self) -> int:
        return len(self.words)

    def ids_of(self, text: str) -> list[int]:
        """Return the ids of a caption, start and end included; a word that is not there is the unknown one."""
        unknown = self._ids[UNKNOWN]
        return [self._ids[START], *(self._ids.get(token, unknown) for token in tokens_of(text)), self._ids[END]]

    def batch(self, texts: Sequence[str]) -> tuple[Tensor, Tensor]:
        """Return the ids of B captions, int64 (B, L), filled up with zeros, and how many each has, (B,)."""
        rows = [torch.tensor(self.ids_of(text)) for text in texts]
        ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
        return ids, torch.tensor([len(row) for row in rows])

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {word: place for place, word in enumerate(self.words)}


@lru_cache(maxsize=KEPT)
def tokens_of(text: str) -> tuple[str, ...]:
    """Return the lower-cased tokens of a caption as NLTK's ``word_tokenize`` makes them.

    Sentences are told apart here, by a full stop, exclamation or question mark before white space, where NLTK asks a
    trained model that has to be downloaded. The two differ after abbreviations.
    """
    sentences = SENTENCE_END.split(text.lower().strip())
    return tuple(token for sentence in sentences for token in _tokeniser().tokenize(sentence))


def as_bytes(text: str) -> str:
    """Return a caption as Python 3 prints its bytes, ``b'a man'``, which HAL's authors took for the caption."""
    return str(text.encode())


@cache
def _tokeniser() -> "NLTKWordTokenizer":
    # NLTK takes a second to import, which work on pictures alone should not cost.
    from nltk.tokenize.destructive import NLTKWordTokenizer

    return NLTKWordTokenizer()
