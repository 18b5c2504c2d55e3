// A stream of server-sent events that one or several replies write to, on the reply thread.
#pragma once

#include "server/http/http_types.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace orfebre {

class SseWriter {
 public:
  // Sends the head at once. `content_type` is another for streams of the same kind, such as lines of JSON.
  SseWriter(std::shared_ptr<http::ResponseWriter> writer, std::vector<http::Header> headers,
            std::string content_type = "text/event-stream")
      : writer_(std::move(writer)) {
    headers.push_back({"Cache-Control", "no-cache"});
    headers.push_back({"X-Accel-Buffering", "no"});  // proxies of the nginx kind pass chunks on at once
    writer_->begin_stream({200, std::move(content_type), std::move(headers), {}});
  }

  // Nothing is taken after end().
  void add(const std::string& bytes) { buffer_ += bytes; }

  bool flush() {
    if (buffer_.empty() || ended_) {
      return false;
    }
    writer_->write(std::exchange(buffer_, {}));
    return true;
  }

  void end() {
    flush();
    if (!std::exchange(ended_, true)) {
      writer_->end();
    }
  }
  bool ended() const { return ended_; }

 private:
  std::shared_ptr<http::ResponseWriter> writer_;
  std::string buffer_;
  bool ended_ = false;
};

}  // namespace orfebre
