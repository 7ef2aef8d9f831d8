from django.apps import AppConfig


class DatasetConfig(AppConfig):
    name = "dataset"

    event_sentences = {
        "aggregated": "{who} counted {judgments:judgment} of {what} by {method}",
        "one reviewer": "{who} lets one reviewer decide in {what}",
        "queue checked": "{who} checked the queue with {what}",
        "result changed": "{who} changed what the public page of {what} says of its pictures",
        "result published": "{who} published the page of {what}",
        "result withdrawn": "{who} withdrew the public page of {what}",
        "review seconded": "{who} agreed with the review of {what}",
        "two reviewers": "{who} asks for two reviewers in {what}",
    }
