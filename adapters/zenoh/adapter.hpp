// Eclipse zenoh behind the contract of core/adapter.hpp. README.md says how each setting maps to zenoh's own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <middlemark/adapter.hpp>

#include "ends.hpp"
#include "meeting.hpp"
#include "native.hpp"
#include "pool.hpp"
#include "turn.hpp"
#include "words.hpp"
#include "zenoh_c.hpp"

namespace middlemark {

class Zenoh {
 public:
  static Description describe() {
    zenoh::Words version;
    mmz_version(version.into());
    Description description;
    description.name = "zenoh";
    description.title = "Eclipse zenoh";
    description.version = version.said();
    description.licence = "EPL-2.0 OR Apache-2.0";
    description.own_threads = true;
    description.request_reply = true;
    description.residue = {"/dev/shm/*.zenoh"};
    description.native = zenoh::Native::keys();
    const auto add = [&description](std::string name, std::string carrier) -> Transport& {
      Transport transport;
      transport.name = std::move(name);
      transport.carrier = std::move(carrier);
      transport.processes = {2};
      transport.max_depth = 100'000;  // a ring has all of its places from the start, some 300 bytes each
      return description.transports.emplace_back(std::move(transport));
    };
    add("tcp", "tcp");
    add("udp", "udp");
    add("unix", "unix-socket");
    Transport& shm = add("shm", "shared-memory");
    shm.segments = {"*.zenoh"};
    shm.loan = {false, true};
    add("intraprocess", "process-memory").processes = {1};
    return description;
  }

  explicit Zenoh(const Settings& settings)
      : settings_(settings),
        native_(settings.native),
        pool_(settings.transport == "shm" ? zenoh::pool_bytes(settings, native_) : 0) {
    zenoh::Words words;
    const sockets::Descriptor turn = pool_ != 0 ? zenoh::take_turn(settings_) : sockets::Descriptor();
    const Config config = configuration();
    session_.reset(
        mmz_open(config.get(), settings_.scope.c_str(), pool_ != 0, settings_.loan ? pool_ : 0, words.into()));
    if (session_ == nullptr) fail("cannot open a session at " + (listens_.empty() ? "no endpoint" : listens_), words);
  }

  [[nodiscard]] zenoh::Sender publisher(const Topic& topic, unsigned index) {
    zenoh::Words words;
    const MmzEndpoint endpoint = end_of(topic, index);
    zenoh::SenderHandle handle(mmz_publisher(session_.get(), &endpoint, words.into()));
    if (handle == nullptr) fail("cannot declare a publisher of " + topic.name, words);
    return {std::move(handle), topic.message_bytes, settings_.write_timeout};
  }

  [[nodiscard]] zenoh::Receiver subscriber(const Topic& topic, unsigned index) {
    zenoh::Words words;
    const MmzEndpoint endpoint = end_of(topic, index);
    zenoh::ReceiverHandle handle(mmz_subscriber(session_.get(), &endpoint, words.into()));
    if (handle == nullptr) fail("cannot declare a subscriber of " + topic.name, words);
    return zenoh::Receiver(std::move(handle));
  }

  [[nodiscard]] zenoh::Exchange client(const Topic& service, unsigned index) {
    return exchange(mmz_client, service, index);
  }
  [[nodiscard]] zenoh::Exchange server(const Topic& service, unsigned index) {
    return exchange(mmz_server, service, index);
  }

  [[nodiscard]] std::vector<std::string> notes() const {
    if (settings_.transport == "udp" && settings_.reliability == Reliability::reliable) {
      return {"zenoh's reliable UDP is QUIC without encryption"};
    }
    const std::size_t messages = pool_ / settings_.message_bytes;
    if (pool_ == 0 || messages >= 256) return {};
    return {"the shared memory that each process sends from holds " + std::to_string(messages) +
            " messages; zenoh uses it again only 100 ms later: native.shm_pool_bytes gives it more"};
  }

 private:
  struct FreeConfig {
    void operator()(MmzConfig* config) const noexcept { mmz_config_free(config); }
  };
  struct CloseSession {
    void operator()(MmzSession* session) const noexcept { mmz_close(session); }
  };
  using Config = std::unique_ptr<MmzConfig, FreeConfig>;

