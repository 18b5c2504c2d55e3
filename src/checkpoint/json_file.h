// Reading a small JSON file of a checkpoint into simdjson's DOM: size and depth bounded, repeated keys
// refused. Included by .cpp files of this folder only.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace orfebre {

inline constexpr size_t kMaxJsonDepth = 32;

// Parses `text`, which must stay alive no longer than the call. The result lives in `parser`. Throws
// Error(kBadCheckpoint) "<where>: ..." when it is no JSON, nests deeper than kMaxJsonDepth, repeats a key
// inside one object (simdjson keeps both and returns the first; other readers take the last) or is not an
// object.
simdjson::dom::object parse_json_object(simdjson::dom::parser& parser, std::string_view text,
                                        const std::string& where);

// The bytes of a file of at most `max_bytes`. Throws Error(kBadCheckpoint) when it is larger.
std::string read_small_file(const std::string& path, uint64_t max_bytes);

}  // namespace orfebre
