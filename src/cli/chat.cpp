// `orfebre chat`: a conversation in the terminal. Ctrl-C stops the reply and not the program.
#include "base/error.h"
#include "base/log.h"
#include "cli/app/model_dir.h"
#include "cli/app/reply.h"
#include "cli/commands.h"
#include "cli/system/line_editor.h"
#include "cli/system/progress.h"
#include "cli/system/signals.h"

#include <fmt/core.h>

#include <cstdio>
#include <vector>

namespace orfebre::cli {
namespace {

constexpr const char* kHelp =
    "/think on|off  with or without a thinking part\n"
    "/system TEXT   set the system message and start anew\n"
    "/clear         start anew\n"
    "/exit          leave (so does Ctrl-D); Ctrl-C stops a reply\n";

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

class Chat {
 public:
  explicit Chat(const ChatCommand& command) : sampling_(command.sampling), model_(load(command.model)) {
    start_anew();
  }

  void run() {
    fmt::print("{} on {}, context {} tokens. /help names the commands.\n", model_dir_name(model_.directory),
               model_.backend_name, model_.engine->max_context());
    LineEditor editor("> ");
    std::string line;
    while (!leave_requested().load()) {
      clear_stop();
      const LineEditor::Outcome outcome = editor.read(line);
      if (outcome == LineEditor::Outcome::kEnd || (outcome == LineEditor::Outcome::kLine && !handle(line))) {
        return;
      }
    }
  }

 private:
  static LoadedModel load(ModelOptions options) {
    options.parallel = 1;
    return load_model(options);
  }

  void start_anew() {
    messages_.clear();
    if (!sampling_.system.empty()) {
      messages_.push_back(text::text_message("system", sampling_.system));
    }
  }

  // False when the person wants to leave.
  bool handle(const std::string& line) {
    if (line.find_first_not_of(" \t") == std::string::npos) {
      return true;
    }
    if (line.front() != '/') {
      answer(line);
      return true;
    }
    if (line == "/exit" || line == "/quit") {
      return false;
    }
    if (line == "/clear") {
      start_anew();
    } else if (line == "/think on" || line == "/think off") {
      sampling_.think = line == "/think on";
    } else if (line.starts_with("/system ")) {
      sampling_.system = line.substr(8);
      start_anew();
    } else {
      print(kHelp);
    }
    return true;
  }

  void answer(const std::string& line) {
    messages_.push_back(text::text_message("user", line));
    try {
      stream_reply();
    } catch (const Error& error) {
      // The conversation goes on without the message that could not be answered.
      messages_.pop_back();
      const char* const advice =
          error.kind() == ErrorKind::kContextLength ? " (/clear starts a new conversation)" : "";
      fmt::print("{}{}\n", error.what(), advice);
    }
  }

  void stream_reply() {
    const bool colour = stdout_is_terminal();
    bool dimmed = false;
    const auto dim = [&](bool wanted) {
      if (colour && dimmed != wanted) {
        print(wanted ? "\x1b[2m" : "\x1b[0m");
        dimmed = wanted;
      }
    };
    bool thought = false;
    const Reply reply = generate_reply(model_, messages_, sampling_,
                                       [&](text::ReplyEvent::Kind kind, const std::string& text) {
                                         const bool reasoning = kind == text::ReplyEvent::Kind::kReasoning;
                                         if (thought && !reasoning) {
                                           print("\n");
                                         }
                                         thought = reasoning;
                                         dim(reasoning);
                                         print(text);
                                       });
    dim(false);
    print(reply.finish == FinishReason::kCancelled ? " [stopped]\n" : "\n");
    dim(true);
    print(fmt::format("[{}]", describe(reply.usage)));
    dim(false);
    print("\n");
    text::Message message = text::text_message("assistant", reply.content);
    if (!reply.reasoning.empty()) {
      message.reasoning_content = reply.reasoning;
    }
    messages_.push_back(std::move(message));
  }

  SamplingOptions sampling_;
  LoadedModel model_;
  std::vector<text::Message> messages_;
};

}  // namespace

int run_command(const ChatCommand& command) {
  set_log_level(LogLevel::kWarning);
  catch_stop_signals();
  Chat(command).run();
  return 0;
}

}  // namespace orfebre::cli
