"""Common parts of all pages: headers, refusals before a page handles a request, and forms."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from dealer.errors import WebError
from dealer.server.access import Person
from dealer.server.db.users import User
from dealer.server.server_settings import WebSettings
from dealer.web.security import HEADERS, read_form
from dealer.web.site import Site, make_app
from dealer.web.visitor import Visitor, get_visitor
from logs.document import Link
from tests.dealer.web.visits import small_house, visiting
from tests.programs import loaded_by


async def show_visitor(request: Request) -> Response:
    visitor = get_visitor(request)
    return PlainTextResponse(f"{visitor.address} {visitor.is_owner} {visitor.is_secure} {visitor.user}")


async def fail(request: Request) -> Response:
    raise ZeroDivisionError


async def fail_to_read(request: Request) -> Response:
    raise PermissionError(13, "Permission denied", "/secret/place")


async def refuse(request: Request) -> Response:
    raise WebError(429, "Wait a little.", "some.limit", 7)


async def change(request: Request) -> Response:
    form = await read_form(request)
    return PlainTextResponse(f"changed {dict(form)}")


async def empty(request: Request) -> Response:
    return Site().page(request, "error.html.jinja", heading="Empty", error=WebError(400, "<b>hostile</b>"))


ROUTES = [
    Route("/visitor", show_visitor),
    Route("/fail", fail),
    Route("/api/fail", fail),
    Route("/unread", fail_to_read),
    Route("/refuse", refuse),
    Route("/api/refuse", refuse),
    Route("/change", change, methods=["POST"]),
    Route("/empty", empty),
]


def client(settings: WebSettings | None = None, *, peer: str = "127.0.0.1", is_loopback: bool = True) -> TestClient:
    app = make_app(Site(links=(Link("Hands", "/hands"),)), ROUTES, settings, is_loopback=is_loopback)
    return TestClient(app, base_url="http://127.0.0.1:8080", client=(peer, 50000))


def test_every_answer_has_the_security_headers() -> None:
    for path in ("/visitor", "/fail", "/refuse", "/nothing", "/static/arena.css", "/static/nothing"):
        headers = client().get(path).headers
        assert {name: headers[name] for name in HEADERS} == HEADERS, path
        assert "unsafe" not in headers["Content-Security-Policy"]


def test_unreadable_file_is_an_internal_error(caplog: pytest.LogCaptureFixture) -> None:
    answer = client().get("/unread")
    assert answer.status_code == 500
    assert "The server had an internal error" in answer.text
    assert "secret" not in answer.text
    assert [record.getMessage() for record in caplog.records if record.exc_info] == ["GET /unread"]


async def _empty_request() -> dict[str, object]:
    return {"type": "http.request", "body": b"", "more_body": False}


def test_disconnected_client_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    messages = []

    async def fail_to_send(message: object) -> None:
        messages.append(message)
        raise BrokenPipeError

    app = make_app(Site(), ROUTES)
    scope = {"type": "http", "method": "GET", "path": "/visitor", "raw_path": b"/visitor", "query_string": b""}
    scope |= {"headers": [(b"host", b"127.0.0.1")], "client": ("127.0.0.1", 1), "scheme": "http", "http_version": "1.1"}
    asyncio.run(app(scope, _empty_request, fail_to_send))
    assert len(messages) == 1
    assert not [record for record in caplog.records if record.exc_info]


def test_pages_have_no_inline_scripts_or_styles() -> None:
    for path in ("/empty", "/nothing", "/fail"):
        text = client().get(path).text
        assert "<style" not in text
        assert " style=" not in text
        assert " on" not in "".join(part.split(">")[0] for part in text.split("<")[1:] if not part.startswith("meta"))
        assert text.count("<script") == text.count('<script src="/static/')
        assert "http" not in text.replace("http-equiv", "")


def test_text_from_users_is_escaped() -> None:
    assert "&lt;b&gt;hostile&lt;/b&gt;" in client().get("/empty").text


def test_errors_are_one_sentence_in_a_page_or_as_json() -> None:
    page = client().get("/refuse")
    assert (page.status_code, page.headers["Retry-After"]) == (429, "7")
    assert "Wait a little." in page.text
    answer = client().get("/api/refuse")
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json() == {
        "title": "Too Many Requests",
        "status": 429,
        "detail": "Wait a little.",
        "ratelimit": {"key": "some.limit", "seconds": 7},
    }
    assert client().get("/api/nothing").json()["detail"] == "There is no page at this address. Check its spelling."
    assert client().post("/visitor").status_code == 405
    assert set(client().post("/visitor").headers["Allow"].split(", ")) == {"GET", "HEAD"}


def test_internal_error_is_logged_and_reveals_nothing(caplog: pytest.LogCaptureFixture) -> None:
    for path in ("/fail", "/api/fail"):
        answer = client().get(path)
        assert answer.status_code == 500
        assert "Zero" not in answer.text
        assert "Its log has the details" in answer.text.replace("&#39;", "'")
    assert [record.getMessage() for record in caplog.records if record.exc_info] == ["GET /fail", "GET /api/fail"]


def test_local_visitor_owns_a_site_without_a_server() -> None:
    assert client().get("/visitor").text == "127.0.0.1 True False None"
    assert client().get("/login").status_code == 404


def test_foreign_host_names_are_refused_on_loopback() -> None:
    named = client(WebSettings(names=("arena.example",)), is_loopback=False)
    assert named.get("/visitor", headers={"host": "arena.example:443"}).status_code == 200
    own = dict.fromkeys(("localhost:1", "[::1]:8080", "127.0.0.1", "LOCALHOST."), 200)
    foreign = dict.fromkeys(("evil.example", "127.0.0.1.evil.example", ""), 421)
    for host, status in (own | foreign).items():
        headers = {"host": host}
        assert client().get("/visitor", headers=headers).status_code == status, host
        assert client(is_loopback=False).get("/visitor", headers=headers).status_code == 200
        assert named.get("/visitor", headers=headers).status_code == 421


def test_headers_are_trusted_from_configured_proxies_only() -> None:
    for peer, forwarded, address in (
        ("10.0.0.1", "203.0.113.9", "203.0.113.9"),
        ("10.0.0.1", "6.6.6.6, 203.0.113.9", "203.0.113.9"),
        ("10.0.0.1", "203.0.113.9, 10.0.0.7", "203.0.113.9"),
        ("10.0.0.1", "203.0.113.9, unknown", "unknown"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("198.51.100.4", "203.0.113.9", "198.51.100.4"),
    ):
        headers = {"x-forwarded-for": forwarded, "x-forwarded-proto": "https"}
        text = client(WebSettings(proxies=("10.0.0.0/8",)), peer=peer).get("/visitor", headers=headers).text
        assert text.split()[::2][:2] == [address, str(peer == "10.0.0.1")], forwarded
        assert client(peer=peer).get("/visitor", headers=headers).text.startswith(f"{peer} True False")


def test_cookie_behind_tls_is_for_tls_only() -> None:
    settings = WebSettings(proxies=("10.0.0.0/8",))
    answer = client(settings, peer="10.0.0.1").get("/empty", headers={"x-forwarded-proto": "https"})
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("__Host-arena-8080=")
    assert {"HttpOnly", "Secure", "SameSite=lax", "Path=/"} <= set(cookie.split("; "))
    plain = client().get("/empty").headers["set-cookie"]
    assert plain.startswith("arena-8080=")
    assert "Secure" not in plain


def test_form_needs_its_key_and_its_origin() -> None:
    browser = client()
    browser.get("/empty")
    key = browser.get("/visitor").request.headers["cookie"].partition("=")[2]
    form_key = Visitor("", cookie=key).form_key
    good = {"form_key": form_key, "bet": "ü ="}
    assert browser.post("/change", data=good).text == "changed {'bet': 'ü ='}"
    assert browser.post("/change", data={"bet": "1"}).status_code == 403
    assert browser.post("/change", data=good | {"form_key": "0" * 64}).status_code == 403
    assert browser.post("/change", data=good, headers={"origin": "https://evil.example"}).status_code == 403
    assert browser.post("/change", data=good, headers={"origin": "null"}).status_code == 403
    assert browser.post("/change", data=good, headers={"origin": "http://127.0.0.1:8080"}).status_code == 200
    assert client().post("/change", data=good).status_code == 403, "another browser"
    assert browser.post("/change", json=good).status_code == 415
    assert browser.post("/change", data={"bet": "1"}, headers={"x-form-key": form_key}).status_code == 200
    many = {f"f{number}": "" for number in range(300)}
    assert browser.post("/change", data=good | many).status_code == 400


def test_bodies_with_and_without_a_length_are_bounded() -> None:
    browser = client(WebSettings(max_body_bytes=1000))
    assert browser.post("/change", content=b"x" * 1001).status_code == 413

    def pieces() -> object:
        for _ in range(1100):
            yield b"x"

    assert browser.post("/change", content=pieces()).status_code == 413  # type: ignore[arg-type]


class _Ann:
    """Sessions in which every cookie belongs to Ann."""

    def find(self, cookie: str) -> Person:
        return Person(User(1, "Ann"))

    def account_of(self, user: User) -> User:
        return user

    async def touch(self, cookie: str) -> None:
        pass


def test_requests_for_pages_are_limited_by_address_and_by_user() -> None:
    site = Site(sessions=_Ann())  # type: ignore[arg-type]
    app = make_app(site, ROUTES, WebSettings(page_requests_per_minute=1))

    def get(path: str, address: str = "10.0.0.1", cookie: str = "") -> Response:
        headers = {"cookie": f"arena-8080={cookie}"} if cookie else {}
        return TestClient(app, base_url="http://127.0.0.1:8080", client=(address, 50000)).get(path, headers=headers)

    assert get("/visitor").status_code == 200
    refused = get("/empty")
    assert refused.status_code == 429
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert "The limit is 1 request a minute." in refused.text
    assert get("/api/none").status_code == 404
    assert get("/static/arena.css").status_code == 200
    assert get("/visitor", "10.0.0.2").status_code == 200
    assert [get("/visitor", cookie="a").status_code, get("/visitor", cookie="b").status_code] == [200, 429]


def test_only_static_files_are_served() -> None:
    browser = client()
    assert browser.get("/static/live.js").status_code == 200
    for path in ("../app.py", "%2e%2e/app.py", "..%2fapp.py", "/etc/passwd", "static", "", "a" * 5000, "%00", "C:/x"):
        assert browser.get(f"/static/{path}").status_code in (404, 405), path


async def test_login_redirects_to_this_site_only(tmp_path: Path) -> None:
    async with visiting(small_house(), tmp_path / "data") as visit:
        for path in ("//evil.example", "https://evil.example", "/\\evil.example", "/\n/evil", "javascript:x", "/ok"):
            key = await visit.form_key()
            data = {"form_key": key, "name": "player", "secret": visit.token, "next": path}
            target = (await visit.browser.post("/login", data=data)).headers["location"]
            assert target == ("/ok" if path == "/ok" else "/")
            async with visit.another() as other:
                visit.browser.cookies = other.cookies


@pytest.mark.slow
def test_pages_without_a_server_do_not_load_its_interface() -> None:
    assert loaded_by("import dealer.web.local_site, dealer.cli", ["fastapi"]) == []
