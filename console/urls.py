"""The URLs of staff pages, from the folder of each subject."""

from importlib import import_module

SUBJECTS = (
    "annotators",
    "api",
    "charts",
    "collections",
    "events",
    "home",
    "leaderboard",
    "pairs",
    "payments",
    "people",
    "platforms",
    "review",
    "rounds",
    "tokens",
    "trust",
    "versions",
    "webhooks",
    "workers",
)

urlpatterns = [pattern for subject in SUBJECTS for pattern in import_module(f"console.{subject}.urls").urlpatterns]
