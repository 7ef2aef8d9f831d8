"""The machines, a module a kind. The names that each module has are told in ``base``."""

from importlib import import_module
from types import ModuleType

from mitl.annotators.base import Machine
from mitl.models import Annotator

KINDS = ("embedding", "files", "overlap")


def module_of(kind: str) -> ModuleType:
    """Return the module of one of ``KINDS``; imported here, so that a command pays only for the machine it uses."""
    return import_module(f"mitl.annotators.{kind}")


def load(annotator: Annotator) -> Machine:
    """Return the machine that a row stands for, ready to work. Raises CounterpartError if it lacks its weights."""
    machine: Machine = module_of(annotator.kind).open_annotator(annotator)
    return machine
