"""BLEU-1 of a caption against those that were written for an image: a filter for pairs that can hardly match."""

from collections import Counter
from collections.abc import Sequence

from mitl.classical.words import content_words

UNLIKELY_BELOW = 0.25  # drops 86.0% of pairs, and 6.7% of those with an expert score of 2 2/3 or more (section 4.3.2)


def bleu_1(caption: str, references: Sequence[str]) -> float:
    """Return the share of the caption's words that a reference has, as often as it has them (section 4.2.2).

    Sum over words of min(count in the caption, greatest count in a reference) / number of words, after stemming and
    without stop words; no brevity penalty. 0 for a caption of stop words alone.

    >>> bleu_1("two dogs are running", ["a dog runs", "the dog jumped"])
    0.6666666666666666
    """
    counts = Counter(content_words(caption))
    if not counts:
        return 0.0
    most: Counter[str] = Counter()
    for reference in references:
        most |= Counter(content_words(reference))
    return (counts & most).total() / counts.total()
