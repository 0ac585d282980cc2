// What a trial's transport and native settings come to.
#pragma once

#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <middlemark/settings.hpp>

namespace middlemark::ros1 {

inline constexpr const char* tcpros = "tcpros";
inline constexpr const char* tcpros_nodelay = "tcpros-nodelay";
inline constexpr const char* udpros = "udpros";
inline constexpr const char* intraprocess = "intraprocess";
inline constexpr const char* nodelet = "nodelet";

inline constexpr const char* persistent_key = "service_persistent";
inline constexpr const char* datagram_key = "udp_datagram_bytes";
inline constexpr const char* port_key = "master_port";

[[nodiscard]] inline std::map<std::string, std::string> native_keys() {
  return {{persistent_key, "request and reply: a client keeps its connection (true) or makes one a call (false); true"},
          {datagram_key, "udpros: largest datagram in bytes, TransportHints::maxDatagramSize(); 1500"},
          {port_key, "port of the trial's rosmaster; any that is free"}};
}

struct Options {
  explicit Options(const Settings& settings) : transport(settings.transport) {
    const bool calls = settings.pattern == Pattern::request_reply;
    if (calls && transport != tcpros && transport != tcpros_nodelay) {
      throw AdapterError("ros1: " + transport + ": roscpp's services are carried by TCP only",
                         "choose the transport tcpros for request and reply");
    }
    for (const auto& [key, value] : settings.native) {
      if (key == persistent_key && calls) {
        if (value != "true" && value != "false") refuse(key, value, "true or false");
        persistent = value == "true";
      } else if (key == datagram_key && transport == udpros) {
        datagram_bytes = static_cast<int>(number(key, value, 64, 65'507));
      } else if (key == port_key) {
        port = static_cast<std::uint16_t>(number(key, value, 1, 65'535));
      } else if (native_keys().contains(key)) {
        throw AdapterError("ros1: " + transport + ": native." + key + " has no effect on this pattern and transport",
                           "leave it out there");
      } else {
        throw AdapterError("ros1: native." + key + " is not a setting of this adapter");
      }
    }
  }

  /// Messages stay in the process and are handed over by their shared pointer.
  [[nodiscard]] bool shares() const { return transport == intraprocess || transport == nodelet; }

  std::string transport;
  bool persistent = true;
  int datagram_bytes = 0;  ///< 0: roscpp's own default
  std::optional<std::uint16_t> port;

 private:
  [[noreturn]] static void refuse(const std::string& key, const std::string& value, const std::string& wanted) {
    throw AdapterError("ros1: native." + key + " = '" + value + "' is not " + wanted);
  }

  static unsigned number(const std::string& key, const std::string& value, unsigned least, unsigned most) {
    unsigned found = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), found);
    if (error != std::errc{} || end != value.data() + value.size() || found < least || found > most) {
      refuse(key, value, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return found;
  }
};

}  // namespace middlemark::ros1
