"""What an environment prints of itself."""

from crowd.channels.mturk.client import Environment


def test_a_printed_environment_has_no_secret_key():
    environment = Environment("production", "https://mturk.example", (), "AKID", "the-secret-key")
    assert "the-secret-key" not in repr(environment)
