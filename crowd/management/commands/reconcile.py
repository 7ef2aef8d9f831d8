from typing import Any

from core.commands import ActCommand
from crowd.tasks import reconcile


class Command(ActCommand):
    step = "site"
    help = (
        "Repair what crashes left behind, as the clock does: expire leases, resume jobs, retry calls, grade new work."
    )

    def act(self, **options: Any) -> dict[str, Any]:
        return {**reconcile()}
