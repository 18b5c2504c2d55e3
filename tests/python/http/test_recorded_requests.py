"""What programs really send, by their public documentation and sources: each shape is answered as its program expects.

The texts are this project's own; the fields, their order and their oddities are the programs'.
"""

import json

import pytest

TOOL_PARAMETERS = {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "additionalProperties": False,
                   "properties": {"command": {"type": "string", "description": "What to run."},
                                  "timeout": {"type": ["integer", "null"]},
                                  "mode": {"anyOf": [{"type": "string", "enum": ["fast", "slow"]}, {"type": "null"}]}},
                   "required": ["command"]}
OPENAI_TOOL = {"type": "function", "function": {"name": "bash", "description": "Runs a command.", "strict": False,
                                                "parameters": TOOL_PARAMETERS}}
CALL = {"id": "call_1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="

CHATS = {
    "opencode / Vercel AI SDK": {
        "model": "local", "temperature": 0, "top_p": 1, "tool_choice": "auto", "stream": True,
        "stream_options": {"include_usage": True}, "tools": [OPENAI_TOOL], "store": False, "reasoning_effort": "medium",
        "messages": [{"role": "system", "content": "You write code."}, {"role": "system", "content": "Be brief."},
                     {"role": "user", "content": [{"type": "text", "text": "List the files."}]},
                     {"role": "assistant", "content": "", "reasoning_content": "I need ls.", "tool_calls": [CALL]},
                     {"role": "tool", "tool_call_id": "call_1", "content": "a.txt"},
                     {"role": "user", "content": "Thanks. What now?"}]},
    "Zed": {
        "model": "local", "messages": [{"role": "user", "content": [{"type": "text", "text": "Explain this."}]},
                                       {"role": "assistant", "content": None, "tool_calls": [CALL]},
                                       {"role": "tool", "content": [{"type": "text", "text": "a.txt"}], "tool_call_id": "call_1"}],
        "stream": True, "max_completion_tokens": 60, "stop": [], "temperature": 1.0, "tool_choice": None,
        "parallel_tool_calls": False, "tools": [OPENAI_TOOL], "prompt_cache_key": "thread-1"},
    "Open WebUI": {
        "stream": True, "model": "local", "messages": [{"role": "user", "content": "Hello"}], "params": {},
        "features": {"web_search": False}, "variables": {"{{USER_NAME}}": "A"}, "session_id": "s", "chat_id": "c", "id": "i",
        "background_tasks": {"title_generation": True}, "stream_options": {"include_usage": True},
        "metadata": {"files": None}, "user": {"name": "A", "id": "1"}},
    "Continue": {
        "messages": [{"role": "system", "content": ""}, {"role": "user", "content": "Rename this."}], "model": "local",
        "max_tokens": 60, "stream": True, "stop": ["<fim_prefix>", "/src/", "#- coding: utf-8", "```"], "tools": [OPENAI_TOOL],
        "parallel_tool_calls": False},
    "aider": {
        "model": "local", "temperature": 0, "stream": True, "n": 1, "extra_headers": {},
        "messages": [{"role": "system", "content": "Act as a programmer."}, {"role": "user", "content": "Example"},
                     {"role": "assistant", "content": "Ok."}, {"role": "user", "content": "Files:"},
                     {"role": "assistant", "content": "Ok."}, {"role": "user", "content": "Change it."},
                     {"role": "system", "content": "Only return diffs."}]},
    "Cline": {
        "model": "local", "temperature": 0, "stream": True, "stream_options": {"include_usage": True}, "reasoning_effort": "low",
        "messages": [{"role": "system", "content": "You are an agent."},
                     {"role": "user", "content": [{"type": "text", "text": "Task"}, {"type": "text", "text": "Time: 12:00"}]},
                     {"role": "assistant", "content": [{"type": "text", "text": "Done?"}]},
                     {"role": "user", "content": [{"type": "text", "text": "[result]"}]}]},
    "pi": {
        "model": "local", "stream": True, "store": False, "max_tokens": 60, "tools": [OPENAI_TOOL], "reasoning_effort": "high",
        "messages": [{"role": "developer", "content": "Act."}, {"role": "user", "content": "ls"},
                     {"role": "assistant", "content": None, "reasoning_content": "", "tool_calls": [CALL]},
                     {"role": "tool", "tool_call_id": "call_1", "content": "a.txt"}]},
    "an agent whose memory lost the user's turns": {
        "messages": [{"role": "system", "content": "Go on."}, {"role": "assistant", "content": None, "tool_calls": [CALL]},
                     {"role": "tool", "tool_call_id": "call_1", "content": "a.txt"}], "stream": True},
    "an agent with a broken call in its history": {
        "messages": [{"role": "user", "content": "ls"},
                     {"role": "assistant", "content": "", "tool_calls": [
                         {"id": "x", "type": "function", "function": {"name": "bash", "arguments": '{"command": "l'}}]},
                     {"role": "tool", "tool_call_id": "x", "content": "error"}, {"role": "user", "content": "again"}], "stream": True},
    "an agent whose tool gave a picture": {
        "messages": [{"role": "user", "content": "look"}, {"role": "assistant", "content": None, "tool_calls": [CALL]},
                     {"role": "tool", "tool_call_id": "call_1", "content": [
                         {"type": "text", "text": "seen"},
                         {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}]}], "stream": True},
}


def sse(response):
    """(the events' data as JSON, whether [DONE] came last) of a stream; every line is checked."""
    data, done = [], False
    for line in response.text.splitlines():
        assert not done or not line, "something follows [DONE]"
        if line.startswith("data: "):
            done = line == "data: [DONE]"
            if not done:
                data.append(json.loads(line.removeprefix("data: ")))
        else:
            assert line == "" or line.startswith((":", "event: ")), line
    return data, done


@pytest.mark.parametrize("program", CHATS)
def test_chat(web, program):
    body = {"max_tokens": 40, **CHATS[program]}
    response = web.post("/v1/chat/completions", json=body)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/event-stream")
    chunks, done = sse(response)
    assert done
    first = chunks[0]["choices"][0]
    assert first["delta"]["role"] == "assistant" and first["finish_reason"] is None
    choices = [chunk["choices"][0] for chunk in chunks if chunk["choices"]]
    assert choices[-1]["finish_reason"] in ("stop", "length", "tool_calls")
    assert all(choice["finish_reason"] is None for choice in choices[:-1])
    for chunk in chunks:
        assert {"id", "object", "created", "model", "choices"} <= chunk.keys()
    begun = set()
    for choice in choices:
        for call in choice["delta"].get("tool_calls") or []:
            if call["index"] in begun:
                assert call.keys() == {"index", "function"} and call["function"].keys() == {"arguments"}
            else:
                assert isinstance(call["id"], str) and call["type"] == "function" and call["function"]["name"]
                begun.add(call["index"])
    wants_usage = (body.get("stream_options") or {}).get("include_usage", False)
    assert [chunk for chunk in chunks if chunk.get("usage")] == ([chunks[-1]] if wants_usage else [])
    assert not wants_usage or chunks[-1]["choices"] == []


def test_open_webui_asks_for_titles(web):
    body = {"model": "local", "stream": False, "max_completion_tokens": 50, "metadata": {"task": "title_generation"},
            "messages": [{"role": "user", "content": "### Task: Write a title for <chat_history>USER: Hello</chat_history>"}]}
    reply = web.post("/v1/chat/completions", json=body).json()
    assert reply["object"] == "chat.completion" and "content" in reply["choices"][0]["message"]


CLAUDE_CODE = {
    "model": "claude-sonnet-4-5-20250929", "max_tokens": 32, "stream": True, "temperature": 1,
    "metadata": {"user_id": "user_1"}, "thinking": {"type": "enabled", "budget_tokens": 16},
    "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
    "system": [{"type": "text", "text": "x-anthropic-billing-header: cc_version=2.0; cch=12345;"},
               {"type": "text", "text": "You are an agent.", "cache_control": {"type": "ephemeral"}}],
    "tools": [{"name": "Bash", "description": "Runs a command.", "input_schema": TOOL_PARAMETERS},
              {"type": "web_search_20250305", "name": "web_search", "max_uses": 8}],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "<system-reminder>Today</system-reminder>"},
                                     {"type": "text", "text": "look", "cache_control": {"type": "ephemeral"}}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "I look.", "signature": "s"},
                                          {"type": "redacted_thinking", "data": "zz"},
                                          {"type": "text", "text": "Looking."},
                                          {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "is_error": False, "content": [
                {"type": "text", "text": "a.png"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}]},
            {"type": "text", "text": "Go on."}]},
        {"role": "system", "content": "The plan has changed."}]}


