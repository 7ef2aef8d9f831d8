from django.apps import AppConfig
from django.core.checks import register


class CoreConfig(AppConfig):
    name = "core"

    event_sentences = {
        "cancel requested": "{who} asked to cancel {what}",
        "done": "{who} finished {what}",
        "failed": "{what} failed",
        "handed back": "{who} was stopped and handed {what} back",
        "resent": "{who} sent {what} to a worker process again",
        "running": "{who} runs {what}",
    }

    def ready(self) -> None:
        from core.command_groups import answer_old_names
        from core.health.configuration import messages_at_start

        register(messages_at_start, "settings")
        answer_old_names()
