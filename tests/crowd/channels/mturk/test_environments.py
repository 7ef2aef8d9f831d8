"""What is known of an environment, and what is not told of it."""

from crowd.channels.mturk.client import Environment


def test_the_secret_key_does_not_stand_where_an_environment_is_printed():
    environment = Environment("production", "https://mturk.example", (), "AKID", "the-secret-key")
    assert "the-secret-key" not in repr(environment)