def test_claude_code(web):
    headers = {"anthropic-version": "2023-06-01", "anthropic-beta": "claude-code-20250219", "x-api-key": "any"}
    assert web.head("/").status_code == 200
    assert web.get("/v1/models").status_code == 200
    response = web.post("/v1/messages?beta=true", json=CLAUDE_CODE, headers=headers)
    assert response.status_code == 200, response.text
    events, _ = sse(response)
    names = [line.removeprefix("event: ") for line in response.text.splitlines() if line.startswith("event: ")]
    assert names == [event["type"] for event in events]
    assert names[0] == "message_start" and names[-2:] == ["message_delta", "message_stop"] and "ping" in names
    assert events[0]["message"]["usage"]["input_tokens"] > 0
    open_block = None
    for event in events:
        if event["type"] == "content_block_start":
            assert open_block is None
            open_block = event["index"]
        elif event["type"] in ("content_block_delta", "content_block_stop"):
            assert event["index"] == open_block
            open_block = None if event["type"] == "content_block_stop" else open_block
    usage = events[-2]["usage"]
    count = web.post("/v1/messages/count_tokens", json=CLAUDE_CODE, headers=headers).json()["input_tokens"]
    assert usage["input_tokens"] + usage["cache_read_input_tokens"] + usage["cache_creation_input_tokens"] == count


