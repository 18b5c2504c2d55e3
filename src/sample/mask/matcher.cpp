#include "sample/mask/matcher.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace orfebre::mask {

using automaton::Action;
using automaton::Call;
using automaton::Edge;
using automaton::kNoLimit;
using automaton::Rule;
using automaton::State;
using automaton::StateId;

namespace {

constexpr size_t mix(size_t hash, size_t value) {
  return (hash ^ value) * 0x9E3779B97F4A7C15ull + (hash >> 29);
}

}  // namespace

bool Matcher::Thread::operator<(const Thread& other) const {
  return std::tie(state, counter, stack) < std::tie(other.state, other.counter, other.stack);
}

size_t Matcher::Hash::operator()(const Frame& frame) const {
  return mix(mix(mix(7, frame.state), static_cast<size_t>(frame.counter)), frame.below);
}

size_t Matcher::Hash::operator()(const std::vector<Thread>& threads) const {
  size_t hash = threads.size();
  for (const Thread& thread : threads) {
    hash = mix(mix(mix(hash, thread.state), static_cast<size_t>(thread.counter)), thread.stack);
  }
  return hash;
}

Matcher::Matcher(std::shared_ptr<const automaton::Program> program,
                 std::shared_ptr<const Vocabulary> vocabulary)
    : program_(std::move(program)), vocabulary_(std::move(vocabulary)) {
  frames_.push_back({});
  normal_frames_.push_back(0);
  current_ = close({{program_->rules[program_->root].start, 0, 0}});
}

// ---- stacks and counters ----

uint32_t Matcher::push(const Frame& frame) {
  const auto [found, is_new] = frame_ids_.emplace(frame, static_cast<uint32_t>(frames_.size()));
  if (is_new) {
    frames_.push_back(frame);
    normal_frames_.push_back(kUnknown);
  }
  return found->second;
}

// No token counts further than reach(): counters that are farther from both limits allow the same tokens.
int32_t Matcher::normal_counter(StateId state, int32_t counter) const {
  const Rule& rule = program_->rules[program_->states[state].rule];
  const int32_t reach = vocabulary_->reach();
  const bool far_below_most = rule.most == kNoLimit || rule.most - counter > reach;
  if (counter >= rule.least) {
    return far_below_most ? rule.least : counter;
  }
  return rule.least - counter > reach ? 0 : counter;
}

uint32_t Matcher::normal_stack(uint32_t stack) {
  std::vector<uint32_t> way;
  uint32_t bottom = stack;
  for (; normal_frames_[bottom] == kUnknown; bottom = frames_[bottom].below) {
    way.push_back(bottom);
  }
  uint32_t below = normal_frames_[bottom];
  for (auto frame = way.rbegin(); frame != way.rend(); ++frame) {
    const Frame original = frames_[*frame];
    below = push({original.state, normal_counter(original.state, original.counter), below});
    normal_frames_[*frame] = below;
    normal_frames_[below] = below;
  }
  return normal_frames_[stack];
}

bool Matcher::allows(Action action, const Rule& rule, int32_t counter) const {
  switch (action) {
    case Action::kNone: return true;
    case Action::kMore:
    case Action::kCount: return rule.most == kNoLimit || counter < rule.most;
    case Action::kClose: return counter >= rule.least;
  }
  return false;
}

// Without a limit nothing above `least` needs to be told apart.
int32_t Matcher::counted(Action action, const Rule& rule, int32_t counter) const {
  if (action != Action::kCount || (rule.most == kNoLimit && counter >= rule.least)) {
    return counter;
  }
  return counter + 1;
}

// ---- configurations ----

