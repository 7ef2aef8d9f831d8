"""Groups of pairs that one decision may settle: nearly equal captions with nearly equal pictures."""

import re

from annotation.models import Judgment
from corpus.looks import alike
from corpus.models import Caption, Image

_WORD = re.compile(r"[^\W_]+")
_ARTICLES = frozenset({"a", "an", "the"})
MOST = 100
Pair = tuple[int, int]


def wording_of(text: str) -> str:
    """Return the words of a caption that distinguish it: without case, punctuation and articles.

    >>> wording_of("A dog, on the Beach.")
    'dog on beach'
    """
    return " ".join(word for word in _WORD.findall(text.casefold()) if word not in _ARTICLES)


def group_of(image: Image, caption: Caption) -> list[Pair]:
    """Return the pair and its near-duplicates among the judged pairs of the collection, as database ids.

    A near-duplicate has a caption of the same wording and the same picture, or one that looks nearly alike as far as
    the clean-up has compared pictures (``corpus.looks``). At most 100 pairs, the pair itself first.
    """
    images = _near_images(image)
    judged = Judgment.objects.of_candidates().filter(image__in=images, caption__isnull=False)
    rows = judged.order_by("image_id", "caption_id").values_list("image_id", "caption_id", "caption__text").distinct()
    wording = wording_of(caption.text)
    others = [(near, other) for near, other, text in rows if wording_of(text) == wording]
    pair = (image.pk, caption.pk)
    return [pair, *(other for other in dict.fromkeys(others) if other != pair)][:MOST]


def _near_images(image: Image) -> list[int]:
    if not image.look:
        return [image.pk]
    rows = list(Image.objects.filter(collection=image.collection_id).exclude(look="").values_list("pk", "look"))
    near = {rows[place][0] for _, place, _ in alike([image.look], [look for _, look in rows])}
    return sorted({image.pk, *near})