def test_the_billing_line_is_no_part_of_the_prompt(web):
    def tokens(line: str) -> int:
        body = {**CLAUDE_CODE, "system": [{"type": "text", "text": line}, *CLAUDE_CODE["system"][1:]]}
        return web.post("/v1/messages/count_tokens", json=body).json()["input_tokens"]

    without = {**CLAUDE_CODE, "system": CLAUDE_CODE["system"][1:]}
    expected = web.post("/v1/messages/count_tokens", json=without).json()["input_tokens"]
    assert tokens("x-anthropic-billing-header: cch=1;") == tokens("x-anthropic-billing-header: a long one; cch=2;") == expected


CODEX = {
    "model": "gpt-5-codex", "instructions": "You are an agent.", "tool_choice": "auto", "parallel_tool_calls": False,
    "reasoning": {"effort": "low", "summary": "auto"}, "store": False, "stream": True, "max_output_tokens": 60,
    "include": ["reasoning.encrypted_content"], "prompt_cache_key": "0199", "text": {"verbosity": "low"},
    "tools": [{"type": "function", "name": "shell", "description": "Runs.", "strict": False, "parameters": TOOL_PARAMETERS},
              {"type": "local_shell"}, {"type": "web_search", "external_web_access": True}, {"type": "image_generation"},
              {"type": "custom", "name": "apply_patch", "format": {"type": "grammar", "syntax": "lark", "definition": "start: X"}},
              {"type": "namespace", "name": "mcp", "tools": []}],
    "input": [
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Rules."}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "List files."}]},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "I list."}], "content": None,
         "encrypted_content": None},
        {"type": "function_call", "id": "fc_1", "name": "shell", "arguments": "{\"command\": \"ls\"}", "call_id": "call_1"},
        {"type": "function_call_output", "call_id": "call_1", "output": "a.txt"},
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "There is a.txt."}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "And now?"}]}]}


