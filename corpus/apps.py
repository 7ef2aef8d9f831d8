from django.apps import AppConfig


class CorpusConfig(AppConfig):
    name = "corpus"

    event_sentences = {
        "imported": "{who} imported into {what}",
        "matches imported": "{who} imported {matches:match/matches} of {source} into {what}",
        "sampled": "{who} drew {what}: {images:image}, {captions:caption}",
    }
