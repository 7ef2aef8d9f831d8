"""Captions as word pieces for CLIP, SigLIP, BLIP and ViLT: byte pairs as in CLIP, word pieces as in BERT.

Published vocabulary files are read; where there is none, pieces are learned from the collection's captions, the same
pieces from the same captions on every computer.
"""

import gzip
import html
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from torch import Tensor

from counterpart_metrics.errors import CounterpartError
from counterpart_metrics.json_gate import read_json

START = "<|startoftext|>"
END = "<|endoftext|>"
WORD_END = "</w>"
PAD = "[PAD]"
UNKNOWN = "[UNK]"
CLASS = "[CLS]"
SEPARATOR = "[SEP]"
MASK = "[MASK]"
SPECIAL = (PAD, UNKNOWN, CLASS, SEPARATOR, MASK)
CONTINUES = "##"
# Words, single digits, other characters but white space; English endings separate (Radford et al. 2021).
CLIP_WORDS = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


def learn_byte_pairs(texts: Sequence[str], size: int) -> Tokenizer:
    """Learn at most ``size`` pieces of bytes by Sennrich et al. (2016); start and end are two of them, with the last
    ids.

    Every text can be tokenised: all 256 bytes are pieces, inside and at the end of a word, and count towards ``size``.
    """
    cutter = byte_pairs({}, [])
    alphabet = _byte_alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=max(size - 2, len(alphabet)),
        # The trainer numbers all other pieces in the order of a hash table, which differs between runs.
        special_tokens=alphabet,
        end_of_word_suffix=WORD_END,
        show_progress=False,
    )
    cutter.train_from_iterator(texts, trainer)
    merges = [(first, second) for first, second in json.loads(cutter.to_str())["model"]["merges"]]
    return byte_pairs(byte_pair_ids(merges), merges)


def byte_pair_ids(merges: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Number the pieces as CLIP does: bytes, bytes at a word's end, merged pieces, start, end."""
    pieces = [*_byte_alphabet(), *(first + second for first, second in merges), START, END]
    return {piece: number for number, piece in enumerate(pieces)}


def byte_pairs(ids: dict[str, int], merges: Sequence[tuple[str, str]]) -> Tokenizer:
    """Return CLIP's tokeniser over these pieces: lower case, single spaces, start first and end last."""
    tokenizer = Tokenizer(models.BPE(vocab=ids, merges=list(merges), end_of_word_suffix=WORD_END))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(CLIP_WORDS), behavior="removed", invert=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    if ids:
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{START} $A {END}", special_tokens=[(START, ids[START]), (END, ids[END])]
        )
    return tokenizer


def learn_word_pieces(texts: Sequence[str], size: int) -> Tokenizer:
    """Learn at most ``size`` word pieces, BERT's five special ones first; [PAD] is 0."""
    cutter = word_pieces({UNKNOWN: 0})
    letters = sorted({letter for text in texts for word in _words(cutter, text) for letter in word})
    alphabet = [*SPECIAL, *letters, *(CONTINUES + letter for letter in letters)]
    trainer = trainers.WordPieceTrainer(
        vocab_size=max(size, len(alphabet)),
        special_tokens=alphabet,
        continuing_subword_prefix=CONTINUES,
        show_progress=False,
    )
    cutter.train_from_iterator(texts, trainer)
    return word_pieces(cutter.get_vocab(with_added_tokens=False))


def word_pieces(ids: dict[str, int]) -> Tokenizer:
    """Return BERT's tokeniser over these pieces: lower case, no accents, [CLS] first and [SEP] last."""
    tokenizer = Tokenizer(models.WordPiece(vocab=ids, unk_token=UNKNOWN, continuing_subword_prefix=CONTINUES))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(prefix=CONTINUES)
    if CLASS in ids:
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{CLASS} $A {SEPARATOR}", special_tokens=[(CLASS, ids[CLASS]), (SEPARATOR, ids[SEPARATOR])]
        )
    return tokenizer


def _byte_alphabet() -> list[str]:
    """Return the 256 bytes as characters, first inside and then at the end of a word, in the order of CLIP's list."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    return [*letters, *(letter + WORD_END for letter in letters)]


def _words(tokenizer: Tokenizer, text: str) -> list[str]:
    return [word for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(tokenizer.normalizer.normalize_str(text))]


PUBLISHED_MERGES = 48_894  # lines of CLIP's list that are used, after its first


def repaired(text: str) -> str:
    """Undo HTML escapes, twice, as CLIP does: some collections hold texts that were escaped twice."""
    return html.unescape(html.unescape(text)).strip()


@dataclass(frozen=True)
class Tokeniser:
    """Turns captions into at most ``context`` ids, start and end included; the end is always kept.

    Attributes:
        pad: the id that pads shorter rows.
        fills: whether every row is padded to ``context``, for a network that reads the padding too.
        clean: applied to a text first.
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
        """Return the ids of every text, without padding."""
        return [cut.ids for cut in self.tokenizer.encode_batch_fast([self.clean(text) for text in texts])]

    def batch(self, rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        """Return rows of ids, padded to the longest, and a mask that is 0 at the padding: both (B, L)."""
        length = self.context if self.fills else max(map(len, rows))
        ids = torch.full((len(rows), length), self.pad)
        mask = torch.zeros((len(rows), length), dtype=torch.long)
        for number, row in enumerate(rows):
            ids[number, : len(row)] = torch.tensor(row)
            mask[number, : len(row)] = 1
        return ids, mask


def read_tokeniser(path: Path) -> Tokenizer:
    """Read a published vocabulary: ``tokenizer.json``; CLIP's list of merges, ``.txt.gz`` or ``.txt``, with the ids of
    a ``vocab.json`` in its folder if there is one; BERT's ``vocab.txt``; or a folder with one of these.

    Raises CounterpartError where there is none, or it cannot be read.
    """
    file = _file_in(path) if path.is_dir() else path
    try:
        if file.suffix == ".json":
            return Tokenizer.from_str(file.read_text("utf-8"))
        lines = _lines(file)
        if CLASS in lines:
            return word_pieces({word.rstrip("\r"): number for number, word in enumerate(lines) if word})
        return _from_merges(lines, file.parent / "vocab.json")
    except Exception as error:  # tokenizers raises plain Exception
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise CounterpartError(f"{file} cannot be read as a tokeniser: {reason}. Download it again.") from error


def _file_in(folder: Path) -> Path:
    for name in ("tokenizer.json", "merges.txt", "vocab.txt"):
        if (folder / name).exists():
            return folder / name
    raise CounterpartError(
        f"{folder} does not contain a tokeniser: it has no tokenizer.json, merges.txt or vocab.txt. Download one from"
        " where the weights come from, or pass one with --option tokeniser=PATH."
    )


def _lines(file: Path) -> list[str]:
    content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    return content.decode("utf-8").split("\n")


def _from_merges(lines: Sequence[str], vocabulary: Path) -> Tokenizer:
    """The first line is the version. Of the published list only the first part is used."""
    merges = [tuple(line.split()) for line in lines[1 : PUBLISHED_MERGES + 1] if line.strip()]
    pairs = [(pair[0], pair[1]) for pair in merges if len(pair) == 2]
    if not pairs or len(pairs) < len(merges):
        raise ValueError("it is neither a list of merges, two pieces a line, nor a list of words with [CLS]")
    ids = read_json(vocabulary.read_bytes()) if vocabulary.exists() else byte_pair_ids(pairs)
    return byte_pairs(ids, pairs)
