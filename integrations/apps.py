from django.apps import AppConfig


class IntegrationsConfig(AppConfig):
    name = "integrations"

    event_sentences = {
        "token made": "{who} made {what} with the scopes {scopes}",
        "token revoked": "{who} revoked {what}",
    }
