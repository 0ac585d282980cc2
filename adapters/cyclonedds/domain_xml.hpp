// The configuration of a trial's domain, as the XML that dds_create_domain() takes. CYCLONEDDS_URI plays no part in it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include <middlemark/settings.hpp>

namespace middlemark::cyclonedds {

/// A setting of Cyclone DDS that `native` may carry: its path below CycloneDDS/Domain, the form of its value, what it
/// does.
struct NativeKey {
  const char* path;
  const char* form;     ///< what a value looks like, for the person who got it wrong
  const char* pattern;  ///< the same as a regular expression; nothing it allows needs escaping in XML
  const char* text;
};

namespace form {
inline constexpr const char* size_text = "a size such as 65000B, 512kB or 4MiB";
inline constexpr const char* size = "[0-9]+ ?(B|kB|KiB|MB|MiB|GB|GiB)";
inline constexpr const char* duration_text = "a duration such as 10us, 5ms, 1s or inf";
inline constexpr const char* duration = "inf|[0-9]+(\\.[0-9]+)? ?(ns|us|ms|s)";
inline constexpr const char* boolean_text = "true or false";
inline constexpr const char* boolean = "true|false";
}  // namespace form

inline constexpr NativeKey native_keys[] = {
    {"General/AllowMulticast", "true, false, or any of spdp, asm, ssm joined by commas",
     "true|false|(spdp|asm|ssm)(,(spdp|asm|ssm))*", "what may go out as multicast"},
    {"General/FragmentSize", form::size_text, form::size,
     "size of the pieces a large sample is cut into (here 65000B)"},
    {"General/MaxMessageSize", form::size_text, form::size, "largest datagram (here 65500B)"},
    {"Internal/AckDelay", form::duration_text, form::duration, "how long a reader holds back an acknowledgement"},
    {"Internal/HeartbeatInterval", form::duration_text, form::duration, "how often a writer asks for acknowledgements"},
    {"Internal/MultipleReceiveThreads", "default, true or false", "default|true|false",
     "a receive thread each for unicast and multicast, or one"},
    {"Internal/NackDelay", form::duration_text, form::duration, "how long a reader waits before it asks for a resend"},
    {"Internal/RetransmitMerging", "never, adaptive or always", "never|adaptive|always",
     "one resend for several readers"},
    {"Internal/SocketReceiveBufferSize", form::size_text, form::size,
     "receive buffer of the sockets (here 16MiB or two messages, as far as net.core.rmem_max allows)"},
    {"Internal/SocketSendBufferSize", form::size_text, form::size, "send buffer of the sockets"},
    {"Internal/SynchronousDeliveryLatencyBound", form::duration_text, form::duration,
     "samples with a tighter latency budget go to a delivery thread"},
    {"Internal/Watermarks/WhcAdaptive", form::boolean_text, form::boolean, "adapt WhcHigh to the readers' pace"},
    {"Internal/Watermarks/WhcHigh", form::size_text, form::size,
     "unacknowledged bytes at which a reliable writer blocks (500kB)"},
    {"Internal/Watermarks/WhcLow", form::size_text, form::size, "bytes at which it goes on (1kB)"},
    {"Internal/WriteBatch", form::boolean_text, form::boolean, "gather small samples into one datagram"},
};

/// Throws AdapterError for the first key that is unknown or whose value has not its form.
inline void check_native(const std::map<std::string, std::string>& native) {
  for (const auto& [key, value] : native) {
    const auto* known = std::find_if(std::begin(native_keys), std::end(native_keys),
                                     [&key](const NativeKey& candidate) { return key == candidate.path; });
    if (known == std::end(native_keys)) {
      std::string accepted;
      for (const NativeKey& candidate : native_keys) {
        accepted.append(accepted.empty() ? "" : ", ").append(candidate.path);
      }
      throw AdapterError("cyclonedds: native." + key + " is not a setting that can be set", "one of " + accepted);
    }
    if (!std::regex_match(value, std::regex(known->pattern))) {
      throw AdapterError("cyclonedds: native." + key + " = '" + value + "' is not " + known->form);
    }
  }
}

/// Elements of the configuration by their path below CycloneDDS/Domain. A last step that begins with '@' is an
/// attribute.
using Elements = std::map<std::vector<std::string>, std::string>;

[[nodiscard]] inline std::vector<std::string> path_of(std::string_view text) {
  std::vector<std::string> path;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('/', at), text.size());
    path.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return path;
}

