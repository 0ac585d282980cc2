// The control channel: one JSON object a line over the worker's original stdin and stdout.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace middlemark {

/// Takes fds 0 and 1 away from everybody else: they are duplicated, then fd 0 reads /dev/null and fd 1 goes to stderr, because
/// middlewares print. One per process, used by the control thread only.
class Control {
 public:
  Control();
  ~Control();
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  /// Writes one line. A launcher that has gone away is not an error here: closed() says so at the next receive.
  void send(const nlohmann::json& message) const noexcept;

  /// What came: a whole line within `timeout`, nothing (time over), or the end (closed() is true then).
  /// `also` (-1: none) is a descriptor that ends the waiting when it becomes readable.
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
