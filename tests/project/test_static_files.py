"""How pages, style sheets and scripts are sent: compressed, and kept by browsers for as long as they stay the same."""

import gzip

from django.conf import settings
from django.templatetags.static import static

from core.site.environment import fingerprint

TAKES_GZIP = {"HTTP_ACCEPT_ENCODING": "gzip"}


def test_a_page_is_compressed_for_who_takes_it_so(client, db):
    plain, packed = client.get("/login/"), client.get("/login/", **TAKES_GZIP)
    assert "Content-Encoding" not in plain
    assert packed["Content-Encoding"] == "gzip"
    assert b"Counterpart" in gzip.decompress(packed.content)
    assert len(packed.content) < 0.6 * len(plain.content)


def test_a_script_is_compressed_and_kept_for_ever(client):
    answer = client.get(static("judging/task.js"), **TAKES_GZIP)
    assert answer.status_code == 200
    assert answer["Content-Encoding"] == "gzip"
    assert "immutable" in answer["Cache-Control"]
    packed = b"".join(answer.streaming_content)
    assert gzip.decompress(packed) == (settings.BASE_DIR / "static/judging/task.js").read_bytes()


def test_a_change_of_any_file_changes_the_addresses(tmp_path):
    (tmp_path / "a.js").write_text("1")
    before = fingerprint(tmp_path)
    assert fingerprint(tmp_path) == before
    (tmp_path / "a.js").write_text("2")
    assert fingerprint(tmp_path) != before
    (tmp_path / "a.js").write_text("1")
    (tmp_path / "a.js").rename(tmp_path / "b.js")
    assert fingerprint(tmp_path) != before
    assert f"/static/{fingerprint(settings.BASE_DIR / 'static')}/" == settings.STATIC_URL
