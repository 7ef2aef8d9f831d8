from django.apps import AppConfig


class MitlConfig(AppConfig):
    name = "mitl"

    event_sentences = {
        "embeddings imported": "{who} imported embeddings of the gallery {gallery} for {what}",
        "pooled": "{who} pooled {pairs:pair} into {what}",
        "prefiltered": "{who} filtered {pool} into {what}: {dropped:pair} left out",
        "retrieved": "{who} searched: {what}",
    }
