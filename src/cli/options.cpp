#include "cli/options.h"

#include "cli/version.h"

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <system_error>
#include <vector>

namespace orfebre::cli {
namespace {

constexpr int kMaxCount = std::numeric_limits<int>::max();

constexpr const char* kExitCodes =
    "Exit codes: 0 done, 1 something failed, 2 the command line or a file is not right.";

// CLI::Range in words that people read: "1 to 8", "2 or more".
CLI::Validator in_range(double low, double high) {
  const std::string wanted =
      high == kMaxCount ? fmt::format("{} or more", low) : fmt::format("{} to {}", low, high);
  const auto check = [low, high, wanted](std::string& text) {
    double value = 0;
    const bool is_inside = CLI::detail::lexical_cast(text, value) && value >= low && value <= high;
    return is_inside ? std::string() : fmt::format("expected {}, found {}", wanted, text);
  };
  return {check, wanted};
}

// An unsigned 64-bit number: CLI11 alone would wrap -1 and cut what is too large.
CLI::Validator is_uint64() {
  const std::string wanted = fmt::format("0 to {}", std::numeric_limits<uint64_t>::max());
  const auto check = [wanted](std::string& text) {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_number = error == std::errc() && end == text.data() + text.size();
    return is_number ? std::string() : fmt::format("expected {}, found {}", wanted, text);
  };
  return {check, wanted};
}

void add_model_path(CLI::App& app, std::string& path) {
  app.add_option("--model,-m", path,
                 "Checkpoint directory [default: the demo model that ships with orfebre]");
}

void add_model_options(CLI::App& app, ModelOptions& model) {
  add_model_path(app, model.model);
  app.add_option("--backend", model.backend, "auto, cpu or reference")->capture_default_str();
  app.add_option("--cpu-path", model.cpu_path,
                 "Force an instruction set of the cpu backend: avx512 or avx2; on Arm i8mm, dotprod or neon");
  app.add_option("--threads,-t", model.threads, "Threads of the cpu backend [default: the physical cores]")
      ->check(in_range(1, 1024));
  app.add_option("--memory", model.memory_gib, "GiB that may be used [default: what the machine has free]")
      ->check(in_range(0.001, 1e6));
  app.add_option_function<std::string>(
         "--load", [&model](const std::string& how) { model.stream_experts = how != "all"; },
         "all: the whole model into memory; stream (or mmap): leave the experts on disk, for machines that "
         "it "
         "does not fit into [default: all]")
      ->check(CLI::IsMember({"all", "stream", "mmap"}));
  app.add_option("--expert-memory", model.expert_memory_gib,
                 "With --load stream: GiB of experts kept in memory [default: what is left over]")
      ->check(in_range(0.001, 1e6));
}

void add_context(CLI::App& app, ModelOptions& model) {
  app.add_option(
         "--context,-c", model.context_tokens,
         "Tokens that one conversation may have [default: the model's limit, or what fits into memory]")
      ->check(in_range(2, kMaxCount));
}

void add_parallel(CLI::App& app, ModelOptions& model) {
  app.add_option("--parallel", model.parallel, "Replies generated at the same time")
      ->check(in_range(1, 8))
      ->capture_default_str();
}

void add_cache(CLI::App& app, ModelOptions& model) {
  app.add_option("--cache-memory", model.cache_gib,
                 "GiB set aside for prompts and replies read before; 0 keeps none [default: a thirty-second]")
      ->check(in_range(0, 1e6));
}

void add_sampling_options(CLI::App& app, SamplingOptions& sampling) {
  app.add_option("--temperature", sampling.temperature, "0 is greedy [default of all these: the model's own]")
      ->check(in_range(0.0, 2.0));
  app.add_option("--top-p", sampling.top_p, "Keep the likeliest tokens up to this sum")
      ->check(in_range(0.0, 1.0));
  app.add_option("--top-k", sampling.top_k, "Keep this many tokens; 0 keeps all")
      ->check(in_range(0, kMaxCount));
  app.add_option("--min-p", sampling.min_p, "Drop tokens below this share of the likeliest")
      ->check(in_range(0.0, 1.0));
  app.add_option("--repetition-penalty", sampling.repetition_penalty, "Over prompt and reply; 1 is none");
  app.add_option("--presence-penalty", sampling.presence_penalty, "Over the reply; 0 is none")
      ->check(in_range(-2.0, 2.0));
  app.add_option("--frequency-penalty", sampling.frequency_penalty, "Over the reply; 0 is none")
      ->check(in_range(-2.0, 2.0));
  app.add_option("--seed", sampling.seed, "Same seed, same reply")->check(is_uint64());
  app.add_option("--max-tokens,-n", sampling.max_tokens, "Length of a reply [default: until it ends]")
      ->check(in_range(1, kMaxCount));
  app.add_flag_callback(
      "--no-think", [&sampling] { sampling.think = false; }, "Answer at once, without a thinking part");
  app.add_option("--system", sampling.system, "System message");
}

// Fills one struct a subcommand; the one that the line names wins.
struct Parsed {
  ServeCommand serve;
  RunCommand run;
  ChatCommand chat;
  InspectCommand inspect;
  TokenizeCommand tokenize;
  QuantizeCommand quantize;
  BenchCommand bench;
  VerifyCommand verify;
};

void add_serve(CLI::App& app, ServeCommand& command) {
  CLI::App& serve = *app.add_subcommand("serve", "Serve the OpenAI-compatible HTTP API");
  add_model_options(serve, command.model);
  add_context(serve, command.model);
  add_parallel(serve, command.model);
  add_cache(serve, command.model);
  serve
      .add_option("--host", command.host,
                  "Address to listen on; others than the loopback need --api-key or --no-auth")
      ->capture_default_str();
  serve.add_option("--port,-p", command.port, "Port to listen on")
      ->check(in_range(0, 65535))
      ->envname("PORT")
      ->capture_default_str();
  serve.add_option("--api-key", command.api_keys, "Key that every request must carry; may be several")
      ->envname("ORFEBRE_API_KEY");
  serve.add_option("--allow-host", command.allowed_hosts,
                   "Further name that clients may reach this server by");
  serve.add_option("--allow-origin", command.allowed_origins,
                   "Web page that may use this server, as https://chat.example.org; * for all");
  serve.add_flag("--no-auth", command.no_auth, "Let other machines use this server without a key");
  serve.add_option("--tls-cert", command.tls_certificate, "PEM file with the certificate, for https");
  serve.add_option("--tls-key", command.tls_key, "PEM file with the certificate's key");
  serve.add_flag("--no-think", command.no_think, "Answer without thinking unless the client asks for it");
  serve.add_flag("--trace", command.trace, "Log why prompts were or were not reused: counts and hashes only");
  serve.add_option("--model-name", command.model_name, "Name of the model in the API");
}

void add_run(CLI::App& app, RunCommand& command) {
  CLI::App& run = *app.add_subcommand("run", "Answer one prompt on standard output");
  add_model_options(run, command.model);
  add_context(run, command.model);
  add_sampling_options(run, command.sampling);
  command.model.cache_gib = 0;  // there is no second prompt
  run.add_option("prompt", command.prompt, "The prompt; - reads standard input")->required();
}

void add_chat(CLI::App& app, ChatCommand& command) {
  CLI::App& chat = *app.add_subcommand("chat", "Talk to the model in the terminal");
  add_model_options(chat, command.model);
  add_context(chat, command.model);
  add_sampling_options(chat, command.sampling);
}

void add_inspect(CLI::App& app, InspectCommand& command) {
  CLI::App& inspect = *app.add_subcommand("inspect", "Say what a checkpoint is and what memory it needs");
  add_model_options(inspect, command.model);
  add_parallel(inspect, command.model);
}

void add_tokenize(CLI::App& app, TokenizeCommand& command) {
  CLI::App& tokenize = *app.add_subcommand("tokenize", "Turn text into token ids, or ids into text");
  add_model_path(tokenize, command.model);
  tokenize.add_option("text", command.text, "The text; - reads standard input")->capture_default_str();
  CLI::Option* plain =
      tokenize.add_flag("--plain", command.plain, "Treat control tokens in the text as text");
  CLI::Option* chat =
      tokenize.add_flag("--chat", command.chat, "The text as one user message in the template");
  tokenize.add_flag("--pieces", command.pieces, "One token a line: id and bytes");
  tokenize.add_flag("--decode", command.decode, "The text is ids, separated by spaces or commas")
      ->excludes(plain)
      ->excludes(chat);
  plain->excludes(chat);
}

void add_quantize(CLI::App& app, QuantizeCommand& command) {
  CLI::App& quantize =
      *app.add_subcommand("quantize", "Turn a bf16 checkpoint into a 4-bit one, as MLX does");
  quantize.add_option("source", command.source, "Directory of the bf16 or f32 checkpoint")->required();
  quantize.add_option("destination", command.destination, "Directory to write; must not exist")->required();
  quantize.footer(kExitCodes);
}

void add_bench(CLI::App& app, BenchCommand& command) {
  CLI::App& bench = *app.add_subcommand("bench", "Measure prefill and decode on this machine");
  add_model_options(bench, command.model);
  bench
      .add_option("--context,-c", command.contexts,
                  "Tokens already there before each measurement; may be several")
      ->check(in_range(0, kMaxCount))
      ->capture_default_str();
  bench.add_option("--prefill", command.prefill_tokens, "Prompt tokens a measurement")
      ->check(in_range(0, kMaxCount))
      ->capture_default_str();
  bench.add_option("--decode", command.decode_tokens, "Tokens decoded a measurement")
      ->check(in_range(0, kMaxCount))
      ->capture_default_str();
  bench.add_option("--sequences", command.sequences, "Sequences decoded together")
      ->check(in_range(1, 8))
      ->capture_default_str();
  bench.add_option("--repeat", command.repeat, "Measurements; the median is reported")
      ->check(in_range(1, 1000))
      ->capture_default_str();
  bench
      .add_option("--cache", command.cache_prompt_tokens,
                  "Measure the prefix cache instead, on a prompt of so many tokens")
      ->check(in_range(1, kMaxCount));
  bench.add_flag("--json", command.json, "Print one JSON object");
}

void add_verify(CLI::App& app, VerifyCommand& command) {
  CLI::App& verify = *app.add_subcommand(
      "verify", "Hold a checkpoint against published totals, recorded replies of mlx-lm, and itself");
  add_model_options(verify, command.model);
  verify.add_option("--golden", command.golden,
                    "Directory of recorded replies (tools/goldens/make_goldens.py) [default: none]");
  verify.add_option("--report", command.report, "Write the findings to this file, as JSON to send in");
  verify.add_flag("--with-prompts", command.with_prompts, "Put the recorded prompts into the report too");
}

Command chosen(const CLI::App& app, const Parsed& parsed) {
  const std::string name = app.get_subcommands().front()->get_name();
  if (name == "serve") return parsed.serve;
  if (name == "run") return parsed.run;
  if (name == "chat") return parsed.chat;
  if (name == "inspect") return parsed.inspect;
  if (name == "tokenize") return parsed.tokenize;
  if (name == "quantize") return parsed.quantize;
  if (name == "verify") return parsed.verify;
  return parsed.bench;
}

// One sentence: what is wrong, and whose help to read.
std::string complaint(const CLI::App& app, int argc, char** argv, const CLI::ParseError& error) {
  const std::vector<const CLI::App*> commands = app.get_subcommands(nullptr);
  const std::string first = argc > 1 ? argv[1] : "";
  const bool is_command = std::any_of(commands.begin(), commands.end(),
                                      [&](const CLI::App* command) { return command->get_name() == first; });
  if (is_command) {
    return fmt::format("{}; see orfebre {} --help", error.what(), first);
  }
  if (first.empty() || first.front() == '-') {
    return fmt::format("{}; see orfebre --help", error.what());
  }
  return fmt::format("there is no command '{}'; see orfebre --help", first);
}

}  // namespace

ParsedLine parse_command_line(int argc, char** argv) {
  Parsed parsed;
  bool allow_core_dumps = false;
  CLI::App app("Orfebre runs Qwen3.6-35B-A3B on this machine.", "orfebre");
  app.set_version_flag("--version", std::string("orfebre ") + kVersion);
  app.require_subcommand(1);
  app.add_flag("--allow-core-dumps", allow_core_dumps,
               "For developers, before the command: a crash may write a core file, with what was said in it");
  app.footer(
      std::string("Without --model a command uses the small demo model that ships with the program.\n") +
      kExitCodes);
  add_serve(app, parsed.serve);
  add_run(app, parsed.run);
  add_chat(app, parsed.chat);
  add_inspect(app, parsed.inspect);
  add_tokenize(app, parsed.tokenize);
  add_quantize(app, parsed.quantize);
  add_bench(app, parsed.bench);
  add_verify(app, parsed.verify);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {  // help or version
    return {std::nullopt, app.exit(done), allow_core_dumps};
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "orfebre: %s\n", complaint(app, argc, argv, error).c_str());
    return {std::nullopt, 2, allow_core_dumps};
  }
  return {chosen(app, parsed), 0, allow_core_dumps};
}

}  // namespace orfebre::cli
