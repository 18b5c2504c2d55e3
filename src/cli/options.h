// The command line as plain data: one struct a subcommand. Reading it is options.cpp's business, the only
// source that knows the option library; the commands only see these structs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace orfebre::cli {

// Which model, on what, with how much memory: shared by every command that loads one.
struct ModelOptions {
  std::string model;             // directory; empty: the demo model that ships with the program
  std::string backend = "auto";  // see available_backends()
  std::string cpu_path;          // "": the best that this processor has
  int threads = 0;               // 0: the physical cores
  int context_tokens = 0;        // 0: the model's own, or what fits into memory
  int parallel = 4;              // replies at the same time
  double memory_gib = 0;         // 0: what the machine has free
  double cache_gib = -1;         // of those for cached prefixes alone; 0: none are kept; below: a share
  bool stream_experts = false;   // routed experts stay on disk and are read as they are needed
  double expert_memory_gib = 0;  // of those, what is kept in memory; 0: what is left over
};

struct SamplingOptions {
  std::optional<double> temperature;  // absent: as the model's generation_config.json says
  std::optional<double> top_p;
  std::optional<int> top_k;
  std::optional<double> min_p;
  std::optional<double> repetition_penalty;
  std::optional<double> presence_penalty;
  std::optional<double> frequency_penalty;
  std::optional<uint64_t> seed;
  int max_tokens = 0;  // 0: until the end or the context
  bool think = true;
  std::string system;  // system message; empty: none
};

struct ServeCommand {
  ModelOptions model;
  std::string host = "127.0.0.1";
  int port = 8080;
  std::vector<std::string> api_keys;
  std::vector<std::string> allowed_hosts;
  std::vector<std::string> allowed_origins;
  bool no_auth = false;
  std::string tls_certificate;
  std::string tls_key;
  bool no_think = false;
  bool trace = false;      // a line in the log for each lookup in the prefix cache
  std::string model_name;  // what /v1/models calls it; empty: the directory's
};

struct RunCommand {
  ModelOptions model;
  SamplingOptions sampling;
  std::string prompt;  // "-" reads standard input
};

struct ChatCommand {
  ModelOptions model;
  SamplingOptions sampling;
};

struct InspectCommand {
  ModelOptions model;
};

struct TokenizeCommand {
  std::string model;
  std::string text = "-";  // "-" reads standard input
  bool plain = false;      // text with control tokens disabled
  bool chat = false;       // the text as one user message in the chat template
  bool pieces = false;     // a line a token: id and bytes
  bool decode = false;     // the text is ids, the output is text
};

struct QuantizeCommand {
  std::string source;       // a bf16 or f32 checkpoint
  std::string destination;  // a directory that does not exist yet
};

struct BenchCommand {
  ModelOptions model;
  std::vector<int> contexts = {0};  // tokens before the measured prefill
  int prefill_tokens = 512;
  int decode_tokens = 64;
  int sequences = 1;
  int repeat = 3;
  int cache_prompt_tokens = 0;  // measures the prefix cache instead, on a prompt of so many
  bool json = false;
};

struct VerifyCommand {
  ModelOptions model;
  std::string golden;         // directory of goldens; empty: only the checks of the model against itself
  std::string report;         // file to write; empty: none
  bool with_prompts = false;  // in the report
};

using Command = std::variant<ServeCommand, RunCommand, ChatCommand, InspectCommand, TokenizeCommand,
                             QuantizeCommand, BenchCommand, VerifyCommand>;

struct ParsedLine {
  std::optional<Command> command;  // absent: nothing to run, leave with `exit_code`
  int exit_code = 0;
  bool allow_core_dumps = false;
};

// Prints help, the version or a one-sentence complaint itself. Exit code 2 for a wrong command line.
ParsedLine parse_command_line(int argc, char** argv);

}  // namespace orfebre::cli
