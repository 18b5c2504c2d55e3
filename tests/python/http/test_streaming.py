"""Streaming is real, and clients that leave stop costing anything."""

import json
import time

import httpx
import pytest


def test_chunks_come_as_tokens_are_made(web, endless):
    """The first text comes in the first tenth of the time, and half of the text in the middle of it."""
    body = {"messages": [{"role": "user", "content": "Tell me a long story."}], "stream": True, "temperature": 0,
            "max_tokens": 500, "logit_bias": endless, "enable_thinking": False}
    begin = time.monotonic()
    times = []
    with web.stream("POST", "/v1/chat/completions", json=body) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        for line in response.iter_lines():
            if not line.startswith("data: {"):
                continue
            choices = json.loads(line[6:])["choices"]
            if choices and choices[0]["delta"].get("content"):
                times.append(time.monotonic() - begin)
    total = time.monotonic() - begin
    assert len(times) > 300, "tokens are held back"
    assert times[0] < total / 10
    in_the_middle = sum(total / 4 < moment < 3 * total / 4 for moment in times) / len(times)
    assert 0.25 < in_the_middle < 0.75


LONG = {"messages": [{"role": "user", "content": "Go on and on."}], "max_tokens": 7000, "temperature": 0}


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("phase", ["prefill", "decode"])
def test_leaving_frees_the_sequence(raw, chat_bytes, counters, eventually, client, endless, stream, phase):
    body = {**LONG, "stream": stream, "logit_bias": endless}
    if phase == "prefill":
        words = client.models.list().data[0].context_length // 4
        body |= {"messages": [{"role": "user", "content": "a long letter " * (words // 2)}], "max_tokens": 100}
    before = counters()
    connection = raw(chat_bytes(body))
    if phase == "decode":
        assert eventually(lambda: counters()["reply_tokens_total"] > before["reply_tokens_total"] + 5)
    else:
        assert eventually(lambda: counters()["requests_running"] == 1)
        assert counters()["reply_tokens_total"] == before["reply_tokens_total"], "the prompt is read already"
    connection.close()
    left = time.monotonic()
    assert eventually(lambda: counters()["requests_running"] == 0 and counters()["requests_waiting"] == 0)
    assert time.monotonic() - left < 10
    after = counters()
    assert after["requests_finished_total"] == before["requests_finished_total"]
    assert after["requests_cancelled_total"] == before["requests_cancelled_total"] + 1
    assert after["kv_blocks_free"] + after["prefix_cache_kv_blocks"] == after["kv_blocks_total"]


def test_leaving_the_queue(raw, chat_bytes, counters, eventually, endless):
    body = {**LONG, "stream": True, "logit_bias": endless}
    connections = [raw(chat_bytes(body)) for _ in range(20)]
    assert eventually(lambda: counters()["requests_running"] + counters()["requests_waiting"] == 20)
    for connection in connections:
        connection.close()
    assert eventually(lambda: counters()["requests_running"] + counters()["requests_waiting"] == 0)


def test_overload_is_a_429(server, raw, chat_bytes, counters, eventually, endless):
    body = {**LONG, "stream": True, "logit_bias": endless}
    connections = [raw(chat_bytes(body)) for _ in range(90)]
    assert eventually(lambda: counters()["requests_waiting"] >= 60)
    response = httpx.post(f"{server.url}/v1/chat/completions", json=LONG, timeout=60)
    assert response.status_code == 429 and int(response.headers["retry-after"]) >= 1
    assert response.json()["error"]["code"] == "overloaded"
    for connection in connections:
        connection.close()
    assert eventually(lambda: counters()["requests_running"] + counters()["requests_waiting"] == 0)


def test_slow_reader_does_not_hold_others_up(raw, chat_bytes, client, counters, eventually, endless):
    body = {**LONG, "stream": True, "logit_bias": endless}
    slow = raw(chat_bytes(body), receive_buffer=2048)  # and never reads
    assert client.chat.completions.create(model="m", messages=LONG["messages"], max_tokens=5).choices
    slow.close()
    assert eventually(lambda: counters()["requests_running"] == 0)
