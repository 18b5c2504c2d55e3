"""The official openai client against the running server."""

import openai
import pytest

QUESTION = [{"role": "user", "content": "What is 12 plus 30? Say it in a sentence."}]
GREEDY = {"model": "any-name", "messages": QUESTION, "temperature": 0, "max_tokens": 200}
TOOLS = [{"type": "function", "function": {
    "name": "get_weather", "description": "Tells the weather of a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]


def reasoning_of(message) -> str:
    return getattr(message, "reasoning_content", None) or ""


def join(stream):
    """(content, reasoning, finish_reason, usage, tool calls) of a stream."""
    content = reasoning = ""
    finish = usage = None
    calls = []
    for number, chunk in enumerate(stream):
        usage = chunk.usage or usage
        if not chunk.choices:
            continue
        assert finish is None, "a delta follows the finish reason"
        choice = chunk.choices[0]
        assert number > 0 or choice.delta.role == "assistant"
        content += choice.delta.content or ""
        reasoning += reasoning_of(choice.delta)
        for call in choice.delta.tool_calls or []:
            if call.id:
                assert call.type == "function" and call.function.name and call.index == len(calls)
                calls.append([call.function.name, ""])
            calls[call.index][1] += call.function.arguments or ""
        finish = choice.finish_reason or finish
    return content, reasoning, finish, usage, calls


def test_reply_has_every_field(client):
    reply = client.chat.completions.create(**GREEDY)
    assert reply._request_id
    assert reply.id.startswith("chatcmpl-") and reply.object == "chat.completion" and reply.created > 1.7e9
    assert reply.model and reply.system_fingerprint
    choice = reply.choices[0]
    assert choice.index == 0 and choice.message.role == "assistant" and choice.finish_reason in ("stop", "length")
    usage = reply.usage
    assert usage.prompt_tokens > 10 and 0 < usage.completion_tokens <= 200
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    assert 0 <= usage.completion_tokens_details.reasoning_tokens <= usage.completion_tokens
    assert usage.prompt_tokens_details.cached_tokens <= usage.prompt_tokens
    assert reply.timings["decode_ms"] >= 0


@pytest.mark.parametrize("thinking", [True, False])
@pytest.mark.parametrize("tools", [None, TOOLS])
def test_stream_equals_whole(client, thinking, tools):
    settings = {**GREEDY, "extra_body": {"enable_thinking": thinking}}
    if tools:
        settings |= {"tools": tools, "messages": [{"role": "user", "content": "What is the weather in Oslo?"}]}
    whole = client.chat.completions.create(**settings)
    streamed = client.chat.completions.create(**settings, stream=True, stream_options={"include_usage": True})
    content, reasoning, finish, usage, calls = join(streamed)
    message = whole.choices[0].message
    assert content == (message.content or "")
    assert reasoning == reasoning_of(message)
    assert finish == whole.choices[0].finish_reason
    assert usage.completion_tokens == whole.usage.completion_tokens
    assert usage.prompt_tokens == whole.usage.prompt_tokens
    assert calls == [[c.function.name, c.function.arguments] for c in message.tool_calls or []]
    if not thinking:
        assert reasoning == "" and usage.completion_tokens_details.reasoning_tokens == 0


def test_usage_is_not_streamed_unasked(client):
    assert join(client.chat.completions.create(**GREEDY, stream=True))[3] is None


@pytest.mark.parametrize("field", ["max_tokens", "max_completion_tokens"])
def test_length(client, endless, field):
    settings = {k: v for k, v in GREEDY.items() if k != "max_tokens"}
    reply = client.chat.completions.create(**settings, **{field: 17}, logit_bias=endless)
    assert reply.choices[0].finish_reason == "length"
    assert reply.usage.completion_tokens == 17


def test_runs_without_max_tokens(client):
    settings = {k: v for k, v in GREEDY.items() if k != "max_tokens"}
    reply = client.chat.completions.create(**settings, extra_body={"enable_thinking": False})
    assert reply.choices[0].finish_reason in ("stop", "length")


@pytest.mark.parametrize("stream", [False, True])
def test_stop_across_tokens(client, endless, stream):
    """A stop string from the middle of a reply cuts it there, exactly, wherever the token borders lie."""
    settings = {**GREEDY, "max_tokens": 60, "logit_bias": endless, "extra_body": {"enable_thinking": False}}
    full = client.chat.completions.create(**settings)
    text = full.choices[0].message.content
    assert len(text) > 30
    for begin, size in ((len(text) // 2, 3), (len(text) // 3, 7), (5, 1)):
        stop = text[begin:begin + size]
        expected = text[:text.index(stop)]
        cut = client.chat.completions.create(**settings, stop=["never-said", stop], stream=stream,
                                             **({"stream_options": {"include_usage": True}} if stream else {}))
        if stream:
            content, _, finish, usage, _ = join(cut)
        else:
            content, finish, usage = cut.choices[0].message.content, cut.choices[0].finish_reason, cut.usage
        assert content == expected
        assert finish == "stop"
        assert usage.completion_tokens < full.usage.completion_tokens


def test_greedy_is_repeatable_and_seeds_count(client, endless):
    # long enough to leave what the model is sure of: past the end of its reply every token is open
    settings = {"model": "m", "messages": QUESTION, "max_tokens": 80, "logit_bias": endless}

    def text(**more):
        message = client.chat.completions.create(**settings, **more).choices[0].message
        return reasoning_of(message) + "|" + (message.content or "")

    assert text(temperature=0) == text(temperature=0, seed=5)
    hot = {"temperature": 2, "top_p": 1, "extra_body": {"top_k": 0}}
    assert text(seed=5, **hot) == text(seed=5, **hot)
    assert len({text(seed=seed, **hot) for seed in range(4)}) > 1
    assert len({text(**hot) for _ in range(4)}) > 1, "without a seed every reply is the same"


def test_logprobs(client, endless):
    reply = client.chat.completions.create(**{**GREEDY, "max_tokens": 12}, logprobs=True, top_logprobs=3,
                                           logit_bias=endless)
    tokens = reply.choices[0].logprobs.content
    assert len(tokens) == 12
    for token in tokens:
        assert token.logprob <= 0 and len(token.top_logprobs) == 3
        values = [top.logprob for top in token.top_logprobs]
        assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("messages", [
    [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}],
    [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "Hello"}],
    [{"role": "user", "content": "Hello"}, {"role": "system", "content": "Be brief."}],
    [{"role": "system", "content": "Only rules here."}],
    [{"role": "assistant", "content": "I speak first."}],
    [{"role": "user", "content": ""}],
    [{"role": "user", "content": [{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo"}]}],
    [{"role": "user", "content": "Weather?"},
     {"role": "assistant", "content": None, "tool_calls": [
         {"id": "a", "type": "function", "function": {"name": "get_weather", "arguments": '{"city":"Oslo"}'}}]},
     {"role": "tool", "tool_call_id": "a", "content": "rain"}],
    [{"role": "user", "content": "Weather?"},
     {"role": "assistant", "content": "", "tool_calls": [
         {"id": "a", "type": "function", "function": {"name": "get_weather", "arguments": '{"city":"Os'}}]},
     {"role": "tool", "tool_call_id": "a", "content": "error"}],
])
def test_conversations_in_any_order(client, messages):
    reply = client.chat.completions.create(model="m", messages=messages, max_tokens=3)
    assert reply.usage.completion_tokens >= 0


def test_errors_are_typed(client, server):
    with pytest.raises(openai.BadRequestError) as bad:
        client.chat.completions.create(model="m", messages=QUESTION, temperature=-1)
    assert bad.value.param == "temperature" and bad.value.type == "invalid_request_error"
    with pytest.raises(openai.BadRequestError) as unsupported:
        client.embeddings.create(model="m", input="x")
    assert unsupported.value.code == "unsupported"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("no-such-model")


@pytest.mark.parametrize("stream", [False, True])
def test_context_overflow(client, stream):
    limit = client.models.list().data[0].context_length
    with pytest.raises(openai.BadRequestError) as overflow:
        client.chat.completions.create(model="m", stream=stream,
                                       messages=[{"role": "user", "content": "twelve words " * limit}])
    error = overflow.value
    assert error.code == "context_length_exceeded"
    assert "exceeds the available context size" in error.message and "maximum context length" in error.message
    assert str(limit) in error.message and "twelve" not in error.message


def test_models(client):
    model = client.models.list().data[0]
    assert client.models.retrieve(model.id).id == model.id
    assert model.context_length == model.max_model_len == model.meta["n_ctx"] > 0


def test_key(serve):
    server = serve("--api-key", "right")
    make = lambda key: openai.OpenAI(base_url=f"{server.url}/v1", api_key=key, max_retries=0)
    with pytest.raises(openai.AuthenticationError) as refused:
        make("wrong").chat.completions.create(**GREEDY)
    assert refused.value.code == "invalid_api_key"
    assert make("right").models.list().data
