from typing import Any

from django.core.management.base import CommandParser

from annotation.people.admission import admission_of
from core.commands import ActCommand
from core.errors import CounterpartError
from core.progress import TerminalBar
from core.text import counted
from crowd import channels
from crowd.calls.outbox import deliver_due, send_failed_again, send_waiting
from crowd.channels import listed_as
from crowd.models import Outbox, Posting
from crowd.offers import Offer
from crowd.posting.publication import join_link, publish_round, quote
from crowd.posting.publish_parameters import AdmissionParameters, PublishParameters, TimeParameters
from hits.models import Round
from hits.rounds.packed_rounds import missing_pictures


class Command(ActCommand):
    step = "round"
    help = "Publish a round: open it to workers on a channel, if it stays below its ceiling and no picture is missing."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        shown = parser.add_argument_group("what a platform shows and requires")
        Offer.add_options(shown)
        shown.add_argument("--masters", dest="top_workers", action="store_true", help="the same as --top-workers")
        AdmissionParameters.add_options(parser.add_argument_group("who may work in the browser pool"))
        TimeParameters.add_options(
            parser.add_argument_group("time of a HIT (default: as in the latest round with the same question)")
        )

    def act(self, progress: TerminalBar, *, parameters: PublishParameters, **options: Any) -> str:
        before = Round.objects.named(parameters.round)
        time = TimeParameters.from_options(options)
        channel = parameters.channel
        environment = parameters.environment
        if channels.get(channel).spends(environment) and not parameters.yes_spend_money:
            raise CounterpartError(f"Publishing on {channel} {environment} spends real money: pass --yes-spend-money.")
        was_open = before.state == "open"
        round = publish_round(
            before,
            channel=channel,
            environment=environment,
            offer=Offer.from_options(options),
            admission=AdmissionParameters.from_options(options).admission(),
            skip_missing=parameters.skip_missing,
            pilot=Round.objects.named(time.pilot) if time.pilot else None,
            expected_minutes=time.expected_minutes,
            below_floor=time.below_floor,
            actor="publish",
        )
        state = "is already open" if was_open else "is open now"
        seats = round.hits.values("seats").count()
        cost = quote(round, round.channel).total
        shown = f"{counted(seats, 'seat costs', 'seats cost')} at most ${cost} of its ceiling of ${round.ceiling}"
        missing = len(missing_pictures(round))
        notice = f" {counted(missing, 'picture is', 'pictures are')} missing." if missing else ""
        on_platform = round.channel in channels.platforms()
        where = _posted(round, progress) if on_platform else _way_in(round)
        return f"Round {round} {state}: {shown}.{notice}\n{where}"


def _way_in(round: Round) -> str:
    if admission_of(round).invited:
        return f"Workers join by invitation only. To make invitations: invite {round} --count 20"
    return f"Join link: {join_link(round)}"


def _posted(round: Round, progress: TerminalBar) -> str:
    """Make every call that waits or failed, and return the state of the postings in a sentence."""
    send_failed_again(round, actor="publish")
    send_waiting(round)
    deliver_due(round, progress=progress)
    postings = Posting.objects.filter(round=round)
    live, planned = (postings.filter(state=state).count() for state in ("live", "planned"))
    posted = f"{live} of {live + planned} {listed_as(round.channel)} are posted on {round.channel} {round.environment}"
    if not planned:
        return f"{posted}. To collect submissions, run sync {round}, or keep a worker process running."
    errors = Outbox.objects.filter(round=round).exclude(error="").values_list("error", flat=True)
    error = errors.first() or "another process is posting them, or was stopped and they are posted in 5 minutes."
    return f"{posted}; the others are waiting: {error}\nThey are retried by themselves. To retry now, publish again."