Matcher::ConfigId Matcher::intern(std::vector<Thread> threads, bool accepts) {
  if (threads.empty() && !accepts) {
    return kDead;
  }
  auto& ids = ids_[accepts ? 1 : 0];
  if (const auto found = ids.find(threads); found != ids.end()) {
    return found->second;
  }
  const auto id = static_cast<ConfigId>(configs_.size());
  ids.emplace(threads, id);
  Config config;
  config.threads = std::move(threads);
  config.accepts = accepts;
  config.next.assign(program_->n_classes, kUnknown);
  configs_.push_back(std::move(config));
  return id;
}

void Matcher::Seen::clear() {
  constexpr size_t kSlots = 16'384;
  static_assert(kSlots >= 8 * kMaxThreads);
  if (slots.empty()) {
    slots.resize(kSlots);
    stamps.assign(kSlots, 0);
  }
  if (++stamp == 0) {
    std::fill(stamps.begin(), stamps.end(), 0);
    stamp = 1;
  }
  count = 0;
}

bool Matcher::Seen::insert(const Thread& thread) {
  const size_t mask = slots.size() - 1;
  const size_t hash = mix(mix(mix(3, thread.state), static_cast<size_t>(thread.counter)), thread.stack);
  for (size_t at = (hash >> 20) & mask;; at = (at + 1) & mask) {
    if (stamps[at] != stamp) {
      if (count >= 4 * kMaxThreads) {
        return false;
      }
      stamps[at] = stamp;
      slots[at] = thread;
      ++count;
      return true;
    }
    if (slots[at] == thread) {
      return false;
    }
  }
}

// Follows calls and ends of rules until every thread stands before a symbol.
Matcher::ConfigId Matcher::close(std::vector<Thread> queue) {
  seen_.clear();
  std::vector<Thread> threads;
  bool accepts = false;
  while (!queue.empty()) {
    const Thread thread = queue.back();
    queue.pop_back();
    if (!seen_.insert(thread)) {
      continue;
    }
    const State& state = program_->states[thread.state];
    const Rule& rule = program_->rules[state.rule];
    if (state.n_edges > 0 && threads.size() < kMaxThreads) {
      threads.push_back(thread);
    }
    for (uint32_t i = 0; i < state.n_calls; ++i) {
      const Call& call = program_->calls[state.first_call + i];
      if (!allows(call.action, rule, thread.counter)) {
        continue;
      }
      const int32_t counter = counted(call.action, rule, thread.counter);
      if (call.rule == automaton::kJump) {
        queue.push_back({call.then, counter, thread.stack});
        continue;
      }
      // A call at a rule's very end need not come back to it.
      const State& then = program_->states[call.then];
      const bool is_last = then.is_final && then.n_edges == 0 && then.n_calls == 0;
      const uint32_t stack = is_last ? thread.stack : push({call.then, counter, thread.stack});
      queue.push_back({program_->rules[call.rule].start, 0, stack});
    }
    if (state.is_final && thread.stack == 0) {
      accepts = true;
    } else if (state.is_final) {
      const Frame frame = frames_[thread.stack];
      queue.push_back({frame.state, frame.counter, frame.below});
    }
  }
  work_ += seen_.count;
  std::sort(threads.begin(), threads.end());
  return intern(std::move(threads), accepts);
}

Matcher::ConfigId Matcher::step(ConfigId config, uint32_t symbol) {
  const ConfigId next = configs_[config].next[program_->symbol_class[symbol]];
  return next != kUnknown ? next : step_slowly(config, symbol);
}

Matcher::ConfigId Matcher::step_slowly(ConfigId config, uint32_t symbol) {
  std::vector<Thread> after;
  for (const Thread& thread : configs_[config].threads) {
    const State& state = program_->states[thread.state];
    const Rule& rule = program_->rules[state.rule];
    const Edge* const edges = program_->edges.data() + state.first_edge;
    const Edge* const edge = std::lower_bound(edges, edges + state.n_edges, symbol,
                                              [](const Edge& e, uint32_t s) { return e.high < s; });
    if (edge != edges + state.n_edges && edge->low <= symbol && allows(edge->action, rule, thread.counter)) {
      after.push_back({edge->target, counted(edge->action, rule, thread.counter), thread.stack});
    }
  }
  constexpr size_t kConfigWork = 16;
  work_ += configs_[config].threads.size() + kConfigWork;
  const ConfigId next = close(std::move(after));
  configs_[config].next[program_->symbol_class[symbol]] = next;
  return next;
}

