import ast
import sys
from pathlib import Path

import pytest

import counterpart_emulators

EMULATORS = Path(counterpart_emulators.__file__).parent
TESTS = Path(__file__).parent
SERVED_BY = {"werkzeug", "jinja2", "defusedxml", "botocore", "pydantic"}
TESTED_BY = {"pytest", "hypothesis", "httpx", "boto3", "playwright", "axe_playwright_python", "tests"}


def imported(path: Path) -> set[str]:
    """Return the modules that a file imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return names


@pytest.mark.parametrize(("folder", "allowed"), [(EMULATORS, SERVED_BY), (TESTS, SERVED_BY | TESTED_BY)])
def test_the_emulators_and_their_tests_import_nothing_of_the_site(folder, allowed):
    """They are the other side of the wire: code shared with our client would be wrong on both sides alike."""
    names = {name.split(".")[0] for path in folder.rglob("*.py") for name in imported(path)}
    assert names - sys.stdlib_module_names - {"counterpart_emulators", "_typeshed"} - allowed == set()
