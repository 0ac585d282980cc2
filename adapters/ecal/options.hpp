// The native settings, and eCAL's configuration that follows from a trial's settings.
#pragma once

#include <ecal/ecal.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include <middlemark/kit/native.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::ecal {

inline constexpr const char* shm = "shm";
inline constexpr const char* udp = "udp";
inline constexpr const char* tcp = "tcp";

struct Native : kit::NativeKeys {
  using NativeKeys::NativeKeys;
  unsigned buffers =
      key("buffers", 1U,
          {.help = "`memfile_buffer_count`: memory files of a publisher", .least = 1, .most = 64, .transports = {shm}});
  unsigned refresh_ms =
      key("refresh_ms", 1000U,
          {.help = "`registration_refresh`: interval in ms in which each publisher and subscriber announces itself",
           .least = 10,
           .most = 5000,
           .transports = {shm, udp, tcp}});
  unsigned tcp_threads =
      key("tcp_threads", 4U,
          {.help = "`number_executor_reader` and `_writer`", .least = 1, .most = 64, .transports = {tcp}});
  bool zero_copy =
      key("zero_copy", false,
          {.help = "`zero_copy_mode`: a subscriber is called with the memory file itself, which is locked meanwhile",
           .transports = {shm}});
};

struct Options : Native {
  explicit Options(const Settings& settings)
      : Native(kit::read_native<Native>("ecal", settings)),
        transport_(settings.transport),
        is_default_(settings.is_default_configuration()),
        write_timeout_ms_(static_cast<unsigned>(std::clamp<std::int64_t>(
            std::chrono::ceil<std::chrono::milliseconds>(settings.write_timeout).count(), 1, 1'000'000'000))),
        port_(port_of(settings.scope)) {
    if (settings.interface != "lo") {
      throw AdapterError("ecal: interface " + settings.interface + ": eCAL has no setting for the network interface",
                         "choose lo, which eCAL uses within a host");
    }
  }

  /// Returns the configuration that this process passes to eCAL. It contains nothing from the user's files.
  [[nodiscard]] eCAL::Configuration configuration() const {
    eCAL::Configuration all;
    all.communication_mode = eCAL::eCommunicationMode::local;
    all.registration.local.transport_type = eCAL::Registration::Local::eTransportType::udp;
    all.registration.local.udp.port = port_;
    all.transport_layer.udp.port = port_ + 1;
    all.logging.provider.udp.enable = false;
    all.logging.provider.console.log_level = eCAL::Logging::log_level_fatal;
    all.timesync.timesync_module_rt.clear();
    if (is_default_) return all;
    all.registration.registration_refresh = refresh_ms;
    all.transport_layer.tcp.number_executor_reader = tcp_threads;
    all.transport_layer.tcp.number_executor_writer = tcp_threads;
    return all;
  }
  [[nodiscard]] eCAL::Publisher::Configuration of_publisher(const Topic& topic) const {
    eCAL::Publisher::Configuration result;
    if (is_default_) return result;
    result.layer.shm.enable = transport_ == shm;
    result.layer.udp.enable = transport_ == udp;
    result.layer.tcp.enable = transport_ == tcp;
    result.layer.shm.zero_copy_mode = zero_copy;
    result.layer.shm.memfile_buffer_count = buffers;
    // If a memory file is too small for a message, eCAL replaces the file. Then publish() sleeps, and the message may
    // be lost.
    result.layer.shm.memfile_min_size_bytes = static_cast<unsigned>(topic.message_bytes + 4096);
    result.layer.shm.acknowledge_timeout_ms = reliable(topic) ? write_timeout_ms_ : 0;
    return result;
  }
  [[nodiscard]] eCAL::Subscriber::Configuration of_subscriber() const {
    eCAL::Subscriber::Configuration result;
    if (is_default_) return result;
    result.layer.shm.enable = transport_ == shm;
    result.layer.udp.enable = transport_ == udp;
    result.layer.tcp.enable = transport_ == tcp;
    return result;
  }
  [[nodiscard]] static bool reliable(const Topic& topic) { return topic.reliability == Reliability::reliable; }

 private:
  /// Returns a port derived from the trial's scope, so that other eCAL programs on this host use other ports. The port
  /// is outside the range that the kernel uses for outgoing connections.
  [[nodiscard]] static unsigned port_of(const std::string& scope) {
    std::uint32_t hash = 2'166'136'261U;
    for (const char letter : scope) hash = (hash ^ static_cast<unsigned char>(letter)) * 16'777'619U;
    return 15'000 + hash % 8'000 * 2;
  }

  std::string transport_;
  bool is_default_;
  unsigned write_timeout_ms_;
  unsigned port_;
};

}  // namespace middlemark::ecal
