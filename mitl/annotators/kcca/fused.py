"""Several settings of one KCCA, whose rankings are merged by Borda counts (Hodosh et al., section 4.1.3)."""

from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from corpus.models import Caption, Image
from mitl.annotators.base import Arrays, Embeddings, ListAnnotator, Settings
from mitl.annotators.classical.options import MOST_PLACES
from mitl.annotators.kcca.machine import Spaces
from mitl.classical.correlation import borda
from mitl.models import Direction


class FusedSpaces(ListAnnotator):
    """List annotator; the score of a place r, from 0, among N items is (N - r) / N."""

    def __init__(self, settings: Settings, arrays: Arrays) -> None:
        self._spaces, self._arrays = Spaces(settings, arrays), arrays

    def lists_of(
        self, direction: Direction, queries: Sequence[Image | Caption], items: Sequence[Image | Caption]
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Rank at most 1,000 items a query. Memory: 4 bytes x settings x dimensions x items.

        Raises CounterpartError for an image without a readable picture.
        """
        if direction == Direction.IMAGE_TO_CAPTION:
            asking = self._spaces.image_features(cast(Sequence[Image], queries))
            asked = self._spaces.caption_features(cast(Sequence[Caption], items))
        else:
            asking = self._spaces.caption_features(cast(Sequence[Caption], queries))
            asked = self._spaces.image_features(cast(Sequence[Image], items))
        chosen = self._arrays[f"chosen_{direction.value}"].tolist()
        sides = ("image", "text") if direction == Direction.IMAGE_TO_CAPTION else ("text", "image")
        pairs = [
            tuple(
                self._spaces.projection(side, *setting).of(features)
                for side, features in zip(sides, (asking, asked), strict=True)
            )
            for setting in chosen
        ]
        places = np.stack([_merged([(left[row], right) for left, right in pairs]) for row in range(len(queries))])
        scores = 1 - np.arange(places.shape[1], dtype=np.float32) / len(items)
        return places, np.broadcast_to(scores, places.shape)


def _merged(settings: list[tuple[Embeddings, Embeddings]]) -> NDArray[np.int64]:
    """Merge the rankings of one query by several settings, each given as the query's row and the items' rows."""
    rankings = [np.argsort(-(items @ query), kind="stable") for query, items in settings]
    return borda(np.stack(rankings))[:MOST_PLACES]
