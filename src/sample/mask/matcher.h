// Where one reply stands in a grammar, and which tokens may come next. The grammar's automaton is made
// deterministic while it is walked: each set of places in the grammar (a Config) is met once and remembers
// where each symbol leads and which tokens it allows. One thread uses it.
#pragma once

#include "sample/automaton/program.h"
#include "sample/mask/vocabulary.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace orfebre::mask {

class Matcher {
 public:
  // More places than this at once are not followed: the latest are dropped. What is allowed then is still
  // right, but not everything.
  static constexpr size_t kMaxThreads = 2'000;
  // Configurations and stack frames kept; beyond it all but the present one are forgotten between two tokens.
  static constexpr size_t kMaxConfigs = 20'000;
  static constexpr size_t kMaxFrames = 200'000;
  // Places newly reached for one mask, a configuration counting as several; some tens of milliseconds. Beyond
  // it only tokens of one byte are allowed beside those found: a schema of hundreds of patterns must not stop
  // the replies of others.
  static constexpr size_t kMaxMaskWork = 100'000;

  // Both are shared and immutable.
  Matcher(std::shared_ptr<const automaton::Program> program, std::shared_ptr<const Vocabulary> vocabulary);

  // Goes on by the bytes of a token, or by a control token. False: the grammar does not allow it; nothing has
  // changed then.
  bool advance(std::string_view bytes);
  bool advance_control(int32_t token);
  // Whether advance would.
  bool takes(std::string_view bytes);
  bool takes_control(int32_t token);

  // Whether the text so far is whole, and whether nothing may follow it.
  bool accepts() const { return configs_[current_].accepts; }
  bool at_end() const { return accepts() && configs_[current_].threads.empty(); }

  // Sets the bits of the allowed tokens, control tokens among them; of the end of the turn it knows nothing.
  // `words` is Vocabulary::mask_words() long or longer.
  void fill_mask(std::span<uint32_t> words);

  size_t n_configs() const { return configs_.size(); }

 private:
  using ConfigId = uint32_t;
  static constexpr ConfigId kUnknown = 0xFFFFFFFF, kDead = 0xFFFFFFFE;

  // A place in the grammar: a state, its rule's counter, and the frames to come back to (0: none).
  struct Thread {
    automaton::StateId state;
    int32_t counter;
    uint32_t stack;
    bool operator==(const Thread&) const = default;
    bool operator<(const Thread& other) const;
  };
  // Where a rule goes on when the one that it called has ended.
  struct Frame {
    automaton::StateId state;
    int32_t counter;
    uint32_t below;
    bool operator==(const Frame&) const = default;
  };
  struct Mask {
    const TokenSet* base = nullptr;  // allowed as a whole: of the vocabulary, or `own`
    std::vector<int32_t> tokens;     // and these
    TokenSet own;
  };
  struct Config {
    std::vector<Thread> threads;  // at states with edges; sorted
    bool accepts = false;
    ConfigId normal = kUnknown;  // the configuration with the same mask that others share
    std::unique_ptr<Mask> mask;
    std::vector<ConfigId> next;  // [n_classes]
  };
  struct Hash {
    size_t operator()(const Frame& frame) const;
    size_t operator()(const std::vector<Thread>& threads) const;
  };
  // The part of the vocabulary that one thread takes whole, and the trie of what is left to walk.
  struct Shortcut {
    const TokenSet* base;
    const Trie* rest;
  };

  // The threads met by one close(): open addressing, emptied by a new stamp.
  struct Seen {
    std::vector<Thread> slots;
    std::vector<uint32_t> stamps;
    uint32_t stamp = 0;
    size_t count = 0;
    void clear();
    bool insert(const Thread& thread);  // false when it is there, or nothing more fits
  };

  void reset_caches();
  uint32_t push(const Frame& frame);
  uint32_t normal_stack(uint32_t stack);
  int32_t normal_counter(automaton::StateId state, int32_t counter) const;
  bool allows(automaton::Action action, const automaton::Rule& rule, int32_t counter) const;
  int32_t counted(automaton::Action action, const automaton::Rule& rule, int32_t counter) const;
  ConfigId intern(std::vector<Thread> threads, bool accepts);
  ConfigId close(std::vector<Thread> threads);
  ConfigId step(ConfigId config, uint32_t symbol);
  ConfigId step_slowly(ConfigId config, uint32_t symbol);
  ConfigId behind(std::string_view bytes);
  ConfigId behind_control(int32_t token);
  bool move_to(ConfigId config);
  ConfigId normal(ConfigId config);
  Shortcut shortcut(const Config& config) const;
  bool no_other_takes_plain(const Config& config, const Thread& except) const;
  std::unique_ptr<Mask> compute_mask(ConfigId config);
  void walk(ConfigId config, const Trie& trie, std::vector<int32_t>& tokens);

  std::shared_ptr<const automaton::Program> program_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::vector<Config> configs_;
  std::unordered_map<std::vector<Thread>, ConfigId, Hash> ids_[2];  // by accepts
  std::vector<Frame> frames_;                                       // frame 0 is the bottom
  std::vector<uint32_t> normal_frames_;                             // kUnknown until asked for
  std::unordered_map<Frame, uint32_t, Hash> frame_ids_;
  ConfigId current_ = 0;
  size_t work_ = 0;  // for the present mask
  Seen seen_;
  std::vector<ConfigId> path_;  // of a walk: the configuration at each depth
};

}  // namespace orfebre::mask
