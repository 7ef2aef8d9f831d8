"""How many votes a pair of a round wants, has and waits for, and what keeps it from being finished."""

from dataclasses import asdict
from typing import Annotated

from annotation.work.pair_status import status_of
from core.commands import as_lines
from core.errors import CounterpartError
from core.parameters import POSITIONAL, Parameters
from core.progress import Progress
from evaluation.analyses import Findings
from hits.models import Round
from mitl.charts.bars import bar_chart

COUNTS = ("wanted", "done", "leased", "waiting", "lacking", "open")


class PairParameters(Parameters):
    round: Annotated[str, "the round's name", POSITIONAL]
    image: Annotated[str, "the image's id in its collection", POSITIONAL]
    caption: Annotated[str, "the caption's id in its collection", POSITIONAL]


def analyse(parameters: PairParameters, *, progress: Progress) -> Findings:
    """Count the votes on the pair by state. Raises CounterpartError for a pair that the round does not ask about."""
    round = Round.objects.select_related("pool__collection").named(parameters.round)
    collection = round.pool.collection
    image = collection.images.filter(key=parameters.image).first()
    caption = collection.captions.filter(key=parameters.caption).first()
    status = status_of(round, image.pk, caption.pk) if image and caption else None
    if status is None:
        raise CounterpartError(
            f"Round {round} does not ask about image {parameters.image} with caption {parameters.caption}. Give the "
            "ids of a pair that was packed as a candidate."
        )
    figures = asdict(status) | {"finished": status.is_finished}
    figures["reasons"] = [{"reason": reason} for reason in status.reasons]
    votes = [{"name": name, "value": figures[name]} for name in COUNTS]
    title = f"Image {parameters.image} with caption {parameters.caption} in round {round}"
    chart = bar_chart(title, "Votes by state", {"": votes}, x="votes")
    return Findings(figures, as_lines(figures), chart, votes)
