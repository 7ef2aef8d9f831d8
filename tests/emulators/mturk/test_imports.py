import ast
from pathlib import Path

from emulators.mturk import server

EMULATOR = "emulators.mturk"
OURS = ("journal", "corpus", "mitl", "hits", "annotation", "evaluation", "console", "config", "django")


def imported(path: Path) -> set[str]:
    """Return the modules that a file imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return names


def test_the_emulator_imports_nothing_of_counterpart_but_itself():
    """It is the other side of the wire: what it shared with our client, both would get wrong alike."""
    files = sorted(Path(server.__file__).parent.rglob("*.py"))
    strangers = {
        (path.name, name)
        for path in files
        for name in imported(path)
        if name.split(".")[0] in OURS and not f"{name}.".startswith(f"{EMULATOR}.")
    }
    assert (strangers, len(files) > 30) == (set(), True)
