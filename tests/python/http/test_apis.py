"""Routes and fields that all the APIs share: aliases, methods, tokens, thinking, what is refused and how."""

import json

import httpx
import pytest

USER = [{"role": "user", "content": "What is 12 plus 30?"}]


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/chat/completions", "/v1/chat/completions/"])
def test_aliases(web, path):
    assert web.post(path, json={"messages": USER, "max_tokens": 1}).status_code == 200


@pytest.mark.parametrize("path, method", [
    ("/v1/completions", "POST"), ("/v1/responses", "POST"), ("/v1/messages", "POST"), ("/v1/messages/count_tokens", "POST"),
    ("/tokenize", "POST"), ("/api/chat", "POST"), ("/v1/models", "GET"), ("/health", "GET"), ("/props", "GET")])
def test_methods(web, path, method):
    other = "DELETE" if method == "POST" else "POST"
    refused = web.request(other, path, json={} if other == "POST" else None)
    assert refused.status_code == 405 and method in refused.headers["allow"]
    if method == "POST":
        assert web.get(path).status_code == 405
    else:
        head = web.head(path)
        assert head.status_code == 200 and not head.content and int(head.headers["content-length"]) > 0


def test_every_route_is_listed_and_described(web):
    listed = {entry.split(" ")[1].removeprefix("/v1") for entry in web.get("/").json()["endpoints"]}
    described = {path.removeprefix("/v1") for path in web.get("/openapi.json").json()["paths"]}
    assert listed == described


def test_tokens_and_back(web):
    text = "Hola, se\u00f1or. 12 + 30 = 42 \U0001f600"
    tokens = web.post("/tokenize", json={"content": text}).json()
    assert tokens["count"] == len(tokens["tokens"]) > 3
    assert web.post("/detokenize", json={"tokens": tokens["tokens"]}).json()["content"] == text
    pieces = web.post("/tokenize", json={"content": "a b", "with_pieces": True}).json()["tokens"]
    assert "".join(piece["piece"] for piece in pieces) == "a b"
    control = web.post("/tokenize", json={"content": "<|im_end|>"}).json()
    plain = web.post("/tokenize", json={"content": "<|im_end|>", "parse_special": False}).json()
    assert control["count"] == 1 < plain["count"]
    chat = web.post("/tokenize", json={"messages": USER}).json()["count"]
    assert chat == web.post("/v1/chat/completions", json={"messages": USER, "max_tokens": 1}).json()["usage"]["prompt_tokens"]


@pytest.mark.parametrize("path, body, shape", [
    ("/v1/completions", {"prompt": []}, "openai"), ("/v1/completions", {"prompt": "x", "best_of": 3}, "openai"),
    ("/v1/completions", {"prompt": [99999999]}, "openai"), ("/v1/completions", {}, "openai"),
    ("/v1/responses", {"input": 7}, "openai"), ("/v1/responses", {"input": "x", "background": True}, "openai"),
    ("/v1/responses", {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]}, "openai"),
    ("/v1/embeddings", {"input": "x"}, "openai"), ("/tokenize", {}, "openai"), ("/detokenize", {"tokens": [-1]}, "openai"),
    ("/v1/messages", {"messages": [{"role": "user", "content": [{"type": "image", "source": {}}]}]}, "anthropic"),
    ("/v1/messages", {"messages": [{"role": "tool", "content": "x"}]}, "anthropic"), ("/v1/messages", {}, "anthropic"),
    ("/v1/messages/count_tokens", {"messages": []}, "anthropic"),
    ("/api/chat", {"messages": [{"role": "boss"}]}, "ollama"), ("/api/generate", {"prompt": "x", "raw": True}, "ollama")])
def test_refusals_have_the_apis_shape(web, path, body, shape):
    response = web.post(path, json=body)
    assert response.status_code == 400
    error = response.json()
    if shape == "openai":
        assert error["error"].keys() == {"message", "type", "param", "code"}
    elif shape == "anthropic":
        assert error["type"] == "error" and error["error"]["type"] == "invalid_request_error" and error["error"]["message"]
    else:
        assert isinstance(error["error"], str)


OFF = [{"enable_thinking": False}, {"chat_template_kwargs": {"enable_thinking": False}}, {"reasoning_effort": "none"},
       {"reasoning_effort": "minimal"}, {"reasoning": {"effort": "none"}}, {"reasoning": {"enabled": False}},
       {"thinking": {"type": "disabled"}}, {"think": False}, {"thinking_budget": 0}, {"reasoning_budget": 0}]


@pytest.mark.parametrize("fields", OFF, ids=str)
def test_every_way_to_turn_thinking_off(web, fields):
    reply = web.post("/v1/chat/completions", json={"messages": USER, "temperature": 0, **fields}).json()
    assert reply["usage"]["completion_tokens_details"]["reasoning_tokens"] == 0
    assert "reasoning_content" not in reply["choices"][0]["message"] and reply["choices"][0]["message"]["content"]


@pytest.mark.parametrize("fields", [{"thinking_budget": 5}, {"thinking": {"type": "enabled", "budget_tokens": 5}},
                                    {"reasoning": {"max_tokens": 5}}])
