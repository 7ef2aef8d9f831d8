"""Queries that are built once in a process: Django takes several times as long to build one as to run it."""

from collections.abc import Callable
from copy import copy
from functools import cached_property
from inspect import signature
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Model, QuerySet
from django.db.models.sql.compiler import SQLCompiler
from django.db.transaction import TransactionManagementError

P = ParamSpec("P")
M = TypeVar("M", bound=Model)
Row = TypeVar("Row")


class Built(NamedTuple):
    """A query as SQL; ``places`` of its parameters are those of the arguments: (place, number of the argument).
    ``converters`` are those of its columns."""

    queryset: QuerySet
    compiler: SQLCompiler
    sql: str
    parameters: tuple[Any, ...]
    places: list[tuple[int, int]]
    converters: dict[int, Any]


class FixedQuery(Generic[P, Row]):
    """Decorates a function that returns a query: calling it returns the rows. For the few queries of the judging pages
    that take long to build.

    The query is built at the first call, with numbers that no row has in place of the arguments. So an argument is a
    key or a text that a column is compared with, and nothing else of the query may differ between calls, as its SQL
    would: no time, no list, no condition that only some have.
    """

    def __init__(self, build: Callable[P, "QuerySet[M, Row]"]) -> None:
        self.build = build

    def __call__(self, *given: P.args, **named: P.kwargs) -> list[Row]:
        built = self.built
        parameters = list(built.parameters)
        for place, number in built.places:
            parameters[place] = given[number]
        connection = connections[DEFAULT_DB_ALIAS]
        if built.queryset.query.select_for_update and not connection.in_atomic_block:
            raise TransactionManagementError("A row lock outside a transaction would end at once.")
        compiler: Any = copy(built.compiler)
        compiler.connection = connection
        compiler.as_sql = lambda: (built.sql, tuple(parameters))
        compiler.get_converters = lambda _: built.converters
        rows: Any = built.queryset._iterable_class
        return [*rows(_ReadQuery(compiler))]

    def first(self, *given: P.args, **named: P.kwargs) -> Row | None:
        """Return the first row, if there is one."""
        return next(iter(self(*given, **named)), None)

    @cached_property
    def built(self) -> Built:
        placeholders = [-1 - number for number in range(len(signature(self.build).parameters))]
        queryset = self.build(*placeholders)  # type: ignore[arg-type, call-arg]
        compiler = queryset.query.get_compiler(DEFAULT_DB_ALIAS)
        sql, parameters = compiler.as_sql()
        places = [
            (place, number)
            for number, placeholder in enumerate(placeholders)
            for place, parameter in enumerate(parameters)
            if parameter in (placeholder, str(placeholder))
        ]
        if {number for _, number in places} != {*range(len(placeholders))}:
            raise TypeError(f"The query of {self.build.__name__} does not compare a column with each argument.")
        converters = compiler.get_converters([column for column, *_ in compiler.select[: compiler.col_count]])
        return Built(queryset, compiler, sql, tuple(parameters), places, converters)


class _ReadQuery:
    """What Django's iterables of rows read of a queryset and of its query."""

    db = DEFAULT_DB_ALIAS
    _known_related_objects: dict[Any, Any] = {}  # noqa: RUF012  never written

    def __init__(self, compiler: SQLCompiler) -> None:
        self.compiler = compiler
        self.query = self

    def get_compiler(self, using: str) -> SQLCompiler:
        return self.compiler
