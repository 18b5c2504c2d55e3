"""Structured output and forced calls, as each client asks for them."""

import json

import anthropic
import litellm
import openai
import pytest
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

QUESTION = "What is 12 plus 30?"
SCHEMA = {"type": "object", "properties": {"result": {"type": "integer"}, "sure": {"type": "boolean"}},
          "required": ["result", "sure"], "additionalProperties": False}


class Sum(BaseModel):
    result: int
    sure: bool


def check(text: str):
    value = json.loads(text)
    assert value.keys() == {"result", "sure"} and isinstance(value["result"], int) and isinstance(value["sure"], bool)


@pytest.fixture
def client(server):
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="unused", max_retries=0, timeout=120) as client:
        yield client


@pytest.fixture
def claude(server):
    with anthropic.Anthropic(base_url=server.url, api_key="unused", max_retries=0, timeout=120) as client:
        yield client


def test_openai_chat(client):
    reply = client.chat.completions.parse(model="m", messages=[{"role": "user", "content": QUESTION}], temperature=0,
                                          response_format=Sum)
    assert isinstance(reply.choices[0].message.parsed, Sum)


def test_openai_response(client):
    reply = client.responses.parse(model="m", input=QUESTION, temperature=0, text_format=Sum)
    assert isinstance(reply.output_parsed, Sum)


def test_openai_forced_call(client, weather):
    _, name, description, schema = weather
    other = {"type": "function", "function": {"name": "other", "parameters": {"type": "object", "properties": {}}}}
    tools = [other, {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}]
    choice = {"type": "function", "function": {"name": name}}
    reply = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hello"}], temperature=0,
                                           tools=tools, tool_choice=choice, max_tokens=400)
    assert reply.choices[0].finish_reason in ("tool_calls", "length")
    assert {call.function.name for call in reply.choices[0].message.tool_calls} == {name}
    flat = [{"type": "function", "name": tool["function"]["name"], "parameters": tool["function"]["parameters"]} for tool in tools]
    answer = client.responses.create(model="m", input="Hello", temperature=0, tools=flat, tool_choice="required",
                                     max_output_tokens=400)
    assert [item for item in answer.output if item.type == "function_call"]


def test_anthropic(claude, weather):
    messages = [{"role": "user", "content": QUESTION}]
    format_ = {"type": "json_schema", "schema": SCHEMA}
    reply = claude.messages.create(model="m", max_tokens=300, messages=messages,
                                   extra_body={"temperature": 0, "output_config": {"format": format_}})
    check(reply.content[0].text)
    _, name, description, schema = weather
    called = claude.messages.create(model="m", max_tokens=400, messages=messages, extra_body={"temperature": 0},
                                    tools=[{"name": name, "description": description, "input_schema": schema}],
                                    tool_choice={"type": "tool", "name": name, "disable_parallel_tool_use": True})
    assert [block.type for block in called.content] == ["tool_use"] and called.content[0].name == name
    assert isinstance(called.content[0].input["city"], str)
    with pytest.raises(anthropic.BadRequestError):
        claude.messages.create(model="m", max_tokens=40, messages=messages, tool_choice={"type": "tool", "name": "none"},
                               tools=[{"name": name, "input_schema": schema}])


def test_langchain(server):
    chat = ChatOpenAI(base_url=f"{server.url}/v1", api_key="unused", model="m", temperature=0, max_retries=0, timeout=120)
    for method in ("json_schema", "function_calling"):
        assert isinstance(chat.with_structured_output(Sum, method=method).invoke(QUESTION), Sum), method


def test_litellm(server):
    reply = litellm.completion(model="openai/m", api_base=f"{server.url}/v1", api_key="unused", temperature=0,
                               messages=[{"role": "user", "content": QUESTION}], response_format=Sum)
    check(reply.choices[0].message.content)


def test_ollama(server):
    reply = litellm.completion(model="ollama_chat/m", api_base=server.url, temperature=0, response_format=Sum,
                               messages=[{"role": "user", "content": QUESTION}])
    check(reply.choices[0].message.content)
