from django.apps import AppConfig


class DatasetConfig(AppConfig):
    name = "dataset"

    event_sentences = {
        "aggregated": "{who} counted {judgments:judgment} of {what} by {method}",
        "one reviewer": "{who} lets one reviewer decide in {what}",
        "queue checked": "{who} checked the queue with {what}",
        "review seconded": "{who} agreed with the review of {what}",
        "two reviewers": "{who} asks for two reviewers in {what}",
    }
