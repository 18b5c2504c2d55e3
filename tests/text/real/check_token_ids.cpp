// check_token_ids TOKENIZER STRINGS IDS: encodes every string of a fixture and compares with the ids given.
// For vocabularies that are too large to commit. Prints a count; exits 1 if any string differs.
#include "text/fixture.h"
#include "text/tokenizer.h"

#include <cstdio>
#include <exception>

int main(int argc, char** argv) try {
  using namespace orfebre::text;
  if (argc != 4) {
    std::fprintf(stderr, "usage: check_token_ids TOKENIZER STRINGS IDS\n");
    return 2;
  }
  const Tokenizer tokenizer = Tokenizer::from_file(argv[1]);
  const auto strings = load_strings(argv[2]);
  const auto ids = load_id_lists(argv[3]);
  if (strings.size() != ids.size() || strings.empty()) {
    std::fprintf(stderr, "%zu strings, but %zu lists of ids\n", strings.size(), ids.size());
    return 2;
  }
  size_t n_equal = 0;
  for (size_t i = 0; i < strings.size(); ++i) {
    // Twice: the second time from what the first has cached.
    if (tokenizer.encode(strings[i]) == ids[i] && tokenizer.encode(strings[i]) == ids[i]) {
      ++n_equal;
    } else {
      std::printf("string %zu differs\n", i);
    }
  }
  std::printf("%zu of %zu strings have the same ids\n", n_equal, strings.size());
  return n_equal == strings.size() ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
