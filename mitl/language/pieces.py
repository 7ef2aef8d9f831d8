"""Words cut into pieces learned from a collection's captions: byte pairs as CLIP has them, word pieces as BERT has.

Learned only where the published vocabularies cannot be had. The same captions give the same pieces on any machine.
"""

import json
from collections.abc import Iterable, Sequence

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

START, END = "<|startoftext|>", "<|endoftext|>"
WORD_END = "</w>"
PAD, UNKNOWN, CLASS, SEPARATOR, MASK = SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
CONTINUES = "##"
# Letters, digits one by one, everything else that is no white space; English endings apart (Radford et al. 2021).
CLIP_WORDS = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


def learn_byte_pairs(texts: Sequence[str], size: int) -> Tokenizer:
    """Learn at most ``size`` pieces of bytes by Sennrich et al. (2016); start and end come on top, the two last ids.

    Every text can be cut: all 256 bytes are pieces, alone and at a word's end, and count towards ``size``.
    """
    cutter = byte_pairs({}, [])
    alphabet = _byte_alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=max(size - 2, len(alphabet)),
        # The trainer gives all but these their ids in the order of a hash table, which differs from run to run.
        special_tokens=alphabet,
        end_of_word_suffix=WORD_END,
        show_progress=False,
    )
    cutter.train_from_iterator(texts, trainer)
    merges = [(first, second) for first, second in json.loads(cutter.to_str())["model"]["merges"]]
    return byte_pairs(byte_pair_ids(merges), merges)


def byte_pair_ids(merges: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Number the pieces as CLIP does: bytes, bytes at a word's end, what merges make, start, end."""
    pieces = [*_byte_alphabet(), *(first + second for first, second in merges), START, END]
    return {piece: number for number, piece in enumerate(pieces)}


def byte_pairs(ids: dict[str, int], merges: Sequence[tuple[str, str]]) -> Tokenizer:
    """Return CLIP's tokeniser over these pieces: lower case, single spaces, start in front and end behind."""
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
    """Return BERT's tokeniser over these pieces: lower case, no accents, [CLS] in front and [SEP] behind."""
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
    """The 256 bytes as the letters that stand for them: those that print as themselves first, as in CLIP's list."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    return [*letters, *(letter + WORD_END for letter in letters)]


def _words(tokenizer: Tokenizer, text: str) -> list[str]:
    return [word for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(tokenizer.normalizer.normalize_str(text))]
