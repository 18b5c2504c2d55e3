#include "cli/system/line_editor.h"

#include "base/error.h"

#include <histedit.h>

#include <unistd.h>
#include <clocale>
#include <cstdio>
#include <iostream>
#include <utility>

namespace orfebre::cli {
namespace {

constexpr int kHistoryLines = 1000;

}  // namespace

struct LineEditor::Impl {
  std::string prompt;
  EditLine* editor = nullptr;  // null: standard input is not a terminal
  History* history = nullptr;
  bool interrupted = false;

  static char* prompt_of(EditLine* editor) { return self(editor)->prompt.data(); }

  // Bound to Ctrl-C, which reaches the editor as a key: the terminal sends no signal while a line is edited.
  static unsigned char interrupt(EditLine* editor, int) {
    self(editor)->interrupted = true;
    return CC_EOF;
  }

  static Impl* self(EditLine* editor) {
    void* data = nullptr;
    el_get(editor, EL_CLIENTDATA, &data);
    return static_cast<Impl*>(data);
  }
};

LineEditor::LineEditor(std::string prompt) : impl_(std::make_unique<Impl>()) {
  impl_->prompt = std::move(prompt);
  if (isatty(STDIN_FILENO) != 1) {
    return;
  }
  std::setlocale(LC_CTYPE, "");
  impl_->editor = el_init("orfebre", stdin, stdout, stderr);
  impl_->history = history_init();
  if (impl_->editor == nullptr || impl_->history == nullptr) {
    fail(ErrorKind::kInternal, "the line editor could not be started on this terminal");
  }
  HistEvent event;
  history(impl_->history, &event, H_SETSIZE, kHistoryLines);
  el_set(impl_->editor, EL_CLIENTDATA, impl_.get());
  el_set(impl_->editor, EL_PROMPT, &Impl::prompt_of);
  el_set(impl_->editor, EL_EDITOR, "emacs");
  el_set(impl_->editor, EL_HIST, history, impl_->history);
  el_set(impl_->editor, EL_ADDFN, "orfebre-interrupt", "throw the line away", &Impl::interrupt);
  el_set(impl_->editor, EL_SETTY, "-d", "-isig", nullptr);
  el_set(impl_->editor, EL_BIND, "^C", "orfebre-interrupt", nullptr);
  el_set(impl_->editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
}

LineEditor::~LineEditor() {
  if (impl_->history != nullptr) {
    history_end(impl_->history);
  }
  if (impl_->editor != nullptr) {
    el_end(impl_->editor);
  }
}

LineEditor::Outcome LineEditor::read(std::string& line) {
  if (impl_->editor == nullptr) {
    return std::getline(std::cin, line) ? Outcome::kLine : Outcome::kEnd;
  }
  impl_->interrupted = false;
  // Before the prompt shows: what is typed at once, Ctrl-C above all, would meet the terminal's own line
  // otherwise.
  el_set(impl_->editor, EL_PREP_TERM, 1);
  int n_bytes = 0;
  const char* const text = el_gets(impl_->editor, &n_bytes);
  if (impl_->interrupted) {
    std::fputs("\n", stdout);
    el_reset(impl_->editor);
    return Outcome::kInterrupted;
  }
  if (text == nullptr || n_bytes <= 0) {
    return Outcome::kEnd;
  }
  line.assign(text, static_cast<size_t>(n_bytes));
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) {
    line.pop_back();
  }
  if (!line.empty()) {
    HistEvent event;
    history(impl_->history, &event, H_ENTER, line.c_str());
  }
  return Outcome::kLine;
}

}  // namespace orfebre::cli
