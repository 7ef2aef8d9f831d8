from typing import Any

from django.conf import settings
from django.urls import reverse

from core.commands import ActCommand, argument
from core.errors import CounterpartError
from crowd.channels.base import ChannelError
from crowd.channels.prolific.client import NAMES, client_for
from crowd.channels.prolific.workspaces import subscribe


class Command(ActCommand):
    step = "site"
    help = "Subscribe the site to Prolific's events: a sync then follows each change of a submission or study at once."
    arguments = (argument("--environment", choices=NAMES, default=NAMES[0], help="default: %(default)s"),)

    def act(self, **options: Any) -> str:
        address = settings.SITE_URL + reverse("crowd:hook", args=["prolific", options["environment"]])
        try:
            secret = subscribe(client_for(options["environment"]), address)
        except ChannelError as error:
            raise CounterpartError(f"No events are sent. {error}") from error
        return (
            f"Events go to {address}. Set PROLIFIC_HOOK_SECRETS={secret} for the site: it accepts no event without it."
        )
