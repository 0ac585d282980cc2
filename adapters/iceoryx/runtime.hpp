// This process as a client of iceoryx: runtime, errors, names.
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

/// Registers this process with RouDi. iceoryx reports its own errors to a handler of the process and continues, or ends
/// the process if the error is fatal. The default handler writes to stderr each time, which is too slow if an error may
/// come with every message.
class Runtime {
 public:
  Runtime(const Settings& settings, std::uint64_t chunk_bytes)
      : restored_(iox::ErrorHandler::setTemporaryErrorHandler(&noted)) {
    check_roudi(settings, "iceoryx", chunk_bytes);
    iox::log::LogManager::GetLogManager().SetDefaultLogLevel(iox::log::LogLevel::kWarn,
                                                             iox::log::LogLevelOutput::kHideLogLevel);
    const std::string name = settings.scope + "_" + std::to_string(getpid());
    iox::runtime::PoshRuntime::initRuntime(iox::RuntimeName_t(iox::cxx::TruncateToCapacity, name));
  }

  /// The name of the last error; empty if there was none.
  [[nodiscard]] static std::string last_error() {
    const iox::Error error = last_.load(std::memory_order_relaxed);
    return error == iox::Error::kNO_ERROR ? "" : iox::ErrorHandler::toString(error);
  }

 private:
  static void noted(const iox::Error error, const std::function<void()>& callback, const iox::ErrorLevel level) {
    last_.store(error, std::memory_order_relaxed);
    if (callback) callback();
    if (level != iox::ErrorLevel::FATAL) return;
    // iceoryx's code cannot continue after a fatal error, and an exception cannot pass through it.
    const std::string text = std::string("iceoryx ends this process: ") + iox::ErrorHandler::toString(error) + "\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
    std::terminate();
  }

  static inline std::atomic<iox::Error> last_{iox::Error::kNO_ERROR};
  iox::cxx::GenericRAII restored_;
};

/// Files that RouDi and killed workers leave: iceoryx's socket of each process, and its lock.
[[nodiscard]] inline std::vector<std::string> residue() {
  std::vector<std::string> all = roudi_residue();
  all.emplace_back("/tmp/{scope}_*");
  return all;
}

/// The last operation that failed, with iceoryx's own name of the result. If none failed, the last error that was
/// reported to the process.
inline const char* same(const char* name) noexcept { return name; }
struct LastFailure : kit::LastFailure<&same> {
  [[nodiscard]] std::string text() const {
    const std::string own = kit::LastFailure<&same>::text();
    return own.empty() ? Runtime::last_error() : own;
  }
};

/// The name of a topic or service in iceoryx. iceoryx would silently cut an identifier after 100 characters.
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
