// The fields about sampling and length that several APIs share.
#pragma once

#include "sample/sampling_fields.h"
#include "server/api/request_reader.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace orfebre::api {

// temperature, top_p, top_k, min_p, presence_penalty, frequency_penalty, repetition_penalty (or
// repeat_penalty), seed, logit_bias. Throws ApiError for a value of another kind or out of range.
SamplingFields read_sampling(const ObjectReader& body);

// The first of `names` that is there: at least 1, or -1 for no limit. 0 for no limit or none of them. More
// than an int holds is more than any context.
int read_max_tokens(const ObjectReader& body, std::initializer_list<const char*> names);

// A string or up to 16; empty ones are dropped.
std::vector<std::string> read_stop(const ObjectReader& body, std::string_view name);

}  // namespace orfebre::api
