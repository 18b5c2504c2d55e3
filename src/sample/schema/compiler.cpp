#include "sample/schema/compiler.h"

#include "sample/schema/containers.h"

#include <algorithm>
#include <charconv>
#include <ctime>

namespace orfebre::schema {

using automaton::Action;
using automaton::CharDfa;
using automaton::RuleId;
using automaton::StateId;
using automaton::Writing;

namespace {

constexpr size_t kMaxValueRules = 20'000;
constexpr double kMaxSeconds = 4;  // of this thread's processor time

double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

// ---- pieces ----

RuleId Compiler::space_rule() {
  if (!space_) {
    space_ = builder_.add_rule();
    StateId state = builder_.start(*space_);
    builder_.set_final(state);
    const StateId one = builder_.add_state(*space_);
    builder_.set_final(one);
    builder_.add_edge(state, ' ', ' ', one);
    for (int i = 0; i <= kMaxIndent; ++i) {
      const StateId next = builder_.add_state(*space_);
      builder_.set_final(next);
      if (i == 0) {
        builder_.add_edge(state, '\n', '\n', next);
      } else {
        builder_.add_edge(state, '\t', '\t', next);
        builder_.add_edge(state, ' ', ' ', next);
      }
      state = next;
    }
  }
  return *space_;
}

StateId Compiler::colon(StateId from) {
  const StateId behind = builder_.add_text(from, ":");
  const StateId next = builder_.add_text(behind, " ");
  builder_.add_jump(behind, next);
  return next;
}

RuleId Compiler::text_rule(const std::string& text) {
  const auto [found, is_new] = texts_.emplace(text, 0);
  if (is_new) {
    const RuleId rule = builder_.add_rule();
    builder_.set_final(builder_.add_text(builder_.start(rule), text));
    texts_.at(text) = rule;
  }
  return texts_.at(text);
}

RuleId Compiler::texts_rule(const std::vector<std::string>& texts) {
  const RuleId rule = builder_.add_rule();
  std::map<std::pair<StateId, char>, StateId> next;
  for (const std::string& text : texts) {
    StateId state = builder_.start(rule);
    for (const char c : text) {
      const auto [found, is_new] = next.emplace(std::pair(state, c), 0);
      if (is_new) {
        found->second = builder_.add_text(state, std::string_view(&c, 1));
      }
      state = found->second;
    }
    builder_.set_final(state);
  }
  return rule;
}

RuleId Compiler::dfa_rule(const CharDfa& dfa) {
  const RuleId rule = builder_.add_rule();
  const StateId end = builder_.add_state(rule);
  builder_.set_final(end);
  builder_.add_jump(builder_.start(rule), builder_.add_dfa(rule, dfa, Writing::kRaw, end));
  return rule;
}

RuleId Compiler::string_rule(const StringLanguage& language) {
  if (language.is_any() && any_string_) {
    return *any_string_;
  }
  const RuleId rule =
      language.is_counted ? builder_.add_rule(language.least, language.most) : builder_.add_rule();
  const StateId open = builder_.add_text(builder_.start(rule), "\"");
  const StateId closing = builder_.add_state(rule);
  builder_.set_final(builder_.add_text(closing, "\""));
  builder_.add_jump(open,
                    builder_.add_dfa(rule, language.texts, Writing::kJson, closing, language.is_counted));
  if (language.is_any()) {
    any_string_ = rule;
  }
  return rule;
}

// A value as it stands, with white space where any JSON may have it.
RuleId Compiler::json_rule(const PyJson& value) {
  const bool is_list = value.kind == PyJson::Kind::kArray;
  if (!is_list && !value.is_object()) {
    return text_rule(json_dumps_as_written(value));
  }
  const RuleId rule = builder_.add_rule();
  StateId state = builder_.add_text(builder_.start(rule), is_list ? "[" : "{");
  const size_t n_parts = is_list ? value.items.size() : value.members.size();
  for (size_t i = 0; i < n_parts; ++i) {
    StateId next = builder_.add_state(rule);
    space(i == 0 ? state : builder_.add_text(state, ","), next);
    if (!is_list) {
      std::string key;
      append_json_string(key, value.members[i].key);
      next = colon(builder_.add_text(next, key));
    }
    state = builder_.add_state(rule);
    builder_.add_call(next, json_rule(is_list ? value.items[i] : value.members[i].value), state);
  }
  const StateId end = builder_.add_state(rule);
  space(state, end);
  builder_.set_final(builder_.add_text(end, is_list ? "]" : "}"));
  return rule;
}

// ---- any value ----

RuleId Compiler::any_rule(int depth) {
  const auto [found, is_new] = any_.emplace(depth, 0);
  if (!is_new) {
    return found->second;
  }
  const RuleId rule = builder_.add_rule();
  any_.at(depth) = rule;
  const StateId start = builder_.start(rule), end = builder_.add_state(rule);
  builder_.set_final(end);
  Assertions scalars;
  scalars.types = kNull | kBoolean | kInteger | kNumber | kString;
  call_values(start, scalars, end, false);
  if (depth > 0) {
    builder_.add_call(start, any_object_rule(depth), end);
    builder_.add_call(start, any_array_rule(depth), end);
  }
  return rule;
}

RuleId Compiler::any_object_rule(int depth) {
  const auto [found, is_new] = any_objects_.emplace(depth, 0);
  if (!is_new) {
    return found->second;
  }
  const RuleId rule = builder_.add_rule();
  any_objects_.at(depth) = rule;
  const StateId open = builder_.add_text(builder_.start(rule), "{");
  const StateId first = builder_.add_state(rule), key = builder_.add_state(rule),
                behind = builder_.add_state(rule), closing = builder_.add_state(rule);
  space(open, first);
  builder_.add_jump(first, key);
  builder_.add_jump(first, closing);
  const StateId name = builder_.add_state(rule);
  builder_.add_call(key, string_rule({automaton::any_text(), false, 0, -1, true}), name);
  builder_.add_call(colon(name), any_rule(depth - 1), behind);
  space(builder_.add_text(behind, ","), key);
  space(behind, closing);
  builder_.set_final(builder_.add_text(closing, "}"));
  return rule;
}

RuleId Compiler::any_array_rule(int depth) {
  const auto [found, is_new] = any_arrays_.emplace(depth, 0);
  if (!is_new) {
    return found->second;
  }
  const RuleId rule = ArrayWriter(*this).write_list(any_rule(depth - 1), 0, automaton::kNoLimit);
  any_arrays_.at(depth) = rule;
  return rule;
}

// ---- values of a schema ----

RuleId Compiler::value_rule(const Conjunction& schemas) {
  if (schemas.empty()) {
    return any_rule(kAnyDepth);
  }
  const auto [found, is_new] = values_.emplace(schemas, 0);
  if (!is_new) {
    return found->second;
  }
  if (values_.size() > kMaxValueRules) {
    fail_at(*schemas[0], ErrorKind::kUnsupported, "too large: too many combinations of schemas");
  }
  const RuleId rule = builder_.add_rule();
  found->second = rule;
  unwritten_.emplace_back(schemas, rule);
  return rule;
}

void Compiler::finish() {
  const double begun_at = thread_seconds();
  while (!unwritten_.empty()) {
    const auto [schemas, rule] = std::move(unwritten_.front());
    unwritten_.pop_front();
    if (thread_seconds() - begun_at > kMaxSeconds) {
      fail_at(*schemas[0], ErrorKind::kUnsupported,
              fmt::format("too large: compiling the schema takes more than {} s", kMaxSeconds));
    }
    const StateId end = builder_.add_state(rule);
    builder_.set_final(end);
    for (const Assertions& assertions : alternatives_of(schemas)) {
      call_values(builder_.start(rule), assertions, end, false);
    }
  }
}

void Compiler::call_values(StateId from, const Assertions& assertions, StateId to, bool but_strings) {
  if (assertions.has_values) {
    std::vector<std::string> scalars;
    for (const PyJson* value : allowed_values(assertions)) {
      if (value->is_object() || value->kind == PyJson::Kind::kArray) {
        builder_.add_call(from, json_rule(*value), to);
      } else if (!but_strings || !value->is_string()) {
        scalars.push_back(json_dumps_as_written(*value));
      }
    }
    builder_.add_call(from, texts_rule(scalars), to);
    return;
  }
  if (assertions.is_anything() && !but_strings) {
    builder_.add_call(from, any_rule(kAnyDepth), to);
    return;
  }
  const Types types = assertions.written_types();
  if ((types & kNull) != 0) {
    builder_.add_call(from, text_rule("null"), to);
  }
  if ((types & kBoolean) != 0) {
    builder_.add_call(from, text_rule("true"), to);
    builder_.add_call(from, text_rule("false"), to);
  }
  if ((types & (kInteger | kNumber)) != 0) {
    call_number(from, assertions, to);
  }
  if ((types & kString) != 0 && !but_strings) {
    call_string(from, assertions, to);
  }
  if ((types & kArray) != 0) {
    builder_.add_call(from, array_rule(assertions), to);
  }
  if ((types & kObject) != 0) {
    builder_.add_call(from, object_rule(assertions), to);
  }
}

void Compiler::call_string(StateId from, const Assertions& assertions, StateId to) {
  const StringLanguage language = string_language_of(assertions);
  if (!language.is_empty()) {
    builder_.add_call(from, string_rule(language), to);
  }
}

void Compiler::call_number(StateId from, const Assertions& assertions, StateId to) {
  const bool integers = (assertions.written_types() & kNumber) == 0;
  const bool bounded = assertions.low || assertions.high || !assertions.multiples.empty();
  if (!integers && !bounded) {
    if (!any_number_) {
      any_number_ = dfa_rule(automaton::any_number());
    }
    builder_.add_call(from, *any_number_, to);
    return;
  }
  std::string key = integers ? "i" : "n";
  for (const auto* bound : {&assertions.low, &assertions.high}) {
    key += *bound ? ((*bound)->exclusive ? " x" : " ") + (*bound)->value.text() : " -";
  }
  for (const PyJson* multiple : assertions.multiples) {
    key += " %" + multiple->text;
  }
  if (const auto known = numbers_.find(key); known != numbers_.end()) {
    builder_.add_call(from, known->second, to);
    return;
  }
  const CharDfa numbers =
      with_multiples(automaton::number_range(assertions.low, assertions.high, integers), assertions);
  const RuleId rule = numbers.empty() ? builder_.add_rule() : dfa_rule(numbers);  // without an end: no number
  numbers_.emplace(key, rule);
  builder_.add_call(from, rule, to);
}

// Multiples of an integer up to 1,000, written as integers; of 0.1, 0.01, ... for numbers.
CharDfa Compiler::with_multiples(CharDfa numbers, const Assertions& assertions) const {
  constexpr int kMaxDivisor = 1'000;
  for (const PyJson* node : assertions.multiples) {
    const bool is_number = node->kind == PyJson::Kind::kInteger || node->kind == PyJson::Kind::kFloat;
    const auto step = is_number ? automaton::parse_decimal(node->text) : std::nullopt;
    if (!step || step->negative || step->is_zero()) {
      fail_at(*node, ErrorKind::kInvalidRequest, "expected a number above 0");
    }
    const bool is_power = step->whole.empty() &&
                          step->fraction.find_first_not_of('0') + 1 == step->fraction.size() &&
                          step->fraction.back() == '1';
    int divisor = 0;
    if (step->is_integer() && step->whole.size() <= 4) {
      std::from_chars(step->whole.data(), step->whole.data() + step->whole.size(), divisor);
    }
    if (divisor == 1 || is_power) {
      numbers =
          intersection(numbers, automaton::at_most_fraction_digits(static_cast<int>(step->fraction.size())));
    } else if (divisor >= 1 && divisor <= kMaxDivisor) {
      numbers = intersection(numbers, automaton::multiples_of(divisor));
    } else if (!context_.is_lenient) {
      fail_at(*node, ErrorKind::kUnsupported,
              fmt::format("this step cannot be honoured: known are integers up to {} and 0.1, 0.01, ...",
                          kMaxDivisor));
    }
  }
  return numbers;
}

std::vector<const PyJson*> Compiler::allowed_values(const Assertions& assertions) const {
  std::vector<const PyJson*> allowed;
  const StringLanguage strings = string_language_of(assertions);
  for (const PyJson* value : assertions.values) {
    const Types type = type_of(*value);
    bool fits = (type & assertions.types) != 0;
    if (value->is_string()) {
      fits = fits && satisfies(strings, value->text);
    } else if ((type & (kInteger | kNumber)) != 0) {
      const auto number = automaton::parse_decimal(value->text);
      const auto inside = [&](const std::optional<automaton::Bound>& bound, int wanted) {
        const int order = bound ? compare(*number, bound->value) * wanted : 1;
        return order > 0 || (order == 0 && !bound->exclusive);
      };
      const bool has_bounds = assertions.low || assertions.high || !assertions.multiples.empty();
      if (has_bounds && (!number || !assertions.multiples.empty())) {
        fail_at(*value, ErrorKind::kUnsupported, "this value cannot be compared with the other keywords");
      }
      fits = fits && (!has_bounds || (inside(assertions.low, 1) && inside(assertions.high, -1)));
    } else if ((fits && type == kObject && !assertions.objects.empty()) ||
               (fits && type == kArray && !assertions.arrays.empty())) {
      fail_at(*value, ErrorKind::kUnsupported,
              "an object or array cannot be compared with the other keywords");
    }
    if (fits) {
      allowed.push_back(value);
    }
  }
  return allowed;
}

}  // namespace orfebre::schema
