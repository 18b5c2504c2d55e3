// The handlers of all routes, for the table in route.cpp. Each lives in the folder of its API.
#pragma once

#include "server/route.h"

namespace orfebre {

// chat/, completions/, responses/: OpenAI's.
void handle_chat(const RouteCall& call);
void handle_completions(const RouteCall& call);
void handle_responses(const RouteCall& call);
void handle_unknown_response(const RouteCall& call);
void handle_embeddings(const RouteCall& call);

// messages/: Anthropic's.
void handle_messages(const RouteCall& call);
void handle_count_tokens(const RouteCall& call);

// ollama/
void handle_ollama_chat(const RouteCall& call);
void handle_ollama_generate(const RouteCall& call);
void handle_ollama_tags(const RouteCall& call);
void handle_ollama_show(const RouteCall& call);
void handle_ollama_ps(const RouteCall& call);
void handle_ollama_version(const RouteCall& call);

// info/
void handle_models(const RouteCall& call);
void handle_model(const RouteCall& call);
void handle_props(const RouteCall& call);
void handle_tokenize(const RouteCall& call);
void handle_detokenize(const RouteCall& call);
void handle_health(const RouteCall& call);
void handle_metrics(const RouteCall& call);
void handle_openapi(const RouteCall& call);
void handle_root(const RouteCall& call);

}  // namespace orfebre