/// Elements that share their first steps are neighbours in the map, attributes before children ('@' sorts before
/// letters).
[[nodiscard]] inline std::string xml(const Elements& elements) {
  std::string out = "<CycloneDDS><Domain Id=\"any\"";
  std::vector<std::string> open;
  bool tag_open = true;
  const auto end_tag = [&out, &tag_open] {
    if (tag_open) out += ">";
    tag_open = false;
  };
  const auto close_to = [&](std::size_t steps) {
    for (; open.size() > steps; open.pop_back()) {
      end_tag();
      out.append("</").append(open.back()).append(">");
    }
  };
  for (const auto& [path, value] : elements) {
    const bool attribute = path.back().starts_with('@');
    const std::size_t steps = path.size() - (attribute ? 1 : 0);
    const auto [mine, theirs] =
        std::mismatch(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(steps), open.begin(), open.end());
    close_to(static_cast<std::size_t>(theirs - open.begin()));
    for (std::size_t step = open.size(); step < steps; ++step) {
      end_tag();
      out.append("<").append(path[step]);
      open.push_back(path[step]);
      tag_open = true;
    }
    if (attribute) {
      out.append(" ").append(path.back().substr(1)).append("=\"").append(value).append("\"");
    } else {
      end_tag();
      out += value;
    }
  }
  close_to(0);
  return out + "</Domain></CycloneDDS>";
}

/// The kernel's limit for a receive buffer, in bytes as setsockopt counts them; 0 where it cannot be read.
[[nodiscard]] inline std::uint64_t receive_buffer_limit() {
  std::uint64_t limit = 0;
  std::ifstream("/proc/sys/net/core/rmem_max") >> limit;
  return limit;
}

/// What a trial's domain is configured with. `native` has been checked.
[[nodiscard]] inline Elements domain_elements(const Settings& settings) {
  if (!std::regex_match(settings.interface, std::regex("[A-Za-z0-9_.:@-]{1,15}"))) {
    throw AdapterError("cyclonedds: interface '" + settings.interface + "' is not a name of a network interface",
                       "'ip link' lists them");
  }
  Elements elements;
  const auto set = [&elements](std::string_view path, std::string value) {
    elements[path_of(path)] = std::move(value);
  };
  set("General/Interfaces/NetworkInterface/@name", settings.interface);
  // lo carries multicast although it lacks the flag; without it discovery would need a list of peers.
  set("General/Interfaces/NetworkInterface/@multicast", settings.interface == "lo" ? "true" : "default");
  // Cyclone's own 14720 B and 1344 B are meant for Ethernet without fragments; loopback carries 64 KiB in one datagram.
  set("General/MaxMessageSize", "65500B");
  set("General/FragmentSize", "65000B");
  // A message arrives faster than it is taken off the socket: room for two, as far as the kernel allows.
  const std::uint64_t wanted = std::max<std::uint64_t>(std::uint64_t{16} << 20, 2 * settings.message_bytes);
  const std::uint64_t buffer = std::min(receive_buffer_limit(), wanted);
  if (buffer > 0) set("Internal/SocketReceiveBufferSize/@max", std::to_string(buffer) + "B");
  if (settings.transport == "shm") {
    set("SharedMemory/Enable", "true");
    set("SharedMemory/LogLevel", "warn");
  } else {
    set("SharedMemory/Enable", "false");
  }
  for (const auto& [key, value] : settings.native) {
    const bool socket = key.ends_with("SocketReceiveBufferSize") || key.ends_with("SocketSendBufferSize");
    set(socket ? key + "/@max" : key, value);
  }
  return elements;
}

}  // namespace middlemark::cyclonedds
