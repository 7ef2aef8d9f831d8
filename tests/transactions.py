"""Make a missing transaction fail a test: tests run inside a transaction, which would hide it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Model
from django.db.models.sql.compiler import SQLCompiler, SQLInsertCompiler
from django.db.transaction import TransactionManagementError, atomic, set_rollback

from core.fixed_queries import FixedQuery
from core.models import Event
from integrations.models import Notification

NO_CHANGE = {"payments listed"}  # an event of something that was read
LOCKED: list[type[Model]] = []


@contextmanager
def own_transactions() -> Iterator[None]:
    """Refuse a row lock, an event and a notification outside a transaction that the code under test opened itself."""
    select, insert, ask = SQLCompiler.as_sql, SQLInsertCompiler.as_sql, FixedQuery.__call__

    def checked_select(compiler, *args, **options):
        if compiler.query.select_for_update:
            require(compiler.connection, f"a lock on {compiler.query.model.__name__}")
            LOCKED.append(compiler.query.model)
        return select(compiler, *args, **options)

    def checked_query(query, *given):
        if query.built.queryset.query.select_for_update:
            require(connections[DEFAULT_DB_ALIAS], f"a lock on {query.built.queryset.model.__name__}")
            LOCKED.append(query.built.queryset.model)
        return ask(query, *given)

    def checked_insert(compiler):
        if compiler.query.model is Event and {event.verb for event in compiler.query.objs} - NO_CHANGE:
            require(compiler.connection, "an event")
        if compiler.query.model is Notification:
            require(compiler.connection, "a notification")
        return insert(compiler)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SQLCompiler, "as_sql", checked_select)
        patch.setattr(SQLInsertCompiler, "as_sql", checked_insert)
        patch.setattr(FixedQuery, "__call__", checked_query)
        yield


@contextmanager
def taken_back() -> Iterator[None]:
    """Take back all that is done, as after a test: code under test still has to open a transaction of its own."""
    block = atomic()
    block._from_testcase = True
    with block:
        yield
        set_rollback(True)


def locked_by(act: Callable[[], object]) -> set[type[Model]]:
    """The models of which ``act`` locks rows, on SQLite too, where a lock has no effect."""
    return set(locked_in_order(act))


def locked_in_order(act: Callable[[], object]) -> list[type[Model]]:
    """The same, each where it is first locked."""
    LOCKED.clear()
    act()
    return list(dict.fromkeys(LOCKED))


def require(connection: BaseDatabaseWrapper, what: str) -> None:
    if all(block._from_testcase for block in connection.atomic_blocks):
        raise TransactionManagementError(f"{what} outside a transaction of its own")
