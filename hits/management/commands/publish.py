"""Open a round to workers on a channel."""

from typing import Any

from django.core.management.base import CommandParser

from hits.channels import CHANNELS
from hits.naming import find_round
from hits.publishing import join_link, missing_pictures, publish_round, published_cost
from journal.commands import ActCommand
from journal.progress import TerminalBar


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

    def act(self, progress: TerminalBar, **options: Any) -> str:
        found = find_round(options["round"])
        was_open = found.state == "open"
        round = publish_round(
            found,
            channel=options["channel"],
            environment=options["environment"],
            skip_missing=options["skip_missing"],
            actor="publish",
        )
        told = "is open already" if was_open else "is open now"
        seats, cost = round.hits.values("seats").count(), published_cost(round, round.channel)
        shown = f"{seats} seats cost at most ${cost} of its ceiling of ${round.ceiling}"
        missing = len(missing_pictures(round))
        lacking = f" {missing} pictures are missing." if missing else ""
        return f"Round {round} {told}: {shown}.{lacking}\nJoin link: {join_link(round)}"
