"""The official anthropic client."""

import anthropic
import pytest

SETTINGS = {"model": "claude-any-name", "max_tokens": 300, "extra_body": {"temperature": 0}}
SUM = [{"role": "user", "content": "What is 12 plus 30?"}]


@pytest.fixture
def client(server):
    with anthropic.Anthropic(base_url=server.url, api_key="unused", max_retries=0, timeout=120) as client:
        yield client


def tool_of(weather):
    _, name, description, schema = weather
    return [{"name": name, "description": description, "input_schema": schema}]


def test_message(client):
    reply = client.messages.create(messages=SUM, **SETTINGS)
    assert reply.type == "message" and reply.role == "assistant" and reply.id.startswith("msg_")
    assert [block.type for block in reply.content] == ["text"], "thinking that nobody asked for"
    assert reply.stop_reason == "end_turn" and "42" in reply.content[0].text
    assert reply.usage.input_tokens + (reply.usage.cache_read_input_tokens or 0) > 10
    assert reply.usage.output_tokens > 0
    assert reply._request_id


def test_stream_equals_message(client):
    thinking = {"type": "enabled", "budget_tokens": 1024}
    whole = client.messages.create(messages=SUM, thinking=thinking, **SETTINGS)
    kinds = []
    with client.messages.stream(messages=SUM, thinking=thinking, **SETTINGS) as stream:
        for event in stream:
            kinds.append(event.type)
        streamed = stream.get_final_message()
    assert [block.type for block in whole.content] == ["thinking", "text"]
    assert [block.type for block in streamed.content] == ["thinking", "text"]
    assert streamed.content[0].thinking == whole.content[0].thinking != ""
    assert streamed.content[1].text == whole.content[1].text != ""
    assert streamed.content[0].signature
    assert streamed.stop_reason == whole.stop_reason
    assert streamed.usage.output_tokens == whole.usage.output_tokens
    assert kinds[0] == "message_start" and kinds[-1] == "message_stop"


@pytest.mark.parametrize("thinking", [{"type": "disabled"}, {"type": "enabled", "budget_tokens": 1024}])
def test_tools_round_trip(client, weather, thinking):
    question, name, _, _ = weather
    messages = [{"role": "user", "content": question}]
    settings = {**SETTINGS, "tools": tool_of(weather), "thinking": thinking}
    with client.messages.stream(messages=messages, **settings) as stream:
        reply = stream.get_final_message()
    assert reply.stop_reason == "tool_use"
    call = next(block for block in reply.content if block.type == "tool_use")
    assert call.name == name and call.input == {"city": "Oslo"} and call.id
    assert client.messages.create(messages=messages, **settings).content[-1].input == call.input
    messages += [{"role": "assistant", "content": reply.content},
                 {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id,
                                               "content": [{"type": "text", "text": "12 degrees and rain"}]}]}]
    answer = client.messages.create(messages=messages, **settings)
    assert answer.content and answer.stop_reason in ("end_turn", "tool_use")


def test_count_tokens(client, weather):
    plain = client.messages.count_tokens(model="m", messages=SUM)
    assert plain.input_tokens == client.messages.create(messages=SUM, **SETTINGS).usage.input_tokens
    with_tools = client.messages.count_tokens(model="m", messages=SUM, system="Be brief.", tools=tool_of(weather))
    assert with_tools.input_tokens > plain.input_tokens + 50


def test_limit_and_stop_sequence(client):
    cut = client.messages.create(messages=SUM, **{**SETTINGS, "max_tokens": 2})
    assert cut.stop_reason == "max_tokens" and cut.usage.output_tokens == 2
    full = client.messages.create(messages=SUM, **SETTINGS).content[0].text
    stopped = client.messages.create(messages=SUM, stop_sequences=[full[3:5]], **SETTINGS)
    assert stopped.stop_reason == "stop_sequence" and stopped.stop_sequence == full[3:5]


def test_errors(client, serve):
    with pytest.raises(anthropic.BadRequestError) as refused:
        client.messages.create(messages=[], **SETTINGS)
    assert refused.value.body["type"] == "error"
    assert refused.value.body["error"]["type"] == "invalid_request_error"
    with pytest.raises(anthropic.BadRequestError, match="prompt is too long"):
        client.messages.create(messages=[{"role": "user", "content": "word " * 100_000}], **SETTINGS)
    locked = serve("--api-key", "sesame")
    with pytest.raises(anthropic.AuthenticationError):
        anthropic.Anthropic(base_url=locked.url, api_key="wrong", max_retries=0).messages.create(
            messages=SUM, **SETTINGS)
    right = anthropic.Anthropic(base_url=locked.url, api_key="sesame", max_retries=0)
    assert right.messages.create(messages=SUM, **SETTINGS).content


def test_models(client):
    models = client.models.list()
    assert len(models.data) == 1 and models.data[0].id
