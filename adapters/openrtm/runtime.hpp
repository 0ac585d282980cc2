// OpenRTM's manager, one per process: starts the CORBA broker, and registers the adapter's buffer and shared-memory
// segment in place of OpenRTM's.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include <middlemark/kit/pinned.hpp>
#include <middlemark/kit/socket.hpp>
#include <middlemark/settings.hpp>

#include "options.hpp"
#include "rtm.hpp"

namespace middlemark::openrtm {

/// A ring buffer with a lock, because all connectors of a subscriber share one buffer. OpenRTM's own ring buffer does not
/// lock between storing a message and advancing to the next slot, so it loses messages when two connectors write at once.
class SharedBuffer : public RTC::CdrRingBuffer {
 public:
  RTC::BufferStatus write(const RTC::ByteData& message, std::chrono::nanoseconds timeout) override {
    const std::lock_guard one_at_a_time(writing_);
    return RTC::CdrRingBuffer::write(message, timeout);
  }

 private:
  std::mutex writing_;
};

/// A shared-memory segment whose name begins with the trial's scope, so that the launcher can remove it after its process
/// was killed.
class NamedSegment : public RTC::InPortSHMConsumer {
 public:
  NamedSegment() { m_shm_address = scope + ".openrtm." + m_shm_address; }
  static inline std::string scope;
};

/// Stores the handler of SIGINT and restores it later, because OpenRTM's manager replaces it.
class Interrupt : kit::Pinned {
 public:
  Interrupt() { sigaction(SIGINT, nullptr, &before_); }
  ~Interrupt() { give_back(); }
  void give_back() const { sigaction(SIGINT, &before_, nullptr); }

 private:
  struct sigaction before_{};
};

class Runtime : kit::Pinned {
 public:
  explicit Runtime(const Settings& settings) {
    std::vector<std::string> words{
        "openrtm",
        "-f",
        "/dev/null",  // the default is an rtc.conf in the current folder
        "-o",
        "manager.shutdown_auto:NO",  // without this the manager ends when it finds no component
        "-o",
        "manager.termination_waittime:0"};
    for (std::string& option : options(settings)) words.insert(words.end(), {"-o", std::move(option)});
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    RTC::Manager* const manager = RTC::Manager::init(static_cast<int>(arguments.size()), arguments.data());
    interrupt_.give_back();
    NamedSegment::scope = settings.scope;
    replace<RTC::InPortConsumerFactory, RTC::InPortConsumer, NamedSegment>("shared_memory");
    replace<RTC::CdrBufferFactory, RTC::CdrBufferBase, SharedBuffer>("ring_buffer");
    if (!manager->activateManager()) throw AdapterError("openrtm: Manager::activateManager() failed");
    manager->runManager(true);
  }
  ~Runtime() {
    RTC::Manager::terminate();
    RTC::Manager::instance().join();
  }

  /// Limits how long a call waits for another process, from now on. The limit is at least one second, because OpenRTM
  /// removes the connector when it is exceeded.
  static void bound_calls(const Settings& settings) {
    const auto longest = std::max<std::chrono::nanoseconds>(settings.write_timeout, std::chrono::seconds(1));
    omniORB::setClientCallTimeout(static_cast<CORBA::ULong>(longest / std::chrono::milliseconds(1)));
  }

 private:
  [[nodiscard]] static std::vector<std::string> options(const Settings& settings) {
    if (settings.is_default_configuration()) return {"logger.file_name:/dev/null"};
    const bool over_uds = settings.transport == uds || settings.transport == shm;
    const std::string socket = "giop:unix:" + kit::unix_path(settings, std::to_string(getpid()));
    return {"logger.enable:NO", "naming.enable:NO", "corba.update_master_manager.enable:NO",
            "corba.endpoints:" + (over_uds ? "" : kit::ipv4_text(settings.interface) + ':'),
            "corba.args:-ORBclientCallTimeOutPeriod 10000 -ORBinConScanPeriod 0 -ORBgiopMaxMsgSize " +
                std::to_string(settings.message_bytes + room_bytes + (std::size_t{2} << 20)) +
                (over_uds ? " -ORBendPoint " + socket : "")};
  }

  template <class Factory, class Base, class Ours>
  static void replace(const char* name) {
    Factory::instance().removeFactory(name);
    Factory::instance().addFactory(name, coil::Creator<Base, Ours>, coil::Destructor<Base, Ours>);
  }

  const Interrupt interrupt_;
};

}  // namespace middlemark::openrtm
