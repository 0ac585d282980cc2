#include <middlemark/control.hpp>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include <nlohmann/json.hpp>

namespace middlemark {

Control::Control() : in_(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)), out_(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)) {
  if (in_ < 0 || out_ < 0) throw std::system_error(errno, std::generic_category(), "control channel: stdin or stdout");
  const int null_device = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null_device >= 0) {
    dup2(null_device, STDIN_FILENO);
    close(null_device);
  }
  dup2(STDERR_FILENO, STDOUT_FILENO);
}

Control::~Control() {
  close(in_);
  close(out_);
}

void Control::send(const nlohmann::json& message) const noexcept {
  // A middleware's error text may contain any bytes. dump() would throw at invalid UTF-8; `replace` prevents that.
  const std::string line = message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  for (std::size_t at = 0; at < line.size();) {
    const ssize_t written = write(out_, line.data() + at, line.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    at += static_cast<std::size_t>(written);
  }
}

std::optional<std::string> Control::buffered_line() {
  const auto end = buffer_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return line;
}

std::optional<std::string> Control::receive(std::chrono::milliseconds timeout, int also) {
  if (auto line = buffered_line()) return line;
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    const auto remaining = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    std::array<pollfd, 2> waiting{pollfd{in_, POLLIN, 0}, pollfd{also, POLLIN, 0}};
    const int ready = poll(waiting.data(), waiting.size(), static_cast<int>(std::max<long>(0, remaining.count())));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return std::nullopt;
    if (waiting[0].revents == 0) return std::nullopt;  // only `also` is readable
    std::array<char, 4096> chunk{};
    const ssize_t got = read(in_, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      closed_ = true;
      return std::nullopt;
    }
    buffer_.append(chunk.data(), static_cast<std::size_t>(got));
    if (auto line = buffered_line()) return line;
  }
}

}  // namespace middlemark
