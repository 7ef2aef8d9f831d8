"""Install a module as a package would: by an entry point."""

from importlib.metadata import EntryPoint

from core.extensions import ANNOTATOR_GROUP
from mitl import annotators


def plug_in(monkeypatch, **modules: str) -> None:
    """Make each module, by its dotted name, a kind of annotator, in addition to the existing ones."""
    entries = {kind: EntryPoint(kind, module, ANNOTATOR_GROUP) for kind, module in modules.items()}
    monkeypatch.setattr(annotators, "_installed", lambda: entries)
