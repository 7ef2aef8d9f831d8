from typing import Any

from annotation.people.workers import mask_workers
from core.commands import argument, person_named
from core.progress import TerminalBar
from crowd.calls.outbox import deliver_due
from crowd.messages import write_to_round
from crowd.models import Message, Outbox
from hits.models import Round
from hits.round_commands import RoundCommand


class Command(RoundCommand):
    step = "crowd"
    help = "Write to all workers who submitted work in a round, through its platform; list those it could not reach."
    arguments = (
        argument("--subject", required=True, help="the subject, up to 200 characters"),
        argument("--text", required=True, help="the message, up to 4,096 characters"),
        argument("--by", required=True, metavar="USER", help="the member of staff who writes"),
    )

    def act(self, progress: TerminalBar, *, round: Round, **options: Any) -> dict[str, Any]:
        by = str(person_named(options["by"]))
        messages = write_to_round(round, subject=options["subject"], text=options["text"], by=by)
        deliver_due(round, progress=progress)
        kept = Message.objects.filter(pk__in=[message.pk for message in messages]).exclude(failure="")
        failed = list(kept.select_related("worker"))
        reasons = mask_workers([message.failure for message in failed])
        failures = [{"worker": str(row.worker), "why": reason} for row, reason in zip(failed, reasons, strict=True)]
        left = round.calls.filter(call=Outbox.Call.MESSAGE).exclude(state=Outbox.State.DONE)
        return {
            "round": round.name,
            "workers": len(messages),
            "not delivered": len(failed),
            "calls waiting or failed": left.count(),
            "failures": failures,
        }
