"""LangChain's ChatOpenAI."""

import openai
import pytest
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI


@tool
def get_weather(city: str) -> str:
    """Tells the weather of a city."""
    return f"12 degrees and rain in {city}"


@pytest.fixture
def chat(server):
    return ChatOpenAI(base_url=f"{server.url}/v1", api_key="unused", model="any-name", temperature=0, max_retries=0,
                      timeout=120)


def test_invoke_and_stream(chat):
    reply = chat.invoke("What is 12 plus 30?")
    assert "42" in reply.content and reply.response_metadata["finish_reason"] == "stop"
    assert reply.usage_metadata["input_tokens"] > 10
    chunks = list(chat.stream("What is 12 plus 30?"))
    assert "".join(chunk.content for chunk in chunks) == reply.content
    assert len(chunks) > 3


def test_tools_round_trip(chat, weather):
    messages = [HumanMessage(weather[0])]
    bound = chat.bind_tools([get_weather])
    reply = bound.invoke(messages)
    assert [(call["name"], call["args"]) for call in reply.tool_calls] == [("get_weather", {"city": "Oslo"})]
    streamed = None
    for chunk in bound.stream(messages):
        streamed = chunk if streamed is None else streamed + chunk
    assert [(call["name"], call["args"]) for call in streamed.tool_calls] == [("get_weather", {"city": "Oslo"})]
    messages += [reply, ToolMessage(get_weather.invoke(reply.tool_calls[0]["args"]), tool_call_id=reply.tool_calls[0]["id"])]
    assert bound.invoke(messages).content


def test_several_and_logprobs(chat):
    result = chat.generate([[HumanMessage("What is 12 plus 30?")]], n=2)
    assert len(result.generations[0]) == 2
    reply = chat.bind(logprobs=True, top_logprobs=2, max_tokens=5).invoke("Hello")
    assert len(reply.response_metadata["logprobs"]["content"]) == 5


def test_errors(chat):
    with pytest.raises(openai.BadRequestError, match="maximum context length"):
        chat.invoke("word " * 100_000)
