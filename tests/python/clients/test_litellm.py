"""LiteLLM, through OpenAI's, Anthropic's and Ollama's forms."""

import litellm
import pytest

SUM = [{"role": "user", "content": "What is 12 plus 30?"}]


@pytest.fixture(params=["openai", "anthropic", "ollama_chat"])
def settings(request, server):
    base = f"{server.url}/v1" if request.param == "openai" else server.url
    return {"model": f"{request.param}/any-name", "api_base": base, "api_key": "unused", "temperature": 0,
            "max_tokens": 300, "num_retries": 0, "timeout": 120}


def test_chat_and_stream(settings):
    reply = litellm.completion(messages=SUM, **settings)
    assert "42" in reply.choices[0].message.content and reply.choices[0].finish_reason == "stop"
    assert reply.usage.prompt_tokens > 10 and reply.usage.completion_tokens > 0
    chunks = list(litellm.completion(messages=SUM, stream=True, **settings))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == \
        reply.choices[0].message.content


def test_tools_round_trip(settings, weather):
    question, name, description, schema = weather
    tools = [{"type": "function", "function": {"name": name, "description": description, "parameters": schema}}]
    messages = [{"role": "user", "content": question}]
    message = litellm.completion(messages=messages, tools=tools, **settings).choices[0].message
    call = message.tool_calls[0]
    assert call.function.name == name and "Oslo" in call.function.arguments
    messages += [message.model_dump(exclude_none=True),
                 {"role": "tool", "tool_call_id": call.id, "content": "12 degrees and rain"}]
    assert litellm.completion(messages=messages, tools=tools, **settings).choices[0].finish_reason


def test_errors(settings):
    with pytest.raises((litellm.ContextWindowExceededError, litellm.BadRequestError, litellm.APIConnectionError)):
        litellm.completion(messages=[{"role": "user", "content": "word " * 100_000}], **settings)
