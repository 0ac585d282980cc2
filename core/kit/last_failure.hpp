// The last call that failed while a trial was measured: noted without allocating, put into words when it is asked for.
#pragma once

#include <array>
#include <atomic>
#include <cerrno>
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

/// `words` turns a code of the middleware's into its words: zmq_strerror, dds_strretcode, …
template <auto words>
class LastFailure {
 public:
  using Code = decltype(detail::code_of(words));

  /// `call`: a literal, of what was tried.
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

/// Base of ends whose middleware throws: what it throws after the start becomes the words of the last failure. An exception has allocated
/// already.
class Attempts : Pinned {
 public:
  [[nodiscard]] std::string last_error() const { return words_.data(); }

 protected:
  /// False: `step` threw.
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

/// Of system calls: note("send", errno).
inline const char* error_text(int code) noexcept { return std::strerror(code); }
using LastSystemFailure = LastFailure<&error_text>;

}  // namespace middlemark::kit