Matcher::ConfigId Matcher::normal(ConfigId config) {
  if (configs_[config].normal == kUnknown) {
    std::vector<Thread> threads = configs_[config].threads;
    for (Thread& thread : threads) {
      thread.counter = normal_counter(thread.state, thread.counter);
      thread.stack = normal_stack(thread.stack);
    }
    std::sort(threads.begin(), threads.end());
    threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
    const ConfigId id = intern(std::move(threads), configs_[config].accepts);
    configs_[config].normal = id;
    configs_[id].normal = id;
  }
  return configs_[config].normal;
}

// Forgets every configuration but the present one, whose frames are made anew.
void Matcher::reset_caches() {
  const std::vector<Config> old_configs = std::exchange(configs_, {});
  const std::vector<Frame> old_frames = std::exchange(frames_, {{}});
  normal_frames_ = {0};
  frame_ids_.clear();
  ids_[0].clear();
  ids_[1].clear();
  std::unordered_map<uint32_t, uint32_t> moved{{0, 0}};
  std::vector<Thread> threads = old_configs[current_].threads;
  for (Thread& thread : threads) {
    std::vector<uint32_t> way;
    uint32_t bottom = thread.stack;
    for (; !moved.contains(bottom); bottom = old_frames[bottom].below) {
      way.push_back(bottom);
    }
    uint32_t below = moved.at(bottom);
    for (auto frame = way.rbegin(); frame != way.rend(); ++frame) {
      below = push({old_frames[*frame].state, old_frames[*frame].counter, below});
      moved.emplace(*frame, below);
    }
    thread.stack = moved.at(thread.stack);
  }
  std::sort(threads.begin(), threads.end());
  current_ = intern(std::move(threads), old_configs[current_].accepts);
}

Matcher::ConfigId Matcher::behind(std::string_view bytes) {
  ConfigId config = current_;
  for (size_t i = 0; i < bytes.size() && config != kDead; ++i) {
    config = step(config, static_cast<unsigned char>(bytes[i]));
  }
  return config;
}

Matcher::ConfigId Matcher::behind_control(int32_t token) {
  const auto& controls = program_->control_tokens;
  const auto found = std::find(controls.begin(), controls.end(), token);
  if (found == controls.end()) {
    return kDead;
  }
  return step(current_, automaton::kFirstControl + static_cast<uint32_t>(found - controls.begin()));
}

bool Matcher::move_to(ConfigId config) {
  if (config == kDead) {
    return false;
  }
  current_ = config;
  return true;
}

bool Matcher::advance(std::string_view bytes) {
  return move_to(behind(bytes));
}

bool Matcher::advance_control(int32_t token) {
  return move_to(behind_control(token));
}

bool Matcher::takes(std::string_view bytes) {
  return behind(bytes) != kDead;
}

bool Matcher::takes_control(int32_t token) {
  return behind_control(token) != kDead;
}

// ---- masks ----

void Matcher::fill_mask(std::span<uint32_t> words) {
  if (configs_.size() > kMaxConfigs || frames_.size() > kMaxFrames) {
    reset_caches();
  }
  const ConfigId id = normal(current_);
  if (!configs_[id].mask) {
    std::unique_ptr<Mask> mask = compute_mask(id);
    configs_[id].mask = std::move(mask);
  }
  const Mask& mask = *configs_[id].mask;
  if (mask.base != nullptr) {
    for (size_t i = 0; i < mask.base->size(); ++i) {
      words[i] |= (*mask.base)[i];
    }
  }
  for (const int32_t token : mask.tokens) {
    words[static_cast<size_t>(token) / 32] |= 1u << (token % 32);
  }
}

