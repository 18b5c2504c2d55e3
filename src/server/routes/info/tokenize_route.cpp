// POST /tokenize and /detokenize, in the forms of llama.cpp ("content") and vLLM ("prompt", "messages").
#include "server/api/api_error.h"
#include "server/api/json_writer.h"
#include "server/api/request_reader.h"
#include "server/reply/generation.h"
#include "server/routes/handlers.h"
#include "text/utf8.h"

namespace orfebre {
namespace {

std::vector<int32_t> encode_body(const ServerContext& context, const api::ObjectReader& body,
                                 std::string_view text) {
  if (body.find("messages")) {
    return encode_chat(context, api::parse_chat_request(text));
  }
  auto content = body.string("content");
  if (!content) {
    content = body.string("prompt");
  }
  if (!content) {
    api::fail_param("content", "expected a text to encode (or \"messages\"), found nothing");
  }
  const bool with_control = body.boolean("parse_special").value_or(true);
  return with_control ? context.tokenizer.encode(*content) : context.tokenizer.encode_plain(*content);
}

std::vector<int32_t> read_ids(const ServerContext& context, const api::ObjectReader& body) {
  const PyJson* list = body.array("tokens");
  if (!list) {
    api::fail_param("tokens", "expected an array of token ids, found nothing");
  }
  std::vector<int32_t> ids;
  for (size_t i = 0; i < list->items.size(); ++i) {
    const std::string path = fmt::format("tokens[{}]", i);
    ids.push_back(
        static_cast<int32_t>(api::read_integer(list->items[i], path, 0, context.tokenizer.vocab_size() - 1)));
  }
  return ids;
}

}  // namespace

void handle_tokenize(const RouteCall& call) {
  const ServerContext& context = call.state.context;
  const PyJson json_body = api::parse_body(call.request.body);
  const api::ObjectReader body(json_body, "");
  const std::vector<int32_t> ids = encode_body(context, body, call.request.body);
  const bool with_pieces =
      body.boolean("with_pieces").value_or(false) || body.boolean("return_token_strs").value_or(false);
  api::JsonWriter json;
  json.begin_object().key("tokens").begin_array();
  for (const int32_t id : ids) {
    if (!with_pieces) {
      json.integer(id);
      continue;
    }
    json.begin_object().key("id").integer(id).key("piece");
    json.string(text::replace_ill_formed(context.tokenizer.token_bytes(id))).end_object();
  }
  json.end_array().key("count").integer(static_cast<int64_t>(ids.size()));
  json.key("max_model_len").integer(context.engine.max_context());
  call.send(json.end_object().take());
}

void handle_detokenize(const RouteCall& call) {
  const ServerContext& context = call.state.context;
  const PyJson json_body = api::parse_body(call.request.body);
  const std::string text =
      context.tokenizer.decode(read_ids(context, api::ObjectReader(json_body, "")), /*skip_special=*/false);
  api::JsonWriter json;
  json.begin_object().key("content").string(text).key("prompt").string(text);
  call.send(json.end_object().take());
}

void handle_embeddings(const RouteCall&) {
  throw api::ApiError(ErrorKind::kUnsupported, "model",
                      "this model writes text and gives no embeddings: use an embedding model for them");
}

}  // namespace orfebre
