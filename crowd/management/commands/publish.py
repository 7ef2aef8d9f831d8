"""Publish a round on a channel."""

import argparse
from dataclasses import fields, replace
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import CommandParser

from annotation.admission import admission_of, make_admission
from annotation.qualification_tests import find_test
from core.commands import ActCommand
from core.errors import CounterpartError
from core.progress import TerminalBar
from core.text import counted
from crowd import channels
from crowd.channels import CHANNELS, listed_as
from crowd.models import Outbox, Posting
from crowd.offers import LONGEST, Offer, offer_of
from crowd.outbox import deliver_due, send_failed_again, send_waiting
from crowd.publication import join_link, missing_pictures, publish_round, quote
from hits.models import Round

OFFER: dict[str, tuple[type, str]] = {
    "title": (str, "title in the platform's list"),
    "description": (str, "the sentence below the title"),
    "keywords": (str, "search words, separated by commas"),
    "minutes": (int, "time limit for a HIT"),
    "lifetime_days": (int, "days until the postings expire"),
    "auto_approval_days": (int, "days until the platform approves undecided work"),
    "frame_height": (int, "height in pixels of our page inside the platform's; 0 fits"),
    "min_approved": (int, "minimum number of approved assignments; high numbers exclude new workers"),
    "min_approval_rate": (int, "minimum percentage of approved work"),
    "max_sessions": (int, "how often a worker may take a round listed as a whole, for a HIT each time; 0: no limit"),
}


class Command(ActCommand):
    help = "Publish a round: open it to workers on a channel, if it stays below its ceiling and no picture is missing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("round", help="the round's name")
        parser.add_argument("--channel", required=True, help=f"where to publish it: {', '.join(CHANNELS)}")
        parser.add_argument("--environment", default="", help="the channel's environment (default: its first)")
        parser.add_argument("--yes-spend-money", action="store_true", help="needed where publishing spends real money")
        parser.add_argument(
            "--skip-missing",
            action="store_true",
            help="publish although pictures are missing; their pairs are shown without one",
        )
        _add_offer_options(parser)
        group = parser.add_argument_group("who may work in the browser pool")
        group.add_argument("--capacity", type=int, help="maximum number of workers (default: unlimited)")
        group.add_argument("--per-worker", type=int, help="maximum number of HITs for a worker (default: unlimited)")
        group.add_argument("--test", default="", help="a test of make_test that workers pass before their first HIT")
        group.add_argument("--practice", default="", help="a test of make_test that workers may judge for practice")
        group.add_argument("--invited", action="store_true", help="only with an invitation (command invite)")
        group = parser.add_argument_group("time of a HIT (default: as in the latest round with the same question)")
        group.add_argument("--pilot", default="", metavar="ROUND", help="use this round's median active time")
        group.add_argument(
            "--expected-minutes", type=_minutes, metavar="M", help="your own estimate; recorded in the event log"
        )
        group.add_argument(
            "--below-floor",
            action="store_true",
            help="in the browser pool, where the time is unknown: slow workers may earn less than the wage floor",
        )

    def act(self, progress: TerminalBar, **options: Any) -> str:
        found = Round.objects.named(options["round"])
        if channels.get(options["channel"]).spends(options["environment"]) and not options["yes_spend_money"]:
            raise CounterpartError(
                f"Publishing on {options['channel']} {options['environment']} spends real money: pass "
                "--yes-spend-money."
            )
        was_open = found.state == "open"
        round = publish_round(
            found,
            channel=options["channel"],
            environment=options["environment"],
            offer=_offer_in(options, found),
            admission=make_admission(
                capacity=options["capacity"],
                per_worker=options["per_worker"],
                test=find_test(options["test"]) if options["test"] else None,
                practice=find_test(options["practice"]) if options["practice"] else None,
                invited=options["invited"],
            ),
            skip_missing=options["skip_missing"],
            pilot=Round.objects.named(options["pilot"]) if options["pilot"] else None,
            expected_minutes=options["expected_minutes"],
            below_floor=options["below_floor"],
            actor="publish",
        )
        state = "is already open" if was_open else "is open now"
        seats, cost = round.hits.values("seats").count(), quote(round, round.channel).total
        shown = f"{counted(seats, 'seat costs', 'seats cost')} at most ${cost} of its ceiling of ${round.ceiling}"
        missing = len(missing_pictures(round))
        lacking = f" {counted(missing, 'picture is', 'pictures are')} missing." if missing else ""
        on_platform = round.channel in channels.platforms()
        where = _posted(round, progress) if on_platform else _way_in(round)
        return f"Round {round} {state}: {shown}.{lacking}\n{where}"


def _way_in(round: Round) -> str:
    if admission_of(round).invited:
        return f"Nobody joins without an invitation. To make some: invite {round} --count 20"
    return f"Join link: {join_link(round)}"


def _add_offer_options(parser: CommandParser) -> None:
    group = parser.add_argument_group("what a platform shows and requires")
    defaults = {one.name: one.default for one in fields(Offer)}
    for name, (kind, help) in OFFER.items():
        default = "of the type of task" if name in LONGEST else defaults[name]
        group.add_argument(f"--{name.replace('_', '-')}", type=kind, help=f"{help} (default: {default})")
    group.add_argument(
        "--top-workers", "--masters", action="store_true", help="only the platform's top workers, for a higher fee"
    )
    group.add_argument("--countries", default="", help="two-letter codes, separated by commas (default: any country)")


def _offer_in(options: dict[str, Any], round: Round) -> Offer:
    """Read the options; the round has words of its own. Raises CounterpartError for invalid values."""
    countries = tuple(code.strip() for code in options["countries"].split(",") if code.strip())
    given = {name: options[name] for name in OFFER if options[name] is not None}
    return replace(offer_of(round), **given, top_workers=options["top_workers"], countries=countries)


def _minutes(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of minutes") from error


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
