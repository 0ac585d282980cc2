// ROS 2 in this process, and its nodes. Every endpoint has its own node, so that an executor can spin it separately; the
// nodes of a process share one participant.
#pragma once

#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/pinned.hpp>
#include <rclcpp/rclcpp.hpp>

#include "ros2/index.hpp"
#include "ros2/keystore.hpp"
#include "ros2/rmw.hpp"

namespace middlemark::ros2 {

/// The constructor calls rclcpp::init() with the trial's RMW, without rclcpp's signal handlers and log files. The
/// destructor calls rclcpp::shutdown().
class Session : kit::Pinned {
 public:
  explicit Session(const Settings& settings) {
    load_rmw(settings.transport == intraprocess_name ? chosen_rmw() : settings.transport);
    if (settings.interface == "lo") {  // Humble reads ROS_LOCALHOST_ONLY, later releases the other variable
      setenv("ROS_LOCALHOST_ONLY", "1", 1);
      setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST", 1);
    }
    use_security(settings);
    rclcpp::InitOptions options;
    options.auto_initialize_logging(false);
    options.set_domain_id(static_cast<std::size_t>(settings.domain));
    rclcpp::init(0, nullptr, options, rclcpp::SignalHandlerOptions::None);
  }
  ~Session() { rclcpp::shutdown(); }
};

[[nodiscard]] inline std::shared_ptr<rclcpp::Node> make_node(const std::string& name, bool intraprocess) {
  rclcpp::NodeOptions options;
  options.use_global_arguments(false)
      .use_intra_process_comms(intraprocess)
      .enable_rosout(false)
      .start_parameter_services(false)
      .start_parameter_event_publisher(false);
  return std::make_shared<rclcpp::Node>(name, options);
}

/// Calls `make` and converts rclcpp's exceptions to AdapterError. For calls before the start.
template <class Make>
auto made(const std::string& what, Make&& make) {
  try {
    return std::forward<Make>(make)();
  } catch (const AdapterError&) {
    throw;
  } catch (const std::exception& error) {
    throw AdapterError("rclcpp: " + what + ": " + error.what());
  }
}

}  // namespace middlemark::ros2
