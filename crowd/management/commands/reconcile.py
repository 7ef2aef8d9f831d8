from typing import Any

from core.commands import ActCommand
from crowd.tasks import reconcile


class Command(ActCommand):
    step = "site"
    help = "Expire old leases, resume lost jobs, retry calls, and grade new work, as the scheduler does periodically."
    figures = True

    def act(self, **options: Any) -> dict[str, Any]:
        return {**reconcile()}