bool Matcher::no_other_takes_plain(const Config& config, const Thread& except) const {
  const auto has_plain = [](const Edge& edge) {
    for (uint32_t symbol = std::max<uint32_t>(edge.low, 0x20); symbol <= edge.high && symbol < 256;
         ++symbol) {
      if (symbol != '"' && symbol != '\\') {
        return true;
      }
    }
    return false;
  };
  return std::all_of(config.threads.begin(), config.threads.end(), [&](const Thread& thread) {
    const State& state = program_->states[thread.state];
    const Edge* const edges = program_->edges.data() + state.first_edge;
    return thread == except || std::none_of(edges, edges + state.n_edges, has_plain);
  });
}

// What the threads take is added up, so it is enough that one of them takes the base.
Matcher::Shortcut Matcher::shortcut(const Config& config) const {
  const Vocabulary& all = *vocabulary_;
  Shortcut best{nullptr, &all.all()};
  int32_t best_plain = 0;
  for (const Thread& thread : config.threads) {
    const State& state = program_->states[thread.state];
    const Rule& rule = program_->rules[state.rule];
    const automaton::Tolerance& takes = state.tolerance;
    const int32_t reach = all.reach();
    const int32_t to_count = rule.most == kNoLimit ? reach : std::min(rule.most - thread.counter, reach);
    if (takes.text && to_count >= reach) {
      return {&all.text(), &all.not_text()};
    }
    if (takes.json && to_count >= reach) {
      return {&all.in_json_string(), &all.not_in_json_string()};
    }
    const int32_t plain =
        std::min<int32_t>(takes.plain == automaton::kAnyPlain ? reach : takes.plain, to_count);
    if (plain > best_plain) {
      best_plain = plain;
      // Longer plain tokens are left only where another reason than the counter may take them.
      const bool no_other = plain >= reach || (takes.exact && no_other_takes_plain(config, thread));
      best = {&all.plain(plain), no_other ? &all.not_plain() : &all.all()};
    }
  }
  return best;
}

std::unique_ptr<Matcher::Mask> Matcher::compute_mask(ConfigId config) {
  auto mask = std::make_unique<Mask>();
  const Shortcut part = shortcut(configs_[config]);
  mask->base = part.base;
  walk(config, *part.rest, mask->tokens);
  for (size_t i = 0; i < program_->control_tokens.size(); ++i) {
    if (step(config, automaton::kFirstControl + static_cast<uint32_t>(i)) != kDead) {
      mask->tokens.push_back(program_->control_tokens[i]);
    }
  }
  if (mask->tokens.size() > vocabulary_->mask_words()) {  // as bits they are smaller
    mask->own = mask->base != nullptr ? *mask->base : TokenSet(vocabulary_->mask_words(), 0);
    for (const int32_t token : mask->tokens) {
      mask->own[static_cast<size_t>(token) / 32] |= 1u << (token % 32);
    }
    mask->base = &mask->own;
    mask->tokens = {};
  }
  return mask;
}

void Matcher::walk(ConfigId config, const Trie& trie, std::vector<int32_t>& tokens) {
  path_.assign(static_cast<size_t>(vocabulary_->reach()) + 1, kDead);
  path_[0] = config;
  work_ = 0;
  for (size_t i = 0; i < trie.size();) {
    const TrieNode& node = trie[i];
    if (work_ > kMaxMaskWork && node.depth > 1) {
      i = node.end;
      continue;
    }
    const ConfigId next = step(path_[node.depth - 1u], node.byte);
    if (next == kDead) {
      i = node.end;
      continue;
    }
    path_[node.depth] = next;
    if (node.token >= 0) {
      tokens.push_back(node.token);
    }
    ++i;
  }
}

}  // namespace orfebre::mask
