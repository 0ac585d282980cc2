// rclcpp, ROS 2's client library, over each installed middleware (RMW). README.md lists the ROS 2 option that each
// setting sets.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/contract.hpp>
#include <middlemark/kit/library.hpp>
#include <rclcpp/rclcpp.hpp>
#include <rmw/rmw.h>

#include "ros2/index.hpp"
#include "listening.hpp"
#include "messages.hpp"
#include "node.hpp"
#include "ros2/rmw.hpp"
#include "topics.hpp"
#include "version.hpp"
#if __has_include(<middlemark_interfaces/srv/bytes.hpp>)
#include "service.hpp"
#define MIDDLEMARK_RCLCPP_SERVICES
#endif

namespace middlemark {

class RosClientLibrary {
 public:
  explicit RosClientLibrary(const Settings& settings)
      : settings_(settings),
        executor_(kit::read_native<ros2::Native>("rclcpp", settings).executor),
        session_(ros2::made("rclcpp::init", [&] { return std::make_unique<ros2::Session>(settings); })) {}

  [[nodiscard]] static Description describe() {
    const kit::LoadedLibrary library =
        kit::loaded_library(reinterpret_cast<const void*>(&rclcpp::uninstall_signal_handlers));
    const std::vector<ros2::Rmw> rmws = ros2::installed_rmws();
    if (rmws.empty()) {
      throw AdapterError(
          "rclcpp: AMENT_PREFIX_PATH names no RMW: `source /opt/ros/<distribution>/setup.bash` in this shell");
    }
    Description description;
    description.name = "rclcpp";
    description.version = ros2::rclcpp_version(library.version);
    description.library = library.path;
    description.licence = "Apache-2.0";
    description.credentials = {Credential::x509, Credential::dds};
    description.own_threads = true;
    std::vector<std::string> words;
    for (const ros2::Rmw& rmw : rmws) {
      const std::string beneath = ros2::measures_nothing ? ros2::beneath(rmw.name) : "";
      description.transports.push_back(ros2::network(rmw.name, beneath));
      words.push_back(ros2::words_of(rmw, beneath));
    }
    const char* const distribution = std::getenv("ROS_DISTRO");
    description.title = ros2::title(distribution != nullptr ? distribution : "", "rclcpp", words);
    description.transports.push_back(ros2::within_process());
    for (Transport& transport : description.transports) transport.types = ros2::types;
    description.residue = ros2::residue();
    description.native = kit::native_table<ros2::Native>();
    return description;
  }

  static void check(const Settings& settings) {
    if (settings.pattern == Pattern::request_reply && settings.type != MessageType::octets) {
      throw AdapterError("rclcpp: services support only octets", "take type octets, or pattern ping-pong");
    }
    if (settings.native.empty() || settings.reception == Reception::listen) return;
    throw AdapterError("rclcpp: native.executor has no effect unless the reception is listen",
                       "leave it out, or receive by listen");
  }

  [[nodiscard]] ros2::Publisher publisher(const Topic& topic, unsigned index) {
    return ros2::made("the publisher of " + topic.name, [&] {
      return ros2::Publisher(node(topic.name + "_pub", index), topic, qos(topic, 1), intraprocess(),
                             ros2::refused(settings_));
    });
  }

  [[nodiscard]] ros2::Subscriber subscriber(const Topic& topic, unsigned index) {
    return ros2::made("the subscription of " + topic.name, [&] {
      return ros2::Subscriber(node(topic.name + "_sub", index), topic, qos(topic, topic.publishers),
                              settings_.reception, executor_);
    });
  }

#ifdef MIDDLEMARK_RCLCPP_SERVICES
  [[nodiscard]] ros2::Client client(const Topic& service, unsigned index) {
    return ros2::made("the client of " + service.name, [&] {
      return ros2::Client(node(service.name + "_client", index), service, settings_.reception, executor_);
    });
  }

  [[nodiscard]] ros2::Server server(const Topic& service, unsigned index) {
    return ros2::made("the service " + service.name, [&] {
      return ros2::Server(node(service.name + "_server", index), service, settings_.reception, executor_);
    });
  }
#endif

  [[nodiscard]] SharedSegment shared_segment() const { return ros2::shared_segment(loaded(), settings_); }
  [[nodiscard]] std::vector<std::string> notes() const { return ros2::notes(loaded(), words(), settings_); }
  [[nodiscard]] std::string protected_by() const { return ros2::protected_by(words()); }

 private:
  [[nodiscard]] static std::string loaded() { return rmw_get_implementation_identifier(); }
  [[nodiscard]] static std::string words() { return ros2::words_of_loaded(loaded(), ros2::installed_rmws()); }
  [[nodiscard]] bool intraprocess() const { return settings_.transport == ros2::intraprocess_name; }

  [[nodiscard]] std::shared_ptr<rclcpp::Node> node(const std::string& name, unsigned index) const {
    return ros2::make_node(name + std::to_string(index), intraprocess());
  }

  /// Returns the quality of service of a publisher or subscription. `sources`: the number of publishers that share the
  /// history; each has the topic's depth.
  [[nodiscard]] static rclcpp::QoS qos(const Topic& topic, std::size_t sources) {
    rclcpp::QoS qos(rclcpp::KeepAll{});
    if (topic.depth) qos.keep_last(*topic.depth * sources);
    if (topic.reliability == Reliability::reliable) {
      qos.reliable();
    } else {
      qos.best_effort();
    }
    return qos.durability_volatile();
  }

  const Settings settings_;
  const std::string executor_;
  std::unique_ptr<ros2::Session> session_;
};

static_assert(fulfils_contract<RosClientLibrary>);

}  // namespace middlemark
