"""Names of an original checkpoint's tensors: put in others' terms, and counted."""

import re

from mitl.transformer_models.family import State


def rename(name: str, renamed: tuple[tuple[str, str], ...]) -> str:
    """Apply all replacements of a table (pattern, replacement) to a name."""
    for pattern, replacement in renamed:
        name = re.sub(pattern, replacement, name)
    return name


def count_layers(state: State, prefix: str) -> int:
    """Count the numbered parts after ``prefix`` in a state dict's names."""
    return len({name[len(prefix) :].partition(".")[0] for name in state if name.startswith(prefix)})
