"""The openai client beyond chats (tests/python/http): responses, completions, models, errors."""

import openai
import pytest

SUM = "What is 12 plus 30?"


@pytest.fixture
def client(server):
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="unused", max_retries=0, timeout=120) as client:
        yield client


def tools_of(weather):
    _, name, description, schema = weather
    return [{"type": "function", "name": name, "description": description, "parameters": schema, "strict": False}]


def test_response(client):
    reply = client.responses.create(model="m", input=SUM, temperature=0)
    assert reply.status == "completed" and "42" in reply.output_text
    assert [item.type for item in reply.output] == ["reasoning", "message"]
    assert reply.usage.total_tokens == reply.usage.input_tokens + reply.usage.output_tokens
    assert 0 < reply.usage.output_tokens_details.reasoning_tokens < reply.usage.output_tokens


@pytest.mark.parametrize("summary", [None, "auto"])
def test_response_stream_tells_its_whole_life(client, summary):
    settings = {"model": "m", "input": SUM, "temperature": 0, "reasoning": {"effort": "high", "summary": summary}}
    whole = client.responses.create(**settings)
    events = list(client.responses.create(**settings, stream=True))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    types = [event.type for event in events]
    assert types[:2] == ["response.created", "response.in_progress"] and types[-1] == "response.completed"
    final = events[-1].response
    assert final.output_text == whole.output_text
    assert "".join(e.delta for e in events if e.type == "response.output_text.delta") == whole.output_text
    thought = "".join(e.delta for e in events if e.type == "response.reasoning_text.delta")
    assert thought == whole.output[0].content[0].text != ""
    summed = "".join(e.delta for e in events if e.type == "response.reasoning_summary_text.delta")
    assert summed == (thought if summary else "")
    assert len(whole.output[0].summary) == (1 if summary else 0)
    added = [e.item.id for e in events if e.type == "response.output_item.added"]
    assert added == [e.item.id for e in events if e.type == "response.output_item.done"] == [i.id for i in final.output]


def test_response_tools_round_trip(client, weather):
    question, name, _, _ = weather
    items = [{"role": "user", "content": question}]
    unknown = [{"type": "web_search"}, {"type": "local_shell"}, {"type": "namespace", "name": "x", "tools": []}]
    settings = {"model": "m", "temperature": 0, "tools": tools_of(weather) + unknown, "store": False,
                "include": ["reasoning.encrypted_content"]}
    with client.responses.stream(input=items, **settings) as stream:
        kinds = [event.type for event in stream]
        reply = stream.get_final_response()
    assert "response.function_call_arguments.delta" in kinds and "response.function_call_arguments.done" in kinds
    call = next(item for item in reply.output if item.type == "function_call")
    assert call.name == name and call.arguments == '{"city": "Oslo"}' and call.call_id
    items += [item.model_dump(exclude_none=True) for item in reply.output]
    items.append({"type": "function_call_output", "call_id": call.call_id, "output": "12 degrees and rain"})
    assert client.responses.create(input=items, **settings).status == "completed"


def test_response_errors(client):
    with pytest.raises(openai.BadRequestError) as refused:
        client.responses.create(model="m", input=SUM, previous_response_id="resp_1")
    assert refused.value.param == "previous_response_id" and refused.value.code == "unsupported"
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve("resp_1")
    cut = client.responses.create(model="m", input=SUM, max_output_tokens=1)
    assert cut.status == "incomplete" and cut.incomplete_details.reason == "max_output_tokens"
    assert client.responses.create(model="m", input=[], max_output_tokens=1).id


def test_completion(client):
    settings = {"model": "m", "prompt": "The capital of France is", "max_tokens": 12, "temperature": 0}
    whole = client.completions.create(**settings, logprobs=2)
    assert whole.choices[0].text and whole.usage.completion_tokens <= 12
    logprobs = whole.choices[0].logprobs
    assert len(logprobs.tokens) == whole.usage.completion_tokens == len(logprobs.text_offset)
    assert all(len(top) == 2 for top in logprobs.top_logprobs)
    streamed = list(client.completions.create(**settings, stream=True, stream_options={"include_usage": True}))
    assert "".join(c.choices[0].text for c in streamed if c.choices) == whole.choices[0].text
    assert streamed[-1].usage.completion_tokens == whole.usage.completion_tokens
    echoed = client.completions.create(**settings, echo=True)
    assert echoed.choices[0].text == settings["prompt"] + whole.choices[0].text


def test_completion_of_several_prompts(client):
    one, two = ([c.text for c in client.completions.create(model="m", prompt=p, max_tokens=5, temperature=0).choices]
                for p in ("One and", "The sky is"))
    both = client.completions.create(model="m", prompt=["One and", "The sky is"], n=2, max_tokens=5, temperature=0)
    assert [choice.text for choice in both.choices] == one * 2 + two * 2
    assert [choice.index for choice in both.choices] == [0, 1, 2, 3]


def test_several_choices(client):
    settings = {"model": "m", "messages": [{"role": "user", "content": SUM}], "n": 3, "seed": 1, "temperature": 1.5,
                "max_tokens": 8}
    whole = client.chat.completions.create(**settings)
    assert [choice.index for choice in whole.choices] == [0, 1, 2]
    texts = {index: "" for index in range(3)}
    for chunk in client.chat.completions.create(**settings, stream=True):
        for choice in chunk.choices:
            texts[choice.index] += (getattr(choice.delta, "reasoning_content", None) or "") + (choice.delta.content or "")
    for choice in whole.choices:
        message = choice.message
        assert texts[choice.index] == (getattr(message, "reasoning_content", None) or "") + (message.content or "")


def test_models_and_embeddings(client):
    models = client.models.list().data
    assert len(models) == 1
    assert client.models.retrieve(models[0].id).id == models[0].id
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("another")
    with pytest.raises(openai.BadRequestError) as refused:
        client.embeddings.create(model="m", input="text")
    assert refused.value.code == "unsupported"
