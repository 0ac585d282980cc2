// ROS 1 (roscpp) behind the contract of core/adapter.hpp. README.md says how each setting maps to roscpp's own.
#pragma once

#include <ros/init.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/library.hpp>

#include "limits.hpp"
#include "master.hpp"
#include "node.hpp"
#include "nodelets.hpp"
#include "options.hpp"
#include "publisher.hpp"
#include "services.hpp"
#include "subscriber.hpp"

namespace middlemark {

class Ros1 {
 public:
  [[nodiscard]] static Description describe() {
    const LoadedLibrary library = loaded_library(reinterpret_cast<const void*>(&ros::isInitialized));
    Description description;
    description.name = "ros1";
    description.title = "ROS 1 (roscpp)";
    description.version = library.version;
    description.library = library.path;
    description.licence = "BSD-3-Clause";
    description.request_reply = true;
    description.own_threads = true;
    description.native = ros1::native_keys();
    const auto add = [&description](const char* name, const char* carrier) -> Transport& {
      Transport& transport = description.transports.emplace_back();
      transport.name = name;
      transport.carrier = carrier;
      transport.processes = {2};
      transport.reliability = {"reliable"};
      transport.companions = true;
      return transport;
    };
    add(ros1::tcpros, "tcp");
    add(ros1::tcpros_nodelay, "tcp");
    add(ros1::udpros, "udp").reliability = {"best-effort"};
    Transport& shared = add(ros1::intraprocess, "process-memory");
    shared.processes = {1};
    shared.loan = {true};
    Transport& nodelet = add(ros1::nodelet, "process-memory");
    nodelet.processes = {1};
    nodelet.loan = {true};
    nodelet.receive = {"listen"};
    return description;
  }

  [[nodiscard]] static std::vector<Companion> companions(const Settings& settings) {
    return {ros1::rosmaster(settings, ros1::Options(settings).port)};
  }

  explicit Ros1(const Settings& settings)
      : settings_(settings), options_(settings), limits_(settings), node_(settings) {
    if (options_.transport == ros1::nodelet) nodelets_.emplace();
  }

  [[nodiscard]] ros1::TopicPublisher publisher(const Topic& topic, unsigned index) {
    return {handle(topic.name + "_publisher" + std::to_string(index)),
            topic,
            settings_,
            options_,
            limits_,
            ends_[topic.name]};
  }
  [[nodiscard]] ros1::TopicSubscriber subscriber(const Topic& topic, unsigned index) {
    return {handle(topic.name + "_subscriber" + std::to_string(index)),
            topic,
            settings_,
            options_,
            limits_,
            ends_[topic.name]};
  }
  [[nodiscard]] ros1::ServiceClient client(const Topic& service, unsigned /*index*/) {
    return {node_.handle(), service, settings_, options_};
  }
  [[nodiscard]] ros1::ServiceServer server(const Topic& service, unsigned /*index*/) {
    return {node_.handle(), service, settings_};
  }

  [[nodiscard]] std::vector<std::string> notes() const {
    if (settings_.pattern != Pattern::request_reply) {
      std::vector<std::string> notes = limits_.notes();
      if (options_.transport == ros1::udpros) ros1::note_datagrams(settings_.message_bytes, options_, notes);
      return notes;
    }
    std::vector<std::string> notes{
        "a call is one blocking ros::ServiceClient::call(): its time to write holds the reply"};
    if (options_.transport == ros1::tcpros_nodelay) {
      notes.emplace_back("roscpp has TCP_NODELAY for topics only: these services are the same as with tcpros");
    }
    return notes;
  }

 private:
  /// Every end is a nodelet of its own, where there are nodelets.
  ros::NodeHandle& handle(const std::string& name) {
    return nodelets_ ? nodelets_->load(ros1::global(name)) : node_.handle();
  }

  const Settings settings_;
  const ros1::Options options_;
  const ros1::Limits limits_;
  ros1::Node node_;
  std::map<std::string, ros1::LocalEnds> ends_;
  std::optional<ros1::Nodelets> nodelets_;
};

static_assert(Adapter<Ros1> && HasRequestReply<Ros1> && HasCompanions<Ros1> && HasNotes<Ros1>);
static_assert(CountsPublishers<ros1::TopicSubscriber>);

}  // namespace middlemark
