"""The broker of a site without Redis: a folder of message files."""

import json
import threading
from pathlib import Path

import pytest
from kombu import Connection, Queue

from config.celery import SCHEME


@pytest.fixture
def broker(tmp_path: Path) -> Connection:
    folders = {"data_folder_in": tmp_path, "data_folder_out": tmp_path, "control_folder": tmp_path / "control"}
    with Connection(f"{SCHEME}://localhost", transport_options=folders) as connection:
        yield connection


def send(broker: Connection, *bodies: str, queue: str = "work") -> None:
    with broker.Producer() as producer:
        for body in bodies:
            producer.publish(body, routing_key=queue, declare=[Queue(queue, routing_key=queue)])


def received(broker: Connection, queue: str = "work") -> list[str]:
    queue, bodies = broker.SimpleQueue(queue), []
    while True:
        try:
            message = queue.get(block=False)
        except queue.Empty:
            return bodies
        message.ack()
        bodies.append(message.payload)


def test_each_queue_is_read_alone(broker):
    send(broker, "search", queue="retrieval")
    send(broker, "pay", queue="crowd")
    assert (received(broker, "crowd"), received(broker, "crowd")) == (["pay"], [])
    assert received(broker, "retrieval") == ["search"]


def test_no_reader_finds_a_file_before_it_is_whole(broker, tmp_path):
    stop, torn = threading.Event(), []

    def watch() -> None:
        while not stop.is_set():
            for path in tmp_path.glob("*.msg"):
                try:
                    json.loads(path.read_text())
                except ValueError:
                    torn.append(path)

    watcher = threading.Thread(target=watch)
    watcher.start()
    send(broker, *map(str, range(300)))
    stop.set()
    watcher.join()
    assert torn == []


def test_a_message_that_cannot_be_read_does_not_stop_those_behind_it(broker, tmp_path):
    send(broker, "first")
    next(tmp_path.glob("*.msg")).write_text("")
    send(broker, "second")
    assert received(broker) + received(broker) == ["second"]
