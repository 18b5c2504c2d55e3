// `orfebre tokenize`: text to ids and back.
#include "base/error.h"
#include "cli/app/load_model.h"
#include "cli/app/model_dir.h"
#include "cli/commands.h"
#include "cli/system/read_input.h"
#include "text/chat_template.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace orfebre::cli {
namespace {

std::vector<text::TokenId> parse_ids(std::string_view list) {
  std::vector<text::TokenId> ids;
  const char* at = list.data();
  const char* const end = at + list.size();
  const auto is_separator = [](char c) {
    return std::string_view(" \t\r\n,[]").find(c) != std::string_view::npos;
  };
  while ((at = std::find_if_not(at, end, is_separator)) != end) {
    text::TokenId id = 0;
    const auto [next, error] = std::from_chars(at, end, id);
    if (error != std::errc() || id < 0 || (next != end && !is_separator(*next))) {
      fail(ErrorKind::kInvalidRequest,
           "tokenize --decode takes ids, whole numbers from 0, separated by spaces; "
           "character {} begins something else",
           at - list.data() + 1);
    }
    ids.push_back(id);
    at = next;
  }
  return ids;
}

void require_known(const text::Tokenizer& tokenizer, const std::vector<text::TokenId>& ids) {
  for (const text::TokenId id : ids) {
    if (id >= tokenizer.vocab_size()) {
      fail(ErrorKind::kInvalidRequest,
           "tokenize --decode: id {} is unknown; this vocabulary has the ids 0 to {}", id,
           tokenizer.vocab_size() - 1);
    }
  }
}

// Bytes as they are if printable ASCII or UTF-8, control characters as escapes.
std::string printable(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || c == '\\') {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

std::vector<text::TokenId> encode(const text::Tokenizer& tokenizer, const TokenizeCommand& command,
                                  const std::string& input) {
  if (command.chat) {
    const text::Message message = text::text_message("user", input);
    return tokenizer.encode(text::render_chat({&message, 1}, {}, {}));
  }
  return command.plain ? tokenizer.encode_plain(input) : tokenizer.encode(input);
}

}  // namespace

int run_command(const TokenizeCommand& command) {
  const text::Tokenizer tokenizer = load_tokenizer(resolve_model_dir(command.model));
  const std::string input = read_argument(command.text);
  const std::vector<text::TokenId> ids =
      command.decode ? parse_ids(input) : encode(tokenizer, command, input);
  require_known(tokenizer, ids);
  if (command.pieces) {
    for (const text::TokenId id : ids) {
      fmt::print("{:>7} {}\n", id, printable(tokenizer.token_bytes(id)));
    }
  } else if (command.decode) {
    fmt::print("{}\n", tokenizer.decode(ids, /*skip_special=*/false));
  } else {
    fmt::print("{}\n", fmt::join(ids, " "));
  }
  return 0;
}

}  // namespace orfebre::cli
