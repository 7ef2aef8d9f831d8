"""Open a round to workers on a channel."""

from typing import Any

from django.core.management.base import CommandParser

from annotation.management.admitting import add_admission_options, admission_in
from core.commands import ActCommand
from core.progress import TerminalBar
from crowd import channels
from crowd.channels import CHANNELS
from crowd.management.offering import add_offer_options, offer_in
from crowd.management.timing import add_timing_options, timing_in
from crowd.models import Outbox, Posting
from crowd.outbox import deliver_due, send_failed_again
from crowd.publishing import join_link, missing_pictures, publish_round, quote
from hits.models import Round


class Command(ActCommand):
    help = "Open a round to workers, within its ceiling and with every picture in place."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("round", help="the round's name")
        parser.add_argument("--channel", required=True, help=f"where to publish it: {', '.join(CHANNELS)}")
        parser.add_argument("--environment", default="", help="which of the channel's worlds, if it has several")
        parser.add_argument(
            "--skip-missing",
            action="store_true",
            help="publish although pictures are missing; those pairs are shown without one",
        )
        add_offer_options(parser)
        add_admission_options(parser)
        add_timing_options(parser)

    def act(self, progress: TerminalBar, **options: Any) -> str:
        found = Round.objects.named(options["round"])
        was_open = found.state == "open"
        round = publish_round(
            found,
            channel=options["channel"],
            environment=options["environment"],
            offer=offer_in(options),
            admission=admission_in(options),
            skip_missing=options["skip_missing"],
            **timing_in(options),
            actor="publish",
        )
        told = "is open already" if was_open else "is open now"
        seats, cost = round.hits.values("seats").count(), quote(round, round.channel).total
        shown = f"{seats} seats cost at most ${cost} of its ceiling of ${round.ceiling}"
        missing = len(missing_pictures(round))
        lacking = f" {missing} pictures are missing." if missing else ""
        where = _posted(round, progress) if channels.get(round.channel).is_remote else f"Join link: {join_link(round)}"
        return f"Round {round} {told}: {shown}.{lacking}\n{where}"


def _posted(round: Round, progress: TerminalBar) -> str:
    """Make every call that waits, also what failed before, and say what stands on the platform."""
    send_failed_again(round, actor="publish")
    deliver_due(round, progress=progress)
    postings = Posting.objects.filter(hit__round=round)
    live, planned = (postings.filter(state=state).count() for state in ("live", "planned"))
    stands = f"{live} of {live + planned} HITs stand on {round.channel} {round.environment}"
    if not planned:
        return f"{stands}. Run sync {round} now and then, or let the worker process do it."
    errors = Outbox.objects.filter(round=round).exclude(error="").values_list("error", flat=True)
    trouble = errors.first() or "somebody else is posting them"
    return f"{stands}; the others wait: {trouble}\nSync {round} goes on with them, in a minute or so."
