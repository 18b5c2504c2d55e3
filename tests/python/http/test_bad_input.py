"""Whatever is sent, the answer is a clear 4xx in OpenAI's shape, and the next request works."""

import json

import pytest

MESSAGES = b'"messages":[{"role":"user","content":"hello"}]'


@pytest.fixture(autouse=True)
def still_serving(web):
    yield
    reply = web.post("/v1/chat/completions",
                     json={"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1})
    assert reply.status_code == 200


def post(web, body: bytes, **headers):
    return web.post("/v1/chat/completions", content=body, headers={"Content-Type": "application/json", **headers})


@pytest.mark.parametrize("body", [
    b"", b"not JSON", b"{", b"[]", b"null", b'"text"', b"\x00", b"\xff\xfe",
    b"{" + MESSAGES + b"}trailing",
    b'{"messages":[{"role":"user","content":"nul \x00 byte"}]}',
    b'{"messages":[{"role":"user","content":"broken \xc3\x28 utf-8"}]}',
    b'{"messages":[{"role":"user","content":"overlong \xc0\xaf"}]}',
    b'{"messages":[]}', b'{"messages":{}}', b'{"messages":[[]]}', b'{"messages":[{"role":"user","content":{}}]}',
    b"[" * 1_000_000, b'{"a":' * 200_000, b'{"messages":' + b"[" * 300 + b"]" * 300 + b"}",
    b'{"messages":[' + b"0," * 3_000_000 + b"0]}",
    *[b'{"' + field + b'":' + value + b"," + MESSAGES + b"}" for field, value in [
        (b"temperature", b"NaN"), (b"temperature", b"Infinity"), (b"temperature", b"-1"), (b"temperature", b"1e400"),
        (b"temperature", b'"hot"'), (b"top_p", b"7"), (b"top_k", b"-7"), (b"top_k", b"1.5"), (b"min_p", b"-0.1"),
        (b"max_tokens", b"-5"), (b"max_tokens", b"0"), (b"max_tokens", b"1e99"), (b"max_tokens", b"[]"),
        (b"seed", b"1e99"), (b"seed", b"99999999999999999999999999"), (b"presence_penalty", b"9"),
        (b"logit_bias", b'{"999999999":1}'), (b"logit_bias", b'{"x":1}'), (b"stop", b"7"),
        (b"stop", b"[" + b",".join([b'"x"'] * 17) + b"]"), (b"stream", b'"yes"'), (b"tools", b"[7]"),
        (b"tool_choice", b"7"), (b"n", b"9"), (b"response_format", b'{"type":"xml"}'), (b"tool_choice", b'"required"'),
        (b"response_format", b'{"type":"json_schema","json_schema":{"schema":{"type":"object","not":{}}}}'),
        (b"response_format", b'{"type":"json_schema","json_schema":{"schema":{"minLength":2,"maxLength":1}}}'),
    ]],
])
def test_bad_bodies(web, body):
    response = post(web, body)
    assert response.status_code == 400
    error = response.json()["error"]
    assert error["message"] and error["type"] == "invalid_request_error" and {"param", "code"} <= error.keys()
    assert len(error["message"]) < 400 and "hello" not in error["message"]


def test_an_escaped_nul_is_text(web):
    body = {"messages": [{"role": "user", "content": "nul \x00 and \ud83d"}], "max_tokens": 1}
    assert post(web, json.dumps(body).encode()).status_code == 200


def test_a_hundred_thousand_messages(web):
    body = {"messages": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hello"}] * 50_000}
    response = post(web, json.dumps(body).encode())
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "context_length_exceeded"


def test_images_are_refused(web):
    part = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    response = web.post("/v1/chat/completions", json={"messages": [{"role": "user", "content": [part]}]})
    assert response.status_code == 400


def test_too_large(web, raw):
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % (33 << 20)
    assert raw(head).recv(100).startswith(b"HTTP/1.1 413")
    assert raw(b"GET /health HTTP/1.1\r\nX: " + b"x" * 100_000 + b"\r\n\r\n").recv(100).startswith(b"HTTP/1.1 431")


def test_not_http(raw):
    assert raw(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n").recv(100).startswith(b"HTTP/1.1 400")


def test_routes(web):
    assert web.get("/v1/chat/completions").status_code == 405
    assert "POST" in web.get("/v1/chat/completions").headers["allow"]
    assert web.get("/nowhere").json()["error"]["code"] == "not_found"
    assert web.head("/").status_code == web.head("/v1/models/").status_code == 200
    assert web.options("/v1/chat/completions").status_code == 204
    assert web.get("/health").json()["status"] == "ok"


@pytest.mark.parametrize("headers, status", [
    ({"Host": "evil.example"}, 403),
    ({"Host": "evil.example:8080"}, 403),
    ({"Origin": "https://evil.example"}, 403),
    ({"Origin": "null"}, 403),
    ({"Content-Type": "text/plain"}, 415),
    ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
    ({"Origin": "http://localhost:3000"}, 200),
])
def test_foreign_pages(web, counters, eventually, headers, status):
    before = counters()["prompt_tokens_total"]
    body = json.dumps({"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}).encode()
    assert post(web, body, **headers).status_code == status
    if status == 200:
        assert eventually(lambda: counters()["prompt_tokens_total"] > before)
    else:
        assert counters()["prompt_tokens_total"] == before
