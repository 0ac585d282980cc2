// The control channel: one JSON object per line, over the worker's original stdin and stdout.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace middlemark {

/// Duplicates fds 0 and 1 for the channel, then points fd 0 to /dev/null and fd 1 to stderr, because middlewares print.
/// One per process, used by the control thread only.
class Control {
 public:
  Control();
  ~Control();
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  /// Writes one line. Does not report that the launcher has gone away; the next receive() does.
  void send(const nlohmann::json& message) const noexcept;

  /// Returns a whole line. Returns nullopt if `timeout` has passed, the launcher has gone away (then closed() is true),
  /// or the descriptor `also` (-1: none) has become readable.
  [[nodiscard]] std::optional<std::string> receive(std::chrono::milliseconds timeout, int also = -1);
  [[nodiscard]] bool closed() const noexcept { return closed_; }

 private:
  [[nodiscard]] std::optional<std::string> buffered_line();

  int in_ = -1;
  int out_ = -1;
  bool closed_ = false;
  std::string buffer_;
};

}  // namespace middlemark