  [[noreturn]] void fail(const std::string& what, const zenoh::Words& words) const {
    throw AdapterError("zenoh: " + settings_.transport + ": " + what + ": " + words.said());
  }

  [[nodiscard]] Config configuration() {
    Config config(mmz_config_new());
    const auto set = [&](const std::string& path, const std::string& json5) {
      zenoh::Words words;
      if (mmz_config_set(config.get(), path.c_str(), json5.c_str(), words.into())) return;
      throw AdapterError("zenoh: config." + path + "=" + json5 + ": " + words.said());
    };
    const auto quoted = [](const std::string& text) { return '"' + text + '"'; };
    const std::string timeout_us = std::to_string(settings_.write_timeout.count() / 1000);
    set("mode", quoted("peer"));
    set("scouting/multicast/enabled", "false");
    set("scouting/gossip/enabled", "false");
    set("connect/retry", "{ period_init_ms: 10, period_max_ms: 50, period_increase_factor: 1.5 }");
    set("transport/link/tx/queue/congestion_control/block/wait_before_close", timeout_us);
    if (native_.batch_size) set("transport/link/tx/batch_size", std::to_string(*native_.batch_size));
    set("transport/shared_memory/enabled", pool_ != 0 ? "true" : "false");
    if (pool_ != 0) {
      set("transport/shared_memory/mode", quoted("init"));
      set("transport/shared_memory/transport_optimization",
          std::string("{ enabled: ") + (settings_.loan ? "false" : "true") + ", pool_size: " + std::to_string(pool_) +
              ", message_size_threshold: " + std::to_string(native_.shm_threshold.value_or(1)) + " }");
    }
    set("listen/endpoints", "[]");
    if (!settings_.one_process) {
      const zenoh::Meeting meeting = zenoh::meet(settings_);
      listens_ = meeting.listen;
      std::string peers;
      for (const std::string& each : meeting.connect) peers += quoted(each) + ",";
      set("listen/endpoints", "[" + quoted(meeting.listen) + "]");
      set("connect/endpoints", "[" + peers + "]");
    }
    for (const auto& [path, json5] : native_.config) set(path, json5);
    return config;
  }

  [[nodiscard]] MmzEndpoint end_of(const Topic& topic, unsigned index) const noexcept {
    const bool reliable = settings_.reliability == Reliability::reliable;
    MmzEndpoint endpoint{};
    endpoint.topic = topic.name.c_str();
    endpoint.index = index;
    endpoint.bytes = topic.message_bytes;
    endpoint.reliable = reliable;
    endpoint.block = native_.block.value_or(reliable);
    // A message that is waited for gains from leaving by itself, and a stream loses nine tenths of its rate by it.
    endpoint.express = native_.express.value_or(settings_.pattern != Pattern::stream);
    endpoint.priority = native_.priority;
    endpoint.ring = native_.ring.value_or(settings_.depth.has_value());
    // So many of each publisher: at depth 1 the messages of several would push each other out.
    endpoint.capacity = settings_.depth ? std::size_t{*settings_.depth} * topic.publishers : native_.fifo_capacity;
    endpoint.listen = settings_.reception == Reception::listen;
    endpoint.write_timeout_ns = static_cast<std::uint64_t>(settings_.write_timeout.count());
    return endpoint;
  }

  template <class Make>
  [[nodiscard]] zenoh::Exchange exchange(Make make, const Topic& service, unsigned index) {
    zenoh::Words words;
    const MmzEndpoint endpoint = end_of(service, index);
    MmzReceiver* received = nullptr;
    zenoh::SenderHandle sender(make(session_.get(), &endpoint, &received, words.into()));
    zenoh::ReceiverHandle receiver(received);
    if (sender == nullptr) fail("cannot declare the service " + service.name, words);
    return {std::move(sender), std::move(receiver), service.message_bytes, settings_.write_timeout};
  }

  const Settings settings_;
  const zenoh::Native native_;
  const std::size_t pool_;  ///< bytes of shared memory that this process sends from
  std::string listens_;
  std::unique_ptr<MmzSession, CloseSession> session_;
};

static_assert(Adapter<Zenoh> && HasRequestReply<Zenoh> && HasNotes<Zenoh>);
static_assert(CountsPublishers<zenoh::Receiver> && HasLastError<zenoh::Sender>);

}  // namespace middlemark
