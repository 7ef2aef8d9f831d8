"""Repair what crashes left behind."""

from typing import Any

from core.commands import ActCommand
from core.progress import TerminalBar
from crowd.tasks import reconcile


class Command(ActCommand):
    step = "site"
    help = "Expire old leases, resume lost jobs, retry calls, and grade new work, as the scheduler does periodically."
    figures = True

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        return {**reconcile()}
