// This process as a node of ROS, once.
#pragma once

#include <ros/init.h>
#include <ros/master.h>
#include <ros/node_handle.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

#include <middlemark/settings.hpp>

#include "master.hpp"

namespace middlemark::ros1 {

class Node {
 public:
  explicit Node(const Settings& settings) {
    const char* const uri = std::getenv("ROS_MASTER_URI");
    if (uri == nullptr) {  // roscpp would abort the process
      throw AdapterError("ros1: ROS_MASTER_URI is not set",
                         "start the rosmaster that 'middlemark-worker-ros1 --companions' names, with its environment");
    }
    const std::string address = address_of(settings.interface);
    // A second node of the same name would end the first.
    const std::string name = settings.scope + "_" + std::to_string(getpid());
    ros::init(ros::M_string{{"__master", uri}, {"__hostname", address}, {"__ip", address}}, name,
              ros::init_options::NoSigintHandler | ros::init_options::NoRosout | ros::init_options::AnonymousName);
    ros::master::setRetryTimeout(ros::WallDuration(5.0));  // it would wait for ever
    if (!ros::master::check()) {
      throw AdapterError(std::string("ros1: no ROS master answers at ") + uri, "did rosmaster end?");
    }
    handle_ = std::make_unique<ros::NodeHandle>();
    if (!ros::ok()) throw AdapterError(std::string("ros1: the node could not start with the ROS master at ") + uri);
  }
  ~Node() { ros::shutdown(); }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  [[nodiscard]] ros::NodeHandle& handle() noexcept { return *handle_; }

 private:
  std::unique_ptr<ros::NodeHandle> handle_;
};

/// Global: a node's namespace, and the environment's, play no part.
[[nodiscard]] inline std::string global(const std::string& name) { return "/" + name; }

}  // namespace middlemark::ros1
