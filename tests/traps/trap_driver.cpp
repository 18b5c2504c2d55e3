// Runs one case of the Demo fixture on the reference backend that this program is linked with, and prints the
// relative difference to transformers' logits. run_traps.py links it with broken copies of the backend's
// sources.
#include "backend/reference/reference_backend.h"
#include "support/closeness.h"
#include "support/fixture.h"
#include "support/sequence.h"

#include <cstdio>
#include <string_view>

namespace orfebre::test {
namespace {

// A prompt of that many tokens, fed in chunks that leave `rest` tokens to the last; the last row's logits.
double last_row_difference(Model& model, const Fixture& fixture, int length, std::vector<int> chunks) {
  const std::string name = std::to_string(length);
  std::span<const int32_t> tokens = fixture.ints(name + ".tokens");
  Sequence sequence(model);
  for (const int chunk : chunks) {
    sequence.feed(tokens.first(static_cast<size_t>(chunk)), {});
    tokens = tokens.subspan(static_cast<size_t>(chunk));
  }
  const std::vector<int32_t> last = {static_cast<int32_t>(tokens.size()) - 1};
  const std::vector<float> logits = sequence.feed(tokens, last);
  return relative_difference(logits, fixture.floats(name + ".logits").last(logits.size()));
}

double run(std::string_view name, const std::string& fixture_path) {
  const Fixture fixture(fixture_path);
  const std::unique_ptr<Model> model = make_random_model(make_reference_backend(ShapeId::kDemo, {}));
  if (name == "short") {
    return last_row_difference(*model, fixture, 3, {});
  }
  if (name == "long") {
    return last_row_difference(*model, fixture, 200, {});
  }
  return last_row_difference(*model, fixture, 65, {1, 2, 30, 20});  // "chunks"
}

}  // namespace
}  // namespace orfebre::test

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s short|long|chunks demo.fixture\n", argv[0]);
    return 2;
  }
  std::printf("%.9g\n", orfebre::test::run(argv[1], argv[2]));
  return 0;
}
