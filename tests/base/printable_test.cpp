// Untrusted text made fit to print: no control characters, never half a character.
#include "base/printable.h"

#include <gtest/gtest.h>

namespace orfebre {
namespace {

TEST(Printable, ReplacesControlCharacters) {
  EXPECT_EQ(printable("plain \xC3\xA9"), "plain \xC3\xA9");
  EXPECT_EQ(printable("\x1B[31m\x7F\n"), "?[31m??");
  EXPECT_EQ(printable("a\xC2\x9B"
                      "b\xC2\xA0"),
            "a?b\xC2\xA0");  // U+009B is CSI; U+00A0 is a space
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, CutsBetweenCharacters) {
  const std::string exact(120, 'x');
  EXPECT_EQ(printable(exact), exact);
  EXPECT_EQ(printable(exact + "y"), exact + "...");
  for (const std::string character : {"\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"}) {
    for (size_t before = 117; before <= 120; ++before) {
      const std::string start(before, 'x');
      const bool fits = before + character.size() <= 120;
      EXPECT_EQ(printable(start + character + "tail"),
                (fits ? start + character + std::string("tail").substr(0, 120 - before - character.size())
                      : start) +
                    "...")
          << before;
    }
  }
}

}  // namespace
}  // namespace orfebre
