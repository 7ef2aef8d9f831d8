"""Scores of pairs by a chat model: answers from the ledger, and the model's answers to the rest."""

import hashlib
import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from corpus.models import Caption, Image
from corpus.pictures import open_picture
from mitl.annotators.base import CrossEncoder, JointScores, Pace
from mitl.chat.client import Asker, Question, Service
from mitl.chat.ledger import Ledger
from mitl.chat.questions import VERSION, jpeg_of

SHORTEST = 1e-4  # seconds: no answer comes faster


class ChatJudge(CrossEncoder):
    """Cross-encoder: the expected match weight of a pair, 0 to 1, by a model's chances of the four levels."""

    def __init__(self, service: Service, ledger: Ledger, asker: Asker, longest_side: int) -> None:
        """Pictures are shown with at most ``longest_side`` pixels a side."""
        self._service, self._ledger, self._asker, self._longest = service, ledger, asker, longest_side
        self.batch_size = service.parallel

    def ready(self, images: Sequence[Image], captions: Sequence[Caption]) -> "ChatScores":
        """Make ready to judge pairs of a gallery; nothing is asked yet."""
        return ChatScores(self._service, self._ledger, self._asker, self._longest, images, captions)


class ChatScores(JointScores):
    """The scores of one gallery's pairs, each asked for once in the life of the ledger."""

    def __init__(
        self,
        service: Service,
        ledger: Ledger,
        asker: Asker,
        longest_side: int,
        images: Sequence[Image],
        captions: Sequence[Caption],
    ) -> None:
        self._service, self._ledger, self._asker, self._longest = service, ledger, asker, longest_side
        self._images, self._captions = images, captions
        self._last: tuple[Image, bytes] | None = None

    def pairs(self, images: NDArray[np.int64], captions: NDArray[np.int64]) -> NDArray[np.float32]:
        """Score n pairs, (n,). Raises CounterpartError as ``Asker.ask`` does, and for unreadable pictures."""
        named = [
            (self._images[i], self._captions[c].text) for i, c in zip(images.tolist(), captions.tolist(), strict=True)
        ]
        digests = [self._digest(image, text) for image, text in named]
        answers = self._ledger.answers_to(digests)
        unknown = {digest: pair for digest, pair in zip(digests, named, strict=True) if digest not in answers}
        if unknown:
            questions = [Question(digest, self._jpeg(image), text) for digest, (image, text) in unknown.items()]
            answers |= self._asker.ask(questions)
        return np.array([answers[digest].score for digest in digests], dtype=np.float32)

    def pace(self) -> Pace | None:
        """Return how fast this model will answer, and at what price, going by its last thousand answers."""
        known = self._ledger.experience(self._service.purse)
        if known is None:
            return None
        rate = self._service.parallel / max(known.seconds, SHORTEST)
        if self._service.per_minute:
            rate = min(rate, self._service.per_minute / 60)
        return Pace(rate, -(-known.answers // self._service.parallel), known.cost)

    def _digest(self, image: Image, text: str) -> str:
        picture = image.sha256 or hashlib.sha256(self._jpeg(image)).hexdigest()
        asked = [self._service.url, self._service.model, VERSION, self._longest, picture, text]
        return hashlib.sha256(json.dumps(asked).encode()).hexdigest()

    def _jpeg(self, image: Image) -> bytes:
        """Return an image as it is shown; the last one is kept, for its pairs come together."""
        if self._last is None or self._last[0] is not image:
            self._last = image, jpeg_of(open_picture(image), self._longest)
        return self._last[1]
