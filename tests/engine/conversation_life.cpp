#include "engine/conversation_life.h"

namespace orfebre::testing {
namespace {

class Life {
 public:
  Life(Scheduler& scheduler, uint64_t seed, const LifeOptions& options)
      : scheduler_(scheduler),
        options_(options),
        random_(seed),
        clients_(static_cast<size_t>(options.n_clients)) {
    for (int i = 0; i < 2; ++i) {
      systems_.push_back(words(1 + below(2 * options_.max_message)));
    }
    for (Client& client : clients_) {
      start_anew(client);
    }
  }

  std::vector<Exchange> run(const std::function<void()>& run_round) {
    for (int round = 0; n_sent_ < options_.n_requests || !scheduler_.idle(); ++round) {
      if (round > 200000) {
        ADD_FAILURE() << "the scheduler makes no progress";
        break;
      }
      for (Client& client : clients_) {
        if (client.stream == nullptr && n_sent_ < options_.n_requests && below(3) == 0) {
          send(client);
        } else if (client.stream != nullptr && below(150) == 0) {
          client.stream->cancel();
          exchanges_[client.exchange].cancelled = true;
        }
      }
      run_round();
      for (Client& client : clients_) {
        if (client.stream != nullptr && client.stream->ended()) {
          receive(client);
        }
      }
    }
    return std::move(exchanges_);
  }

 private:
  struct Client {
    Conversation chat;
    std::shared_ptr<TokenStream> stream;
    size_t exchange = 0;
  };

  int below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
  std::vector<int32_t> words(int n) { return random_ids(random_, n, options_.vocab); }

  void start_anew(Client& client) {
    client.chat = {};
    client.chat.space = static_cast<uint64_t>(below(options_.n_spaces));
    client.chat.say(systems_[static_cast<size_t>(below(2))]);
    client.chat.say(words(1 + below(options_.max_message)));
  }

  // Back to before a message, and on with another one.
  void edit(Conversation& chat, int first_message) {
    const int n = static_cast<int>(chat.messages.size());
    chat.messages.resize(static_cast<size_t>(first_message + below(std::max(1, n - first_message))));
    chat.say(words(1 + below(options_.max_message)));
  }

  void send(Client& client) {
    Conversation& chat = client.chat;
    switch (below(10)) {
      case 0: edit(chat, 1); break;
      case 1: start_anew(client); break;
      case 2: chat = clients_[static_cast<size_t>(below(options_.n_clients))].chat; break;
      case 3:
        if (chat.messages.size() > 2) {
          chat.messages.pop_back();  // regenerate, or say the reply's part oneself
        }
        break;
      case 4: break;  // again
      default: chat.say(words(1 + below(options_.max_message)));
    }
    if (static_cast<int>(chat.prompt().size()) > options_.max_prompt) {
      edit(chat, 1);
      if (static_cast<int>(chat.prompt().size()) > options_.max_prompt) {
        start_anew(client);
      }
    }
    Exchange exchange;
    exchange.asked = chat.ask(1 + below(options_.max_reply));
    if (below(3) == 0) {
      exchange.asked.request.sampling.temperature = 0.8f;
      exchange.asked.request.sampling.seed = random_();
      exchange.asked.request.sampling.presence_penalty = 1.0f;
    }
    if (below(2) == 0) {
      exchange.asked.request.stop_ids = random_ids(random_, 2, options_.vocab);
    }
    client.stream = std::make_shared<TokenStream>();
    client.exchange = exchanges_.size();
    scheduler_.enqueue(exchange.asked.make(), client.stream, 0);
    exchanges_.push_back(std::move(exchange));
    ++n_sent_;
  }

  void receive(Client& client) {
    Reply& reply = exchanges_[client.exchange].reply;
    read_events(*client.stream, reply);
    client.stream = nullptr;
    if (!reply.tokens.empty()) {
      std::vector<int32_t> heard = reply.tokens;
      const std::vector<int32_t>& stop_ids = exchanges_[client.exchange].asked.request.stop_ids;
      if (!stop_ids.empty()) {
        heard.push_back(stop_ids[0]);  // as what ends a turn in the next prompt
      }
      client.chat.hear(heard, below(2) == 0 ? SIZE_MAX : static_cast<size_t>(1 + below(20)));
    }
  }

  Scheduler& scheduler_;
  const LifeOptions options_;
  std::mt19937_64 random_;
  std::vector<std::vector<int32_t>> systems_;
  std::vector<Client> clients_;
  std::vector<Exchange> exchanges_;
  int n_sent_ = 0;
};

}  // namespace

std::vector<Exchange> live(Scheduler& scheduler, const std::function<void()>& run_round, uint64_t seed,
                           const LifeOptions& options) {
  return Life(scheduler, seed, options).run(run_round);
}

}  // namespace orfebre::testing
