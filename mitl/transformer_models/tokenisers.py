"""Captions as rows of numbers: published vocabularies in any of their files, or one that was learned here."""

import gzip
import html
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor

from core.errors import CounterpartError
from mitl.language.pieces import CLASS, byte_pair_ids, byte_pairs, word_pieces

PUBLISHED_MERGES = 48_894  # lines of CLIP's list that are used, after its first


def repaired(text: str) -> str:
    """Undo HTML's escapes, twice, as CLIP does: collections hold texts that were escaped once too often."""
    return html.unescape(html.unescape(text)).strip()


@dataclass(frozen=True)
class Tokeniser:
    """Cuts captions into at most ``context`` ids, start and end included, of which the end is always kept.

    Attributes:
        pad: the id that fills up shorter rows.
        fills: whether every row is filled up to ``context``, for a network that reads the filling too.
        clean: what is done to a text first.
    """

    tokenizer: Tokenizer
    context: int
    pad: int = 0
    fills: bool = False
    clean: Callable[[str], str] = str

    def __post_init__(self) -> None:
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(self.context)

    def ids_of(self, texts: Sequence[str]) -> list[list[int]]:
        """Return every text's ids, not filled up."""
        return [cut.ids for cut in self.tokenizer.encode_batch_fast([self.clean(text) for text in texts])]

    def batch(self, rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        """Return rows of ids, filled up behind to the longest, and a mask of what is not filling: both (B, L)."""
        length = self.context if self.fills else max(map(len, rows))
        ids = torch.full((len(rows), length), self.pad)
        mask = torch.zeros((len(rows), length), dtype=torch.long)
        for number, row in enumerate(rows):
            ids[number, : len(row)] = torch.tensor(row)
            mask[number, : len(row)] = 1
        return ids, mask


def read_tokeniser(path: Path) -> Tokenizer:
    """Read a published vocabulary, known by its file's name.

    Accepted: ``tokenizer.json``; CLIP's list of merges, ``.txt.gz`` or ``.txt``, with the ids
    of a ``vocab.json`` beside it where there is one; BERT's ``vocab.txt``; a folder that holds one of these.

    Raises CounterpartError where there is none, or one that cannot be read.
    """
    file = _file_in(path) if path.is_dir() else path
    try:
        if file.suffix == ".json":
            return Tokenizer.from_str(file.read_text("utf-8"))
        lines = _lines(file)
        return _from_words(lines) if CLASS in lines else _from_merges(lines, file.parent / "vocab.json")
    except Exception as error:  # the library of tokenisers raises plain Exception
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise CounterpartError(f"{file} cannot be read as a tokeniser: {reason}. Fetch it again.") from error


def _file_in(folder: Path) -> Path:
    for name in ("tokenizer.json", "merges.txt", "vocab.txt"):
        if (folder / name).exists():
            return folder / name
    raise CounterpartError(
        f"{folder} lacks its tokeniser: it has no tokenizer.json, merges.txt or vocab.txt. Fetch one of them from where"
        " the weights come from, or name one with --option tokeniser=PATH."
    )


def _lines(file: Path) -> list[str]:
    content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    return content.decode("utf-8").split("\n")


def _from_words(lines: Sequence[str]) -> Tokenizer:
    return word_pieces({word.rstrip("\r"): number for number, word in enumerate(lines) if word})


def _from_merges(lines: Sequence[str], vocabulary: Path) -> Tokenizer:
    """The first line tells the version. The published list goes on after what is used; it was made for more."""
    merges = [tuple(line.split()) for line in lines[1 : PUBLISHED_MERGES + 1] if line.strip()]
    pairs = [(pair[0], pair[1]) for pair in merges if len(pair) == 2]
    if not pairs or len(pairs) < len(merges):
        raise ValueError("it is neither a list of merges, two pieces a line, nor of words with [CLS] among them")
    ids = json.loads(vocabulary.read_text("utf-8")) if vocabulary.exists() else byte_pair_ids(pairs)
    return byte_pairs(ids, pairs)