def test_codex(web):
    models = web.get("/v1/models").json()
    assert models["models"] and models["data"]
    response = web.post("/v1/responses", json=CODEX, headers={"Authorization": "Bearer x"})
    assert response.status_code == 200, response.text
    events, _ = sse(response)
    assert events[0]["type"] == "response.created" and events[0]["response"]["status"] == "in_progress"
    assert events[-1]["type"] in ("response.completed", "response.incomplete")
    assert events[-1]["response"]["usage"]["total_tokens"] > 0
    done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    assert done == events[-1]["response"]["output"]
    probe = web.post("/v1/responses", json={"model": "m", "input": [], "max_output_tokens": 1})
    assert probe.status_code == 200


def test_zed_looks_the_server_up(web):
    model = web.get("/v1/models").json()["data"][0]
    assert model["meta"]["n_ctx"] == model["context_length"] == model["max_model_len"] > 0
    assert model["architecture"]["input_modalities"] == ["text"]
    props = web.get("/props").json()
    assert props["default_generation_settings"]["n_ctx"] == model["context_length"]
    assert props["chat_template_caps"]["supports_tools"] is True and props["modalities"]["vision"] is False


def test_programs_made_for_ollama(web):
    assert web.get("/api/version").json()["version"] and web.get("/api/status").status_code == 200
    name = web.get("/api/tags").json()["models"][0]["name"]
    shown = web.post("/api/show", json={"name": name}).json()
    assert {"tools", "thinking"} <= set(shown["capabilities"])
    architecture = shown["model_info"]["general.architecture"]
    assert shown["model_info"][f"{architecture}.context_length"] > 0
    body = {"model": name, "messages": [{"role": "user", "content": "What is 12 plus 30?"}], "keep_alive": "5m",
            "options": {"temperature": 0, "num_ctx": 4096, "num_predict": 200}}
    lines = [json.loads(line) for line in web.post("/api/chat", json=body).text.splitlines()]
    assert [line["done"] for line in lines] == [False] * (len(lines) - 1) + [True]
    whole = web.post("/api/chat", json={**body, "stream": False}).json()
    for part in ("content", "thinking"):
        assert "".join(line["message"].get(part, "") for line in lines) == whole["message"].get(part, "") != ""
    assert lines[-1]["done_reason"] == whole["done_reason"] == "stop" and lines[-1]["eval_count"] == whole["eval_count"]
    short = web.post("/api/generate", json={"model": name, "prompt": "What is 12 plus 30?", "stream": False, "think": False,
                                            "options": {"temperature": 0}}).json()
    assert short["response"] and "thinking" not in short
    assert web.post("/api/chat", json={"model": name, "messages": []}).json()["done_reason"] == "load"
    assert web.post("/api/chat", json={"messages": [{"role": "user", "content": "x", "images": [PIXEL]}]}).status_code == 400


def test_calls_in_ollamas_form(web):
    tool = {"type": "function", "function": {"name": "get_weather", "description": "Tells the weather of a city.",
                                             "parameters": {"type": "object", "properties": {"city": {"type": "string"}},
                                                            "required": ["city"]}}}
    messages = [{"role": "user", "content": "What is the weather in Oslo?"}]
    body = {"messages": messages, "tools": [tool], "options": {"temperature": 0}}
    lines = [json.loads(line) for line in web.post("/api/chat", json=body).text.splitlines()]
    calls = [call for line in lines for call in line["message"].get("tool_calls", [])]
    assert calls == [{"function": {"name": "get_weather", "arguments": {"city": "Oslo"}}}]
    messages += [{"role": "assistant", "content": "", "tool_calls": calls},
                 {"role": "tool", "tool_name": "get_weather", "content": "rain"}]
    assert web.post("/api/chat", json={**body, "stream": False}).status_code == 200
