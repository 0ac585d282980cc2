// This process as RouDi's client, and what becomes of iceoryx's own errors.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstring>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <iceoryx_hoofs/cxx/generic_raii.hpp>
#include <iceoryx_hoofs/error_handling/error_handling.hpp>
#include <iceoryx_hoofs/log/logmanager.hpp>
#include <iceoryx_posh/runtime/posh_runtime.hpp>

#include <iceoryx/roudi.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::iceoryx {

/// iceoryx reports an error of its own to a handler of the process and goes on, or ends the process when it is fatal. Its
/// default handler writes to stderr each time, which has no place where an error may come with every message.
class ErrorReports {
 public:
  ErrorReports() : restored_(iox::ErrorHandler::setTemporaryErrorHandler(&noted)) {}

  /// The name of the last one; empty: none.
  [[nodiscard]] static std::string last() {
    const iox::Error error = last_.load(std::memory_order_relaxed);
    return error == iox::Error::kNO_ERROR ? "" : iox::ErrorHandler::toString(error);
  }

 private:
  static void noted(const iox::Error error, const std::function<void()>& callback, const iox::ErrorLevel level) {
    last_.store(error, std::memory_order_relaxed);
    if (callback) callback();
    if (level != iox::ErrorLevel::FATAL) return;
    // What would follow cannot cope with it, and no exception gets through.
    const std::string text = std::string("iceoryx ends this process: ") + iox::ErrorHandler::toString(error) + "\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
    std::terminate();
  }

  static inline std::atomic<iox::Error> last_{iox::Error::kNO_ERROR};
  iox::cxx::GenericRAII restored_;
};

class Runtime {
 public:
  Runtime(const Settings& settings, std::uint64_t chunk_bytes) {
    check_roudi(settings, "iceoryx", chunk_bytes);
    iox::log::LogManager::GetLogManager().SetDefaultLogLevel(iox::log::LogLevel::kWarn,
                                                             iox::log::LogLevelOutput::kHideLogLevel);
    const std::string name = settings.scope + "_" + std::to_string(getpid());
    iox::runtime::PoshRuntime::initRuntime(iox::RuntimeName_t(iox::cxx::TruncateToCapacity, name));
  }

  /// What killed workers leave: iceoryx's socket to each, and its lock.
  static constexpr const char* residue = "/tmp/{scope}_*";

 private:
  ErrorReports reports_;
};

/// The last failure after the start. Written on a hot path, put into words once it is asked for.
class LastFailure {
 public:
  /// `text` is iceoryx's own name of a value, which outlives everything.
  void note(const char* operation, const char* text) noexcept {
    operation_.store(operation, std::memory_order_relaxed);
    text_.store(text, std::memory_order_relaxed);
  }
  [[nodiscard]] std::string text() const {
    const char* operation = operation_.load(std::memory_order_relaxed);
    if (operation == nullptr) return ErrorReports::last();
    return std::string(operation) + ": " + text_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<const char*> operation_{nullptr};
  std::atomic<const char*> text_{nullptr};
};

/// Topics and services of a trial. An identifier of iceoryx's has at most 100 characters, and would be cut in silence.
[[nodiscard]] inline iox::capro::ServiceDescription service_of(const Settings& settings, const Topic& topic) {
  const auto identifier = [](const std::string& text) {
    if (text.size() > iox::capro::IdString_t::capacity()) {
      throw AdapterError("iceoryx: the name " + text + " is longer than " +
                         std::to_string(iox::capro::IdString_t::capacity()) + " characters");
    }
    return iox::capro::IdString_t(iox::cxx::TruncateToCapacity, text);
  };
  return {identifier(settings.scope), identifier(topic.name), identifier("octets")};
}

}  // namespace middlemark::iceoryx
