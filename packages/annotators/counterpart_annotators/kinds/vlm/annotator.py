"""A chat model as an annotator: the pairs of a gallery as questions, and the service that the settings describe."""

import hashlib
import json
import os
from collections.abc import Sequence
from decimal import Decimal
from math import ceil

import numpy as np
from numpy.typing import NDArray

from counterpart_annotators.base import Arrays, CrossEncoder, JointScores, Pace, StoredAnnotator
from counterpart_annotators.kinds.vlm.endpoint import Asker, JudgeQuestion
from counterpart_annotators.kinds.vlm.questions import VERSION, jpeg_of
from counterpart_annotators.kinds.vlm.service import Prices, Service
from counterpart_annotators.kinds.vlm.spending import Ceiling, Ledger
from counterpart_annotators.options import Settings
from counterpart_annotators.plain import PlainCaption, PlainImage
from counterpart_metrics.errors import CounterpartError

SHORTEST = 1e-4  # seconds: no answer is faster


class ChatJudge(CrossEncoder):
    """The score of a pair is its expected match weight, 0 to 1, by the model's probabilities of the four levels."""

    def __init__(self, service: Service, ledger: Ledger, longest_side: int) -> None:
        """Pictures are sent with at most ``longest_side`` pixels a side."""
        self._service = service
        self._ledger = ledger
        self._longest = longest_side
        self._asker = Asker(service, ledger)
        self.batch_size = service.parallel

    def ready(self, images: Sequence[PlainImage], captions: Sequence[PlainCaption]) -> "ChatScores":
        """Prepare to judge pairs of a gallery; nothing is asked yet."""
        return ChatScores(self._service, self._asker, self._ledger, self._longest, images, captions)


class ChatScores(JointScores):
    """The scores of one gallery's pairs, each requested once ever."""

    def __init__(
        self,
        service: Service,
        asker: Asker,
        ledger: Ledger,
        longest_side: int,
        images: Sequence[PlainImage],
        captions: Sequence[PlainCaption],
    ) -> None:
        self._service = service
        self._asker = asker
        self._ledger = ledger
        self._longest = longest_side
        self._images = images
        self._captions = captions
        self._last: tuple[PlainImage, bytes] | None = None

    def pairs(self, images: NDArray[np.int64], captions: NDArray[np.int64]) -> NDArray[np.float32]:
        """Score n pairs, (n,). Raises CounterpartError as ``Asker.ask`` does, and for unreadable pictures."""
        named = [
            (self._images[i], self._captions[c].text) for i, c in zip(images.tolist(), captions.tolist(), strict=True)
        ]
        digests = [self._digest(image, text) for image, text in named]
        answers = self._ledger.answers_to(digests)
        unknown = {digest: pair for digest, pair in zip(digests, named, strict=True) if digest not in answers}
        if unknown:
            questions = [JudgeQuestion(digest, self._jpeg(image), text) for digest, (image, text) in unknown.items()]
            answers |= self._asker.ask(questions)
        return np.array([answers[digest].score for digest in digests], dtype=np.float32)

    def pace(self) -> Pace | None:
        """Return the speed and the price of answers, estimated from the model's last thousand."""
        known = self._ledger.experience(self._service.purse)
        if known is None:
            return None
        rate = self._service.parallel / max(known.seconds, SHORTEST)
        if self._service.per_minute:
            rate = min(rate, self._service.per_minute / 60)
        return Pace(rate, ceil(known.answers / self._service.parallel), known.cost)

    def _digest(self, image: PlainImage, text: str) -> str:
        picture = image.sha256 or hashlib.sha256(self._jpeg(image)).hexdigest()
        decisive = [self._service.url, self._service.model, VERSION, self._longest, picture, text]
        return hashlib.sha256(json.dumps(decisive).encode()).hexdigest()

    def _jpeg(self, image: PlainImage) -> bytes:
        """Return a picture as it is sent; the last one is kept, as its pairs come together."""
        if self._last is None or self._last[0] is not image:
            self._last = image, jpeg_of(image.open(), self._longest)
        return self._last[1]


def open_annotator(stored: StoredAnnotator, device: str) -> ChatJudge:
    """Return the annotator; nothing is asked yet.

    Raises CounterpartError where no model is named, the environment variable of the key is not set, or
    ``ledger`` is None.
    """
    if stored.ledger is None:
        raise CounterpartError("its answers cost money and are kept in a ledger; open it with one.")
    service = service_of(stored.options)
    return ChatJudge(service, stored.ledger, int(stored.options["picture"]))


def service_of(options: Settings) -> Service:
    """Return the service that the settings describe, with the key from the environment."""
    if not options["model"]:
        raise CounterpartError("it names no model; add the annotator with --option model=NAME.")
    return Service(
        endpoint=str(options["endpoint"]),
        model=str(options["model"]),
        key_variable=str(options["key_variable"]),
        key=_key(str(options["key_variable"])),
        prices=Prices(
            Decimal(options["input_price"]), Decimal(options["output_price"]), int(options["picture_tokens"])
        ),
        ceiling=Ceiling(int(options["ceiling"]), Decimal(options["money"]) if options["money"] else None),
        attempts=int(options["attempts"]),
        timeout=float(options["timeout"]),
        per_minute=int(options["per_minute"]),
        parallel=int(options["parallel"]),
    )


def architecture(settings: Settings, arrays: Arrays) -> dict[str, str]:
    """Describe the model for the annotator's page."""
    return {
        "model": str(settings["model"]),
        "endpoint": str(settings["endpoint"]),
        "question": f"the four levels, wording {VERSION}, pictures of at most {settings['picture']} pixels a side",
        "score": "expected match weight: 1 x P(100% YES) + 0.5 x P(Partially YES)",
    }


def _key(variable: str) -> str:
    key = os.environ.get(variable, "").strip() if variable else ""
    if variable and not key:
        raise CounterpartError(f"the environment variable {variable} of its key is not set; set it.")
    return key
