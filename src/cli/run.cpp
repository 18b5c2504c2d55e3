// `orfebre run`: one prompt, one reply on standard output. The thinking part and the speed go to standard
// error, so that the output can be piped.
#include "base/log.h"
#include "cli/app/reply.h"
#include "cli/commands.h"
#include "cli/system/progress.h"
#include "cli/system/read_input.h"
#include "cli/system/signals.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

namespace orfebre::cli {
namespace {

void print(std::FILE* file, const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fflush(file) != 0 || !written) {
    throw std::system_error(errno, std::generic_category(), "cannot write the reply");
  }
}

}  // namespace

int run_command(const RunCommand& command) {
  const std::string prompt = read_argument(command.prompt);
  set_log_level(LogLevel::kWarning);
  catch_stop_signals();
  ModelOptions options = command.model;
  options.parallel = 1;
  LoadedModel model = load_model(options);

  std::vector<text::Message> messages;
  if (!command.sampling.system.empty()) {
    messages.push_back(text::text_message("system", command.sampling.system));
  }
  messages.push_back(text::text_message("user", prompt));
  const char* const dim = stderr_is_terminal() ? "\x1b[2m" : "";
  const char* const plain = stderr_is_terminal() ? "\x1b[0m" : "";
  bool thinking = false;
  const auto show = [&](text::ReplyEvent::Kind kind, const std::string& text) {
    if (kind == text::ReplyEvent::Kind::kReasoning) {
      thinking = true;
      print(stderr, dim + text + plain);
      return;
    }
    if (std::exchange(thinking, false)) {
      print(stderr, "\n");  // a terminal shows both streams: the answer gets a line of its own
    }
    print(stdout, text);
  };
  const Reply reply = generate_reply(model, messages, command.sampling, show);
  print(stdout, "\n");
  fmt::print(stderr, "{}[{}; {}; loaded in {:.1f} s]{}\n", dim, describe(reply.usage), model.backend_name,
             model.load_seconds, plain);
  return 0;
}

}  // namespace orfebre::cli
