from django.apps import AppConfig


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
