"""What the transactions of the product reach, by reading its source: work that should be done before they open."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tests.transactions import HEAVY, WRITING

ROOT = Path(__file__).resolve().parents[2]
FILES = {"open", "read_text", "read_bytes", "write_text", "write_bytes", "local_copy", "copy_file", "write_file"}
WORK = FILES | {path.rpartition(".")[2] for path in HEAVY if not path.endswith(".add")}
WRITERS = {"tracked", "insert_rows"}  # their steps are looked at where they are called


@dataclass
class Module:
    """The functions of a module by name, and what it imports: name → (module, name there)."""

    tree: ast.Module
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)


@cache
def modules() -> dict[str, Module]:
    """The product's modules by name."""
    apps = sorted(path.parent for path in ROOT.glob("*/apps.py"))
    paths = [path for app in apps for path in sorted(app.rglob("*.py")) if "migrations" not in path.parts]
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): _read(path) for path in paths
    }


def _read(path: Path) -> Module:
    module = Module(ast.parse(path.read_text()))
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef):
            module.functions.setdefault(node.name, node)
        elif isinstance(node, ast.ImportFrom) and node.module:
            module.imports |= {one.asname or one.name: (node.module, one.name) for one in node.names}
    return module


def work_in_transactions() -> list[str]:
    """Return where a transaction reaches work, as ``module:line reaches f, g, open``; all but that of WRITERS."""
    return [
        f"{name}:{line} reaches {', '.join(path)}"
        for name, module in modules().items()
        if name != "core.database.inserts"
        for line, body in _blocks(module.tree)
        for path in _work(name, body, ())
    ]


def _blocks(tree: ast.Module) -> Iterator[tuple[int, list[ast.stmt]]]:
    """Yield the line and the statements of every transaction."""
    for node in ast.walk(tree):
        opened = []
        if isinstance(node, ast.With):
            opened = [item.context_expr for item in node.items]
        elif isinstance(node, ast.FunctionDef):
            opened = node.decorator_list
        if any(ast.unparse(one).startswith("transaction.atomic") for one in opened):
            yield node.lineno, node.body


def _work(module: str, body: list[ast.stmt], above: tuple[tuple[str, str], ...]) -> Iterator[list[str]]:
    """Yield how the statements reach work: the names of the functions on the way."""
    for call in _calls(body):
        name = ast.unparse(call.func).rpartition(".")[2]
        if name in WORK or (name in {"tracked", "insert_rows", "progress"} and not _only_writes(call)):
            yield [name]
            continue
        found = _found(module, name) if isinstance(call.func, ast.Name) else None
        if found and found not in above and name not in WRITERS:
            function = modules()[found[0]].functions[found[1]]
            for path in _work(found[0], function.body, (*above, found)):
                yield [name, *path]


def _calls(body: list[ast.stmt]) -> Iterator[ast.Call]:
    """Yield the calls of statements, without what waits for the end of the transaction."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr == "on_commit":
                continue
            yield node
        waiting += ast.iter_child_nodes(node)


def _only_writes(call: ast.Call) -> bool:
    """Whether the step of a call that reports progress is one that writes rows."""
    texts = [one for one in (*call.args, *(key.value for key in call.keywords if key.arg == "step"))]
    steps = [one.value for one in texts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return all(step.startswith(WRITING) for step in steps) and bool(steps)


def _found(module: str, name: str) -> tuple[str, str] | None:
    """Return the module and the name under which a function of the product is defined."""
    seen = set()
    while module in modules() and (module, name) not in seen:
        seen.add((module, name))
        if name in modules()[module].functions:
            return module, name
        module, name = modules()[module].imports.get(name, ("", ""))
    return None
