from typing import Any

from django.core.management.base import CommandParser

from annotation.judging.links import invitation_link
from annotation.models import Invitation
from annotation.people.admission import make_invitations, revoke_invitations
from core.errors import CounterpartError
from core.untrusted import whole_number
from hits.models import Round
from hits.round_commands import RoundCommand


class Command(RoundCommand):
    step = "crowd"
    help = "Make, list or revoke invitations to a round of the browser pool. Each is a link by which one person joins."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        acts = parser.add_mutually_exclusive_group(required=True)
        acts.add_argument("--count", type=int, metavar="N", help="make N invitations and print their links")
        acts.add_argument("--list", action="store_true", help="list all invitations and who used them")
        acts.add_argument("--revoke", metavar="N,M", help="make the unused invitations with these numbers void")

    def act(self, *, round: Round, **options: Any) -> dict[str, Any]:
        if options["count"] is not None:
            return {"made": [_row(one) for one in make_invitations(round, options["count"], by="invite")]}
        if options["revoke"] is not None:
            return {"revoked": revoke_invitations(round, _numbers(options["revoke"]), by="invite")}
        return {"invitations": [_row(one) for one in round.invitations.select_related("used_by")]}


def _row(invitation: Invitation) -> dict[str, object]:
    row: dict[str, object] = {"number": invitation.pk, "state": invitation.state.value}
    if invitation.used_by:
        return row | {"worker": invitation.used_by.pseudonym}
    return row | ({"link": invitation_link(invitation)} if invitation.state == Invitation.State.UNUSED else {})


def _numbers(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    numbers = [number for number in map(whole_number, parts) if number is not None]
    if not parts or len(numbers) < len(parts):
        raise CounterpartError(f"Invalid numbers {text!r}: write them with commas between, as in 3,4,7.")
    return numbers
