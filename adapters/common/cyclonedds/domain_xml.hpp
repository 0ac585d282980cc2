// The configuration of a trial's domain, as the XML that is passed to dds_create_domain(). CYCLONEDDS_URI has no effect
// on this domain.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include <middlemark/kit/machine.hpp>
#include <middlemark/kit/xml.hpp>
#include <middlemark/settings.hpp>

#include "native.hpp"
#include "user_file.hpp"
#include "version.hpp"

namespace middlemark::cyclonedds {

struct Element {
  std::map<std::string, std::string> attributes;
  std::map<std::string, Element> children;
  std::string text;

  /// Sets the text of an element, or the value of an attribute. The steps of `path` are separated by '/'. A last step
  /// that begins with '@' names an attribute.
  void set(std::string_view path, const std::string& value) {
    Element* at = this;
    for (std::size_t end = path.find('/'); end != path.npos; end = path.find('/')) {
      at = &at->children[std::string(path.substr(0, end))];
      path.remove_prefix(end + 1);
    }
    if (path.starts_with('@')) {
      at->attributes[std::string(path.substr(1))] = value;
    } else {
      at->children[std::string(path)].text = value;
    }
  }
};

[[nodiscard]] inline std::string xml(const std::string& name, const Element& element, const std::string& indent) {
  std::string out = indent + "<" + name;
  for (const auto& [attribute, value] : element.attributes)
    out += " " + attribute + "=\"" + kit::xml_escaped(value) + "\"";
  if (element.text.empty() && element.children.empty()) return out + "/>";
  out += ">" + kit::xml_escaped(element.text);
  for (const auto& [child, content] : element.children) out += "\n" + xml(child, content, indent + "  ");
  return out + (element.children.empty() ? "" : "\n" + indent) + "</" + name + ">";
}

/// Replaces the peers of the user's file, if there is one, by this machine, and gives participants an index, because peers
/// can find a participant by unicast only if it has one.
inline void set_peers(Element& domain, const Settings& settings, const UserFile& user) {
  if (settings.interface != "lo") {
    const std::string of_file = user.xml().empty() ? "" : "config: " + user.path() + ": ";
    throw AdapterError("Cyclone DDS: " + of_file + "AllowMulticast or Peers: without multicast the processes of a " +
                           "trial find each other only on the interface lo",
                       "remove AllowMulticast and Peers, or measure on lo");
  }
  constexpr std::uint32_t usual = 9;
  domain.set("Discovery/Peers/Peer/@Address", "127.0.0.1");
  domain.set("Discovery/ParticipantIndex", "auto");
  domain.set("Discovery/MaxAutoParticipantIndex", std::to_string(std::max<std::uint32_t>(usual, settings.workers)));
}

/// Makes Cyclone DDS write its files to the trial's folder. Otherwise it would write them, such as cyclonedds.log, to
/// the folder in which the user started the run.
inline void set_files(Element& domain, const Settings& settings, const Native& native, const UserFile& user) {
  const std::string folder = settings.scratch + "/";
  bool traces = !user.xml().empty();
  for (const auto& [path, value] : native.any) traces = traces || lower(path).starts_with("tracing/");
  if (traces) domain.set("Tracing/OutputFile", folder + user.trace());
  if (!user.packets().empty()) domain.set("Tracing/PacketCaptureFile", folder + user.packets());
  for (const auto& [path, value] : native.any) {
    const bool file = lower(path) == "tracing/outputfile" || lower(path) == "tracing/packetcapturefile";
    if (file) domain.set(path, folder + UserFile::file_name(value));
  }
}

/// Returns the configuration of a trial's domain: one or several documents, each with the root CycloneDDS. In Cyclone
/// DDS the last value of an element counts. So the transport's tuning comes before the user's own configuration, and the
/// values of factors and native settings come after it.
[[nodiscard]] inline std::vector<std::string> domain_xml(const Settings& settings, const Native& native,
                                                         const UserFile& user) {
  if (!std::regex_match(settings.interface, std::regex("[A-Za-z0-9_.:@-]{1,15}"))) {
    throw AdapterError("Cyclone DDS: interface '" + settings.interface + "' is not a name of a network interface",
                       "`ip link` lists the interfaces");
  }
  Element tuned;
  Element required;
  Element& last = user.xml().empty() ? tuned : required;
  const bool is_default = settings.is_default_configuration();
  last.set("@Id", "any");
  last.set("General/Interfaces/NetworkInterface/@name", settings.interface);
  // The interface lo transports multicast although its MULTICAST flag is not set. Without multicast, discovery would
  // need a list of peers.
  last.set("General/Interfaces/NetworkInterface/@multicast", settings.interface == "lo" ? "true" : "default");
  if (!is_default) {
    tuned.set("@Id", "any");
    // Cyclone DDS's defaults of 14720 B and 1344 B avoid fragments on Ethernet; on loopback a datagram may have 64 KiB.
    if (settings.interface == "lo" || native.sizes_datagrams()) {
      tuned.set("General/MaxMessageSize", std::to_string(native.max_message_bytes()) + "B");
      tuned.set("General/FragmentSize", std::to_string(native.fragment_bytes()) + "B");
    }
    // Messages can arrive faster than they are read from the socket, so its buffer has space for two of the largest
    // messages, if the kernel allows it.
    const std::uint64_t wanted = std::max<std::uint64_t>(std::uint64_t{16} << 20, 2 * settings.message_bytes);
    const std::uint64_t buffer = std::min(kit::kernel_limit("net/core/rmem_max"), wanted);
    if (buffer > 0) tuned.set("Internal/SocketReceiveBufferSize/@max", std::to_string(buffer) + "B");
  }
  if (user.discovers_by_unicast() || native.discovers_by_unicast()) set_peers(last, settings, user);
  if (!is_default || !user.xml().empty()) {
    for (const auto& [path, value] : shared_memory_elements(settings.transport == "shm")) last.set(path, value);
  }
  for (const auto& [path, value] : native.elements()) last.set(path, value);
  set_files(last, settings, native, user);
  const auto document = [](const Element& domain) {
    return "<CycloneDDS>\n" + xml("Domain", domain, "  ") + "\n</CycloneDDS>";
  };
  if (user.xml().empty()) return {document(tuned)};
  if (is_default) return {user.xml(), document(required)};
  return {document(tuned), user.xml(), document(required)};
}

}  // namespace middlemark::cyclonedds
