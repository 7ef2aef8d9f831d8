"""Words of captions, in whatever script, or reduced to stems; BLEU-1 and ROUGE-1 over stems.

Hodosh et al. (2013, section 4.1.1) lemmatise and tag parts of speech; both need models that are not available here.
Porter's stemmer replaces the lemmas, a word's ending its tag: a word whose stem loses ``-ing`` or ``-ed`` is a verb.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from nltk.stem.porter import PorterStemmer

WORD = re.compile(r"\w+")
UNSPACED = (
    "\u0e01-\u0e4f\u0e5a-\u0ecf\u0eda-\u0eff"  # Thai, Lao
    "\u1000-\u103f\u104a-\u108f\u109a-\u109f\ua9e0-\ua9ef\ua9fa-\ua9ff\uaa60-\uaa7f\u1780-\u17df"  # Burmese, Khmer
    "\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
"""Ranges of the scripts that are written without spaces, but for their digits; in the last line Chinese, Japanese."""
IGNORED = "\u00ad\u0640\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
SPECIAL = re.compile(f"[{IGNORED}\ufb00-\uffef]")
BEYOND_LATIN = re.compile("[\u00ad\u0300-\U0010ffff]")
JOINER = "\u200d"  # between the parts of one emoji
BLANK_SIGNS = "\u2800\ufffc\ufffd\U0001d159"


def words_of(text: str, *, singles: bool = False) -> list[str]:
    """Return the words in their order, whatever their case: runs of letters and digits with their marks, and every sign
    and emoji beyond Latin-1. Of scripts without spaces: the pairs of neighbours in a run of letters; with ``singles``
    its letters too: in Chinese many letters are words.

    What is written in several ways is one word: composed or not (NFC), in full or half width, as a ligature, with
    invisible characters. NFKC would go further, and make "niketm" of Nike™.

    >>> words_of("It's a dog_2!"), words_of("一只狗、3人"), words_of("Cafe\u0301 👩🏽\u200d🚀")
    (['it', 's', 'a', 'dog_2'], ['一只', '只狗', '3', '人'], ['café', '👩🏽🚀'])
    """
    folded = text.casefold()
    if text.isascii() or not BEYOND_LATIN.search(folded):
        return WORD.findall(folded)
    scripts = _scripts()
    if SPECIAL.search(folded):
        folded = folded.translate(scripts.forms)
    words: list[str] = []
    for word, run in scripts.word.findall(unicodedata.normalize("NFC", folded)):
        if word:
            words.append(word.replace(JOINER, ""))
            continue
        letters = scripts.letter.findall(run)
        words += letters if singles or len(letters) == 1 else []
        words += map("".join, pairwise(letters))
    return words


class _Scripts(NamedTuple):
    """Words beyond Latin: special forms of characters → those they are compared as, a letter of a script without
    spaces, and either a word or a run of these letters."""

    forms: Mapping[int, str | None]
    letter: re.Pattern[str]
    word: re.Pattern[str]


@cache
def _scripts() -> _Scripts:
    # From Python's own tables: the pages for workers, which read captions too, are served without the package regex.
    marks = _ranges("Mn", "Mc", "Me")
    letter = rf"(?!\W)[{UNSPACED}][{marks}]*"
    spaced = rf"[^\W{UNSPACED}](?:[^\W{UNSPACED}]|[{marks}{JOINER}])*"
    sign = rf"[{_ranges('So', 'Sm', 'Sc')}][\U0001f3fb-\U0001f3ff{marks}]*"
    emoji = rf"[\U0001f1e6-\U0001f1ff]{{2}}|{sign}(?:{JOINER}{sign})*[\U000e0020-\U000e007f]*"
    forms: dict[int, str | None] = {code: unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFFF0)}
    forms |= dict.fromkeys(map(ord, re.findall(f"[{IGNORED}]", "".join(map(chr, range(0x10000))))))
    return _Scripts(forms, re.compile(letter), re.compile(rf"({spaced}|{emoji})|((?:{letter})+)"))


def _ranges(*categories: str) -> str:
    """Return the characters of these categories beyond Latin-1, but for signs that show nothing, for a set of re."""
    signs = map(chr, range(0x300, 0x20000))
    codes = {ord(sign) for sign in signs if unicodedata.category(sign) in categories and sign not in BLANK_SIGNS}
    begins = sorted(code for code in codes if code - 1 not in codes)
    ends = sorted(code for code in codes if code + 1 not in codes)
    return "".join(f"{chr(begin)}-{chr(end)}" for begin, end in zip(begins, ends, strict=True))


VERB_ENDINGS = ("ing", "ed")
FUNCTION_WORDS = """
a an the this that these those some any each every either neither no not nor and or but so if then than as
i me my mine myself we us our ours ourselves you your yours yourself he him his himself she her hers herself
it its itself they them their theirs themselves one who whom whose which what when where why how there here
am is are was were be been being do does did doing done have has had having will would shall should can could
may might must of at by for with without about against between into onto through during before after above
below to from up down in out on off over under again further once while because until both all few more most
other others such only own same too very just also s t d m re ve ll
"""
STOP_WORDS = frozenset(FUNCTION_WORDS.split())
"""Words that say where something is (near, behind, across) are kept: the paper prints no list, and with them its filter
drops the printed 86.0% of Flickr8k's pairs."""


