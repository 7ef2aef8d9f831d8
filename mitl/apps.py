from django.apps import AppConfig


class MitlConfig(AppConfig):
    name = "mitl"
