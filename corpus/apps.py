from django.apps import AppConfig


class CorpusConfig(AppConfig):
    name = "corpus"

    event_sentences = {
        "found": "{who} added what was found in {what}: {images:image}, {captions:caption}",
        "gallery imported": "{who} imported {what}: {images:image}, {captions:caption}",
        "imported": "{who} imported into {what}",
        "matches imported": "{who} imported {matches:match/matches} of {source} into {what}",
        "sampled": "{who} drew {what}: {images:image}, {captions:caption}",
    }