def content_words(text: str) -> list[str]:
    """Return the stems of all words but stop words, in their order; hyphens separate words, case is ignored."""
    return [stem_of(word) for word in words_of(text) if word not in STOP_WORDS]


def tagged_words(text: str) -> list[tuple[str, bool]]:
    """Return the stems as ``content_words`` does, each with a flag: its word looks like a verb."""
    words = [word for word in words_of(text) if word not in STOP_WORDS]
    return [(stem_of(word), looks_like_verb(word)) for word in words]


def looks_like_verb(word: str) -> bool:
    """Whether ``word``, but not its stem, has an ending of a participle: running, not ring; striped, not red."""
    return word.endswith(VERB_ENDINGS) and not stem_of(word).endswith(VERB_ENDINGS)


@cache
def stem_of(word: str) -> str:
    """Return the stem that Porter's algorithm leaves."""
    return _stemmer().stem(word)


@cache
def _stemmer() -> "PorterStemmer":
    # nltk takes a second to import; only stemming needs it.
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()


REFERENCES = {"all": slice(None), "first": slice(1), "rest": slice(1, None), "second": slice(1, 2)}
"""The four sets of references of tables 8 and 9, as parts of an image's captions. The first caption is in the pool."""
UNLIKELY_BELOW = 0.25  # drops 86.0% of pairs, and 6.7% of those with an expert score of 2 2/3 or more (section 4.3.2)


def bleu_1(caption: str, references: Sequence[str], *, words: Callable[[str], list[str]] = content_words) -> float:
    """Return the clipped precision of the caption's words against the references (section 4.2.2).

    Sum over words of min(count in the caption, largest count in a reference) / number of words, after stemming and
    without stop words; no brevity penalty. 0 for a caption of stop words only. ``words=words_of`` takes all words as
    they are.

    >>> bleu_1("two dogs are running", ["a dog runs", "the dog jumped"])
    0.6666666666666666
    """
    counts = Counter(words(caption))
    if not counts:
        return 0.0
    most: Counter[str] = Counter()
    for reference in references:
        most |= Counter(words(reference))
    return (counts & most).total() / counts.total()


def rouge_1(caption: str, references: Sequence[str], *, words: Callable[[str], list[str]] = content_words) -> float:
    """Return the clipped recall of the references' words by the caption.

    Sum over references and words of min(count in the caption, count in the reference) / number of all references'
    words, after stemming (nltk's Porter stemmer) and without stop words, as ``bleu_1``; ``words=words_of`` takes all
    words as they are. 0 if the references have no word.

    >>> rouge_1("two dogs are running", ["a dog runs", "the dog jumped"])
    0.75
    """
    counts = Counter(words(caption))
    every = [Counter(words(reference)) for reference in references]
    total = sum(reference.total() for reference in every)
    return sum((counts & reference).total() for reference in every) / total if total else 0.0


# Section 4.2.2: stems without stop words for ROUGE alone. The filter of section 4.3.2 takes them for BLEU too.
OVERLAPS: dict[str, tuple[Callable[[str, Sequence[str]], float], slice]] = {
    f"{name}-{part}": (score, REFERENCES[part])
    for name, score in (("bleu", partial(bleu_1, words=words_of)), ("rouge", rouge_1))
    for part in REFERENCES
}
"""BLEU-1 and ROUGE-1 of tables 8 and 9 by name ("bleu-rest"), each with the part of an image's captions it compares."""
