// ROS 1 (roscpp). README.md lists the roscpp option that each setting sets.
#pragma once

#include <ros/init.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/applied.hpp>
#include <middlemark/kit/contract.hpp>
#include <middlemark/kit/library.hpp>

#include "ends.hpp"
#include "node.hpp"
#include "options.hpp"

namespace middlemark {

class Ros1 {
 public:
  [[nodiscard]] static Description describe() {
    const kit::LoadedLibrary library = kit::loaded_library(reinterpret_cast<const void*>(&ros::isInitialized));
    const auto network = [](const char* name, const char* carrier, Reliability reliability = Reliability::reliable) {
      return Transport{.name = name,
                       .carrier = carrier,
                       .processes = {2},
                       .patterns = every_pattern,
                       .discovery_by = "nodes know rosmaster's address, and rosmaster introduces them",
                       .reliability = {reliability},
                       .companions = true,
                       .types = ros1::types,
                       .varying_sizes = true,
                       .services = true,
                       .max_history = 1,  // a latched publisher keeps its last message
                       .security_why = "ROS 1 has no security, and SROS, which added it, is no longer developed",
                       .wire = std::string_view(carrier) == "tcp" ? "tcpros" : ""};
    };
    Transport shared = network(ros1::intraprocess, "process-memory");
    shared.processes = {1};
    shared.patterns = Transport{}.patterns;
    shared.services = false;               // roscpp's services use TCP
    shared.types = {MessageType::octets};  // messages are not serialized within a process
    shared.loan = {true};
    shared.hands_over = {true};
    Transport nodelet = shared;
    nodelet.name = ros1::nodelet;
    nodelet.receive = {Reception::listen};
    Transport datagrams = network(ros1::udpros, "udp", Reliability::best_effort);
    datagrams.patterns = Transport{}.patterns;
    datagrams.services = false;
    datagrams.max_history = 0;
    datagrams.types = {MessageType::octets};  // with several typed topics a subscriber sometimes finds no publisher
    Transport own = network(default_configuration, "any");
    own.processes = {1, 2};
    return {.name = "ros1",
            .title = "ROS 1 (roscpp)",
            .version = library.version,
            .library = library.path,
            .licence = "BSD-3-Clause",
            .transports = {network(ros1::tcpros, "tcp"), network(ros1::tcpros_nodelay, "tcp"), datagrams, shared,
                           nodelet, own},
            .own_threads = true,
            .native = kit::native_table<ros1::Native>()};
  }

  static void check(const Settings& settings) {
    ros1::Options{settings};
    if (settings.pattern == Pattern::request_reply && settings.type != MessageType::octets) {
      throw AdapterError("ros1: services support only octets", "take type octets, or pattern ping-pong");
    }
  }
  [[nodiscard]] static std::vector<Companion> companions(const Settings& settings) {
    return {ros1::rosmaster(settings)};
  }

  explicit Ros1(const Settings& settings) : settings_(settings), options_(settings), node_(settings) {
    if (options_.transport == ros1::nodelet) nodelets_.emplace();
  }

  [[nodiscard]] ros1::TopicPublisher publisher(const Topic& topic, unsigned index) {
    return {handle(topic.name + "_publisher" + std::to_string(index)), topic, settings_, options_};
  }
  [[nodiscard]] ros1::TopicSubscriber subscriber(const Topic& topic, unsigned index) {
    return {handle(topic.name + "_subscriber" + std::to_string(index)), topic, settings_, options_};
  }
  [[nodiscard]] ros1::ServiceClient client(const Topic& service, unsigned /*index*/) {
    return {node_.handle(), service, settings_, options_};
  }
  [[nodiscard]] ros1::ServiceServer server(const Topic& service, unsigned /*index*/) {
    return {node_.handle(), service, settings_};
  }

  [[nodiscard]] OwnSettings own_settings() const {
    kit::AppliedCode code;
    ros::TransportHints hints = ros1::hints_of(options_);
    for (const Topic& topic : settings_.endpoints) {
      if (topic.service) {
        code.begin("client").call("node.serviceClient<Service>", "name", options_.service_persistent);
        continue;
      }
      code.begin("publisher")
          .call("node.advertise<Message>", "topic", options_.publisher_queue(topic), topic.history > 0);
      kit::CodeBlock& subscriber = code.begin("subscriber");
      subscriber.line("ros::TransportHints hints;");
      for (const std::string& transport : hints.getTransports())
        subscriber.call(transport == "UDP" ? "hints.unreliable" : "hints.reliable");
      if (hints.getTCPNoDelay()) subscriber.call("hints.tcpNoDelay");
      if (hints.getMaxDatagramSize() > 0) subscriber.call("hints.maxDatagramSize", hints.getMaxDatagramSize());
      subscriber.call("node.subscribe", "topic", options_.subscriber_queue(topic), "callback", "hints");
    }
    return code.settings(Language::cpp);
  }
  [[nodiscard]] std::vector<std::string> notes() const { return options_.notes; }

 private:
  /// Returns the handle for a publisher or subscriber: the node's handle, or under `nodelet` the handle of a new
  /// nodelet called `name`.
  ros::NodeHandle& handle(const std::string& name) {
    return nodelets_ ? nodelets_->load(ros1::global(name)) : node_.handle();
  }

  const Settings settings_;
  const ros1::Options options_;
  ros1::Node node_;
  std::optional<ros1::Nodelets> nodelets_;
};

static_assert(fulfils_contract<Ros1>);

}  // namespace middlemark
