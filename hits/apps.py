from django.apps import AppConfig


class HitsConfig(AppConfig):
    name = "hits"

    event_sentences = {
        "packed": "{who} packed {what}: {hits:HIT}",
        "topped up": "{who} added {hits:HIT} to {what}",
    }
