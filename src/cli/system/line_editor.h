// Reads lines from a person: editing and history on a terminal (libedit), plain lines otherwise. The history
// lives in memory only: prompts are never written to disk.
#pragma once

#include <memory>
#include <string>

namespace orfebre::cli {

class LineEditor {
 public:
  enum class Outcome { kLine, kInterrupted, kEnd };

  explicit LineEditor(std::string prompt);
  ~LineEditor();

  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  // Blocks for the next line, without its newline. kInterrupted: Ctrl-C threw the line away. kEnd: Ctrl-D or
  // the end of the input.
  Outcome read(std::string& line);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace orfebre::cli
