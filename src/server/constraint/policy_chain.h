// Several policies of one reply as one.
#pragma once

#include "engine/token_policy.h"

#include <memory>
#include <vector>

namespace orfebre {

// Each is told of every token. A stop of any of them ends the reply; otherwise the first that forces tokens
// has its way; a token must be allowed by all that constrain it. Null entries are left out; null for none.
std::unique_ptr<TokenPolicy> chain_policies(std::vector<std::unique_ptr<TokenPolicy>> policies);

}  // namespace orfebre
