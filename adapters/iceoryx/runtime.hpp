// Connects this process to RouDi, handles iceoryx's errors, and makes the names of topics.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include <iceoryx_hoofs/cxx/generic_raii.hpp>
#include <iceoryx_hoofs/error_handling/error_handling.hpp>
#include <iceoryx_hoofs/log/logmanager.hpp>
#include <iceoryx_posh/runtime/posh_runtime.hpp>

#include <iceoryx/roudi.hpp>
#include <middlemark/kit/last_failure.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::iceoryx {

/// Registers this process with RouDi. Also replaces iceoryx's error handler. iceoryx calls this handler for each error,
/// and then continues or, after a fatal error, ends the process. The default handler writes each error to stderr, which
/// is too slow if every message may cause an error.
class Runtime {
 public:
  Runtime(const Settings& settings, std::uint64_t chunk_bytes)
      : restored_(iox::ErrorHandler::setTemporaryErrorHandler(&handle_error)) {
    check_roudi(settings, "iceoryx", chunk_bytes);
    iox::log::LogManager::GetLogManager().SetDefaultLogLevel(iox::log::LogLevel::kWarn,
                                                             iox::log::LogLevelOutput::kHideLogLevel);
    const std::string name = settings.scope + "_" + std::to_string(getpid());
    iox::runtime::PoshRuntime::initRuntime(iox::RuntimeName_t(iox::cxx::TruncateToCapacity, name));
  }

  /// Returns the name of the last error; empty if there was none.
  [[nodiscard]] static std::string last_error() {
    const iox::Error error = last_.load(std::memory_order_relaxed);
    return error == iox::Error::kNO_ERROR ? "" : iox::ErrorHandler::toString(error);
  }

 private:
  static void handle_error(const iox::Error error, const std::function<void()>& callback, const iox::ErrorLevel level) {
    last_.store(error, std::memory_order_relaxed);
    if (callback) callback();
    if (level != iox::ErrorLevel::FATAL) return;
    // iceoryx cannot continue after a fatal error, and an exception cannot pass through its code.
    const std::string text = std::string("iceoryx ends this process: ") + iox::ErrorHandler::toString(error) + "\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
    std::terminate();
  }

  static inline std::atomic<iox::Error> last_{iox::Error::kNO_ERROR};
  iox::cxx::GenericRAII restored_;
};

/// Returns the files that RouDi and killed workers leave. A worker leaves iceoryx's socket and the lock file of this
/// socket.
[[nodiscard]] inline std::vector<std::string> residue() {
  std::vector<std::string> all = roudi_residue();
  all.emplace_back("/tmp/{scope}_*");
  return all;
}

/// Returns iceoryx's name of a result unchanged. LastFailure stores this name with the last operation that failed. If
/// no operation failed, text() returns the last error that iceoryx reported to its error handler.
inline const char* same(const char* name) noexcept { return name; }
struct LastFailure : kit::LastFailure<&same> {
  [[nodiscard]] std::string text() const {
    const std::string own = kit::LastFailure<&same>::text();
    return own.empty() ? Runtime::last_error() : own;
  }
};

/// Returns the name of a topic or service in iceoryx. Throws an AdapterError if an identifier has more than 100
/// characters, because iceoryx would silently shorten it.
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
