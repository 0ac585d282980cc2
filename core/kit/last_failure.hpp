// Records the last call that failed while a trial was measured, without allocating. The text is composed after the
// trial.
#pragma once

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include <middlemark/kit/pinned.hpp>

namespace middlemark::kit {
namespace detail {
template <class Words, class Code>
Code code_of(Words (*)(Code));
}

/// `words` is the middleware's function that returns the text of an error code: zmq_strerror, dds_strretcode, …
template <auto words>
class LastFailure {
 public:
  using Code = decltype(detail::code_of(words));

  /// `call`: a literal with the name of the call.
  void note(const char* call, Code code) noexcept {
    code_.store(code, std::memory_order_relaxed);
    call_.store(call, std::memory_order_relaxed);
  }
  [[nodiscard]] std::string text() const {
    const char* const call = call_.load(std::memory_order_relaxed);
    return call == nullptr ? "" : std::string(call) + ": " + words(code_.load(std::memory_order_relaxed));
  }

 private:
  std::atomic<const char*> call_{nullptr};
  std::atomic<Code> code_{};
};

/// Base of publishers and subscribers whose middleware throws: keeps the text of the last exception that was thrown
/// after the start. Keeping the text allocates nothing.
class Attempts : Pinned {
 public:
  [[nodiscard]] std::string last_error() const { return words_.data(); }

 protected:
  /// Calls `step`. Returns false if it threw.
  template <class Step>
  bool attempt(const char* call, Step&& step) noexcept {
    try {
      step();
      return true;
    } catch (const std::exception& error) {
      std::snprintf(words_.data(), words_.size(), "%s: %s", call, error.what());
      return false;
    }
  }

 private:
  std::array<char, 160> words_{};
};

/// For system calls: note("send", errno).
inline const char* error_text(int code) noexcept { return std::strerror(code); }
using LastSystemFailure = LastFailure<&error_text>;

}  // namespace middlemark::kit
