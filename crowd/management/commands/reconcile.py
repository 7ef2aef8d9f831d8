"""Repair what crashes left behind."""

from typing import Any

from core.commands import ActCommand
from core.progress import TerminalBar
from crowd.reconciliation import reconcile


class Command(ActCommand):
    help = "Expire old leases, send lost jobs and calls again, grade what waits: what the scheduler does periodically."
    figures = True

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        return {**reconcile()}
