// What decides, token by token, how a reply goes on: stop strings, thinking budget, loop guard, schemas.
// The server builds policies; the engine only calls them, on the engine thread, in order of the tokens.
// Implementations must be quick (microseconds) and must not throw.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace orfebre {

struct PolicyVerdict {
  enum class Kind {
    kContinue,
    kStop,   // the reply ends with this token: finish reason "stop"
    kForce,  // the next tokens are `forced`, whatever the model says; on_token is called for each
  };
  Kind kind = Kind::kContinue;
  std::vector<int32_t> forced;
};

class TokenPolicy {
 public:
  virtual ~TokenPolicy() = default;

  // Told of every token of the reply, forced ones included, before it is published.
  virtual PolicyVerdict on_token(int32_t id) = 0;

  // Whether the next token is constrained. If so the engine asks for the mask while the forward runs.
  virtual bool wants_mask() const { return false; }

  // Sets bit id % 32 of word id / 32 for each allowed id. `words` is zeroed, (vocab + 31) / 32 long.
  virtual void fill_mask(std::span<uint32_t> words) { (void)words; }
};

}  // namespace orfebre
