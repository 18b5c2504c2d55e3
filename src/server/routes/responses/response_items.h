// The output items of a response, built from a reply's events, and the server-sent events that tell of them
// on the way. One builder for both forms, so that a stream and a whole response cannot differ.
#pragma once

#include "server/api/json_writer.h"
#include "text/reply_parser.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace orfebre {

class ResponseItems {
 public:
  // Called with an event's name and a JSON object that still lacks its end. Empty for a whole response.
  using Emit = std::function<void(std::string_view name, api::JsonWriter json)>;

  // `with_summary`: reasoning items carry their text as a summary too.
  ResponseItems(Emit emit, bool with_summary) : emit_(std::move(emit)), with_summary_(with_summary) {}

  void add(const text::ReplyEvent& event);
  // The end of the reply. `is_complete`: it was not cut.
  void finish(bool is_complete);
  // The array of items.
  void write(api::JsonWriter& json) const;

 private:
  enum class Kind { kReasoning, kMessage, kCall };
  struct Item {
    Kind kind;
    std::string id;
    std::string text;           // reasoning, content or arguments
    std::string name, call_id;  // of a call
    std::string_view status = "in_progress";
  };

  void begin(Kind kind, const std::string& name = {});
  void grow(const std::string& text);
  void end(std::string_view status);
  void write_item(api::JsonWriter& json, const Item& item) const;
  static void write_part(api::JsonWriter& json, const Item& item, std::string_view text);

  // An event about the open item.
  api::JsonWriter about(std::string_view type, bool with_part) const;
  void emit(std::string_view type, bool with_part, const std::function<void(api::JsonWriter&)>& more = {});
  void emit_summary(std::string_view type, const std::function<void(api::JsonWriter&)>& more);

  Emit emit_;
  bool with_summary_;
  bool is_open_ = false;
  std::vector<Item> items_;
};

}  // namespace orfebre
