from django.apps import AppConfig


class SimulationConfig(AppConfig):
    name = "simulation"

    event_sentences = {
        "rehearsed": "{who} rehearsed {what} with {workers:simulated worker}",
    }
