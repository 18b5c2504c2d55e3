#include "server/routes/responses/response_items.h"

#include "server/api/sse.h"

namespace orfebre {

using api::JsonWriter;
using Event = text::ReplyEvent::Kind;

void ResponseItems::add(const text::ReplyEvent& event) {
  switch (event.kind) {
    case Event::kReasoning:
    case Event::kContent: {
      const Kind kind = event.kind == Event::kContent ? Kind::kMessage : Kind::kReasoning;
      if (!is_open_ || items_.back().kind != kind) {
        begin(kind);
      }
      grow(event.text);
      break;
    }
    case Event::kToolBegin: begin(Kind::kCall, event.text); break;
    case Event::kToolArguments: grow(event.text); break;
    case Event::kToolEnd: end(event.complete ? "completed" : "incomplete"); break;
  }
}

void ResponseItems::finish(bool is_complete) {
  end(is_complete ? "completed" : "incomplete");
}

void ResponseItems::write(JsonWriter& json) const {
  json.begin_array();
  for (const Item& item : items_) {
    write_item(json, item);
  }
  json.end_array();
}

void ResponseItems::begin(Kind kind, const std::string& name) {
  end("completed");
  Item item{kind, {}, {}, name, {}};
  switch (kind) {
    case Kind::kReasoning: item.id = api::random_id("rs_"); break;
    case Kind::kMessage: item.id = api::random_id("msg_"); break;
    case Kind::kCall:
      item.id = api::random_id("fc_");
      item.call_id = api::random_id("call_");
      break;
  }
  items_.push_back(std::move(item));
  is_open_ = true;
  const auto write_opened = [&](JsonWriter& json) {
    json.key("item");
    write_item(json, items_.back());
  };
  emit("response.output_item.added", false, write_opened);
  if (kind == Kind::kCall) {
    return;
  }
  emit("response.content_part.added", true, [&](JsonWriter& json) {
    json.key("part");
    write_part(json, items_.back(), "");
  });
  emit_summary("response.reasoning_summary_part.added", [](JsonWriter& json) {
    json.key("part").begin_object().key("type").string("summary_text").key("text").string("").end_object();
  });
}

void ResponseItems::grow(const std::string& text) {
  items_.back().text += text;
  const auto write_delta = [&](JsonWriter& json) { json.key("delta").string(text); };
  switch (items_.back().kind) {
    case Kind::kReasoning:
      emit("response.reasoning_text.delta", true, write_delta);
      emit_summary("response.reasoning_summary_text.delta", write_delta);
      break;
    case Kind::kMessage:
      emit("response.output_text.delta", true, [&](JsonWriter& json) {
        write_delta(json);
        json.key("logprobs").begin_array().end_array();
      });
      break;
    case Kind::kCall: emit("response.function_call_arguments.delta", false, write_delta); break;
  }
}

void ResponseItems::end(std::string_view status) {
  if (!is_open_) {
    return;
  }
  Item& item = items_.back();
  item.status = status;
  const auto write_text = [&](JsonWriter& json) { json.key("text").string(item.text); };
  switch (item.kind) {
    case Kind::kReasoning:
      emit("response.reasoning_text.done", true, write_text);
      emit_summary("response.reasoning_summary_text.done", write_text);
      emit_summary("response.reasoning_summary_part.done", [&](JsonWriter& json) {
        json.key("part").begin_object().key("type").string("summary_text").key("text").string(item.text);
        json.end_object();
      });
      break;
    case Kind::kMessage:
      emit("response.output_text.done", true, [&](JsonWriter& json) {
        write_text(json);
        json.key("logprobs").begin_array().end_array();
      });
      break;
    case Kind::kCall:
      emit("response.function_call_arguments.done", false,
           [&](JsonWriter& json) { json.key("name").string(item.name).key("arguments").string(item.text); });
      break;
  }
  if (item.kind != Kind::kCall) {
    emit("response.content_part.done", true, [&](JsonWriter& json) {
      json.key("part");
      write_part(json, item, item.text);
    });
  }
  emit("response.output_item.done", false, [&](JsonWriter& json) {
    json.key("item");
    write_item(json, item);
  });
  is_open_ = false;
}

void ResponseItems::write_part(JsonWriter& json, const Item& item, std::string_view text) {
  json.begin_object();
  if (item.kind == Kind::kReasoning) {
    json.key("type").string("reasoning_text").key("text").string(text).end_object();
    return;
  }
  json.key("type").string("output_text").key("text").string(text);
  json.key("annotations").begin_array().end_array().key("logprobs").begin_array().end_array().end_object();
}

void ResponseItems::write_item(JsonWriter& json, const Item& item) const {
  const bool has_text = item.status != "in_progress";
  json.begin_object().key("id").string(item.id).key("type");
  switch (item.kind) {
    case Kind::kReasoning:
      json.string("reasoning").key("summary").begin_array();
      if (has_text && with_summary_) {
        json.begin_object().key("type").string("summary_text").key("text").string(item.text).end_object();
      }
      json.end_array().key("content").begin_array();
      break;
    case Kind::kMessage:
      json.string("message").key("role").string("assistant").key("content").begin_array();
      break;
    case Kind::kCall:
      json.string("function_call").key("call_id").string(item.call_id).key("name").string(item.name);
      json.key("arguments").string(item.text);
      break;
  }
  if (item.kind != Kind::kCall) {
    if (has_text) {
      write_part(json, item, item.text);
    }
    json.end_array();
  }
  json.key("status").string(item.status).end_object();
}

JsonWriter ResponseItems::about(std::string_view type, bool with_part) const {
  JsonWriter json;
  json.begin_object().key("type").string(type);
  if (!type.starts_with("response.output_item")) {
    json.key("item_id").string(items_.back().id);
  }
  json.key("output_index").integer(static_cast<int64_t>(items_.size()) - 1);
  if (with_part) {
    json.key("content_index").integer(0);
  }
  return json;
}

void ResponseItems::emit(std::string_view type, bool with_part,
                         const std::function<void(JsonWriter&)>& more) {
  if (!emit_) {
    return;
  }
  JsonWriter json = about(type, with_part);
  if (more) {
    more(json);
  }
  emit_(type, std::move(json));
}

void ResponseItems::emit_summary(std::string_view type, const std::function<void(JsonWriter&)>& more) {
  if (!emit_ || !with_summary_ || items_.back().kind != Kind::kReasoning) {
    return;
  }
  JsonWriter json = about(type, false);
  json.key("summary_index").integer(0);
  more(json);
  emit_(type, std::move(json));
}

}  // namespace orfebre