def test_a_budget_ends_thinking_and_an_answer_follows(web, fields):
    reply = web.post("/v1/chat/completions", json={"messages": USER, "temperature": 0, "max_tokens": 100, **fields}).json()
    choice = reply["choices"][0]
    assert choice["thinking_cut"] == "budget" and choice["message"]["content"]
    assert 0 < reply["usage"]["completion_tokens_details"]["reasoning_tokens"] <= 7


def test_twenty_turns_with_thinking(web):
    messages = []
    for turn in range(20):
        messages.append({"role": "user", "content": f"What is {turn} plus 3?"})
        reply = web.post("/v1/chat/completions", json={"messages": messages, "temperature": 0, "max_tokens": 12,
                                                       "preserve_thinking": turn % 2 == 0})
        assert reply.status_code == 200
        message = reply.json()["choices"][0]["message"]
        messages.append({k: v for k, v in message.items() if v is not None})


def prompt_of(web, body: dict) -> list[int]:
    return web.post("/tokenize", json=body).json()["tokens"]


def sampled_after(web, prompt: list[int]) -> list[int]:
    """What the model says to the prompt at temperature 0, up to the end of its turn."""
    reply = web.post("/v1/completions", json={"prompt": prompt, "temperature": 0, "max_tokens": 400, "logprobs": 0,
                                              "loop_guard": False}).json()
    text = "".join(reply["choices"][0]["logprobs"]["tokens"])
    tokens = web.post("/tokenize", json={"content": text}).json()["tokens"]
    assert len(tokens) == reply["usage"]["completion_tokens"]
    return tokens


def test_a_preserved_history_extends_the_prompt(web):
    """With preserve_thinking the next prompt begins with the last one and all that the model said."""
    ask = {"messages": USER, "temperature": 0, "preserve_thinking": True}
    message = web.post("/v1/chat/completions", json=ask).json()["choices"][0]["message"]
    history = [*USER, {k: v for k, v in message.items() if v is not None}, {"role": "user", "content": "Again."}]
    before, after = prompt_of(web, ask), prompt_of(web, {**ask, "messages": history})
    said = sampled_after(web, before)
    assert after[:len(before)] == before and after[len(before):len(before) + len(said)] == said


def test_a_call_that_comes_back_is_what_was_sampled(web):
    tool = {"type": "function", "function": {"name": "get_weather", "description": "Tells the weather of a city.", "parameters": {
        "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}
    ask = {"messages": [{"role": "user", "content": "What is the weather in Oslo?"}], "tools": [tool], "temperature": 0}
    message = web.post("/v1/chat/completions", json=ask).json()["choices"][0]["message"]
    assert message["tool_calls"][0]["function"]["name"] == "get_weather"
    history = [*ask["messages"], {k: v for k, v in message.items() if v is not None},
               {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "rain"}]
    before, after = prompt_of(web, ask), prompt_of(web, {**ask, "messages": history})
    said = sampled_after(web, before)
    assert after[:len(before)] == before and after[len(before):len(before) + len(said)] == said


def test_prompts_with_one_system_text_share_it(serve):
    server = serve("--api-key", "one", "--api-key", "two")
    system = {"role": "system", "content": "Answer in one word. " * 40}

    def cached(question: str, key: str) -> int:
        reply = httpx.post(f"{server.url}/v1/chat/completions", timeout=60, headers={"Authorization": f"Bearer {key}"},
                           json={"messages": [system, {"role": "user", "content": question}], "max_tokens": 2})
        return reply.json()["usage"]["prompt_tokens_details"]["cached_tokens"]

    assert cached("What is 12 plus 30?", "one") == 0
    assert cached("Where is Oslo?", "one") > 150
    assert cached("Where is Oslo?", "two") == 0, "callers with different keys learn from each other's times"
    assert cached("What is 12 plus 30?", "two") > 150


def test_prometheus_text(web):
    response = web.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain")
    names = set()
    for line in response.text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert kind in ("gauge", "counter", "histogram")
            names.add(name)
        elif not line.startswith("#"):
            name, value = line.rsplit(" ", 1)
            float(value)
            assert any(name.startswith(known) for known in names), line
    assert {"orfebre_requests_running", "orfebre_requests_waiting", "orfebre_first_token_seconds"} <= names


def test_histograms_count_replies(web):
    def count() -> int:
        lines = web.get("/metrics").text.splitlines()
        return next(int(line.split(" ")[1]) for line in lines if line.startswith("orfebre_reply_seconds_count"))

    before = count()
    assert web.post("/v1/chat/completions", json={"messages": USER, "max_tokens": 2}).status_code == 200
    assert count() == before + 1


def test_the_largest_json_numbers_do_not_matter(web):
    body = json.dumps({"messages": USER, "max_tokens": 1, "unknown": 10**400, "metadata": {"deep": [[[[1e308]]]]}})
    assert web.post("/v1/chat/completions", content=body, headers={"Content-Type": "application/json"}).status_code == 200
