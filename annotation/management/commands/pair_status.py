"""Say why a pair of a round is not finished."""

from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser

from annotation.work.pair_status import status_of
from core.errors import CounterpartError
from core.progress import TerminalBar
from hits.models import Round
from hits.round_commands import RoundCommand


class Command(RoundCommand):
    step = "scores"
    help = "Show how many votes a pair of a round wants, has and waits for, and what keeps it from being finished."
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("image", help="the image's id in its collection")
        parser.add_argument("caption", help="the caption's id in its collection")

    def act(self, progress: TerminalBar, *, round: Round, **options: Any) -> dict[str, Any]:
        collection = round.pool.collection
        image = collection.images.filter(key=options["image"]).first()
        caption = collection.captions.filter(key=options["caption"]).first()
        status = status_of(round, image.pk, caption.pk) if image and caption else None
        if status is None:
            raise CounterpartError(
                f"Round {round} does not ask about image {options['image']} with caption {options['caption']}. "
                "Give the ids of a pair that was packed as a candidate."
            )
        figures = asdict(status) | {"finished": status.is_finished}
        return figures | {"reasons": [{"reason": reason} for reason in status.reasons]}
