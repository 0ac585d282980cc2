// Native settings, and the properties of a connector that follow from a trial's settings.
#pragma once

#include <coil/Properties.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include <middlemark/kit/native.hpp>
#include <middlemark/kit/segment.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::openrtm {

inline constexpr const char* tcp = "tcp";
inline constexpr const char* uds = "uds";
inline constexpr const char* shm = "shm";
inline constexpr const char* intraprocess = "intraprocess";
inline constexpr const char* direct = "direct";

inline constexpr std::uint32_t deepest_buffer = 1'000'000;

/// Bytes reserved in a serialised message for everything except its octets: a time stamp, the number of octets, and the
/// headers of GIOP and of the connector.
inline constexpr std::size_t room_bytes = std::size_t{64} << 10;

struct Native : kit::NativeKeys {
  using NativeKeys::NativeKeys;
  std::string interface_type =
      key("interface_type", std::string("corba_cdr"),
          {.help = "`interface_type`: `data_service` is the interface of OMG's RTC specification",
           .choices = {"corba_cdr", "data_service"},
           .transports = {tcp, uds, intraprocess}});
  std::string subscription_type =
      key("subscription_type", std::string("flush"),
          {.help = "`subscription_type`: `flush` calls the subscriber within `write()`; `new` calls it on the "
                   "connector's thread and is best effort",
           .choices = {"flush", "new"},
           .transports = {tcp, uds, shm, intraprocess}});
  std::string push_policy = key("push_policy", std::string("all"),
                                {.help = "`publisher.push_policy` for subscription_type `new`: `all` sends every "
                                         "message, `new` skips all but the newest",
                                 .choices = {"all", "new"},
                                 .transports = {tcp, uds, shm, intraprocess}});
};

struct Options : Native {
  explicit Options(const Settings& settings)
      : Native(kit::read_native<Native>("openrtm", settings)),
        transport_(settings.transport),
        blocks_(settings.reception == Reception::block),
        is_default_(settings.is_default_configuration()) {
    std::size_t segments = 0;
    for (const Topic& topic : settings.endpoints) {
      if (subscription_type != "flush" && reliable(topic))
        throw AdapterError(
            "openrtm: subscription_type=new is not reliable: a message may wait until the next is written",
            "ask for best-effort");
      segments += std::size_t{topic.publishers} * topic.subscribers * segment_kib(topic) << 10;
    }
    if (transport_ == shm) kit::require_shared_memory(segments, "openrtm: the connectors");
  }

  [[nodiscard]] static bool reliable(const Topic& topic) { return topic.reliability == Reliability::reliable; }

  /// Returns the properties of each connector between a publisher and a subscriber.
  [[nodiscard]] coil::Properties connector(const Topic& topic) const {
    coil::Properties all;
    if (is_default_) return all;
    coil::Properties& port = all.getNode("dataport");
    port["dataflow_type"] = "push";
    port["interface_type"] = transport_ == shm ? "shared_memory" : transport_ == direct ? direct : interface_type;
    port["subscription_type"] = subscription_type;
    port["publisher.push_policy"] = push_policy;
    port["shem_default_size"] = std::to_string(segment_kib(topic)) + 'k';
    // Each connector of a publisher has its own buffer, which only `new` uses. The message that is being sent still
    // uses a slot of that buffer, so the buffer has one slot more than the depth. All connectors of a subscriber share
    // one buffer.
    port["outport.buffer.length"] = std::to_string(topic.depth.value_or(kept(topic)) + 1);
    port["outport.buffer.write.full_policy"] = "do_nothing";
    port["inport.buffer.length"] = std::to_string(topic.capacity().value_or(kept(topic)));
    port["inport.buffer.write.full_policy"] = "do_nothing";
    port["inport.buffer.read.empty_policy"] = blocks_ ? "block" : "do_nothing";
    port["inport.buffer.read.timeout"] = "0.02";
    return all;
  }

  /// Returns the length of a buffer with keep-all, for messages of all publishers together: as many as fit into 64 MiB,
  /// at least 4.
  [[nodiscard]] static std::uint64_t kept(const Topic& topic) {
    constexpr std::size_t keep_all_bytes = std::size_t{64} << 20;
    return std::clamp<std::size_t>(keep_all_bytes / topic.message_bytes, 4, 65'536);
  }

 private:
  [[nodiscard]] static std::size_t segment_kib(const Topic& topic) {
    return (topic.message_bytes + room_bytes) / 1024 + 1;
  }

  std::string transport_;
  bool blocks_;
  bool is_default_;
};

}  // namespace middlemark::openrtm
