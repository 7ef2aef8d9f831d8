from django.apps import AppConfig


class DemoConfig(AppConfig):
    name = "demo"

    event_sentences = {
        "drawn": "{who} drew {what}: {images:image}",
    }
