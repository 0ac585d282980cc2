// Starts rosmaster, through which the nodes of a trial find each other, makes this process a node, and loads its
// nodelets.
#pragma once

#include <nodelet/loader.h>
#include <nodelet/nodelet.h>
#include <ros/init.h>
#include <ros/master.h>
#include <ros/node_handle.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include <boost/make_shared.hpp>

#include <middlemark/kit/machine.hpp>
#include <middlemark/kit/pinned.hpp>
#include <middlemark/kit/rendezvous.hpp>
#include <middlemark/kit/socket.hpp>
#include <middlemark/settings.hpp>

#include "options.hpp"

namespace middlemark::ros1 {

/// Writes the configuration of rosmaster's log, and returns the command that starts rosmaster.
[[nodiscard]] inline Companion rosmaster(const Settings& settings) {
  const std::string address = kit::ipv4_text(settings.interface);
  const std::uint16_t wanted = Options(settings).master_port.value_or(0);
  const std::string port = std::to_string(kit::free_port(settings.interface, SOCK_STREAM, wanted));
  // By default rosmaster prints nothing and writes its log in the user's home. This configuration makes it log to stdout.
  const std::string logging = "rosmaster-logging.conf";
  kit::Rendezvous(settings).leave(
      logging,
      "[loggers]\nkeys=root,master\n\n[handlers]\nkeys=out\n\n[formatters]\nkeys=plain\n\n"
      "[logger_root]\nlevel=WARNING\nhandlers=out\n\n"
      "[logger_master]\nlevel=INFO\nhandlers=\npropagate=1\nqualname=rosmaster.master\n\n"
      "[handler_out]\nclass=StreamHandler\nlevel=INFO\nformatter=plain\nargs=(sys.stdout,)\n\n"
      "[formatter_plain]\nformat=%(name)s: %(message)s\n");
  return {.name = "rosmaster",
          .argv = {kit::find_program("rosmaster", "Debian: apt install python3-rosmaster"), "--core", "-p", port},
          .environment = {{"ROS_MASTER_URI", "http://" + address + ":" + port},
                          {"ROS_HOSTNAME", address},  // replaces the user's, which overrides ROS_IP
                          {"ROS_IP", address},
                          {"ROS_HOME", settings.scratch},
                          {"ROS_LOG_DIR", settings.scratch},
                          {"ROS_PYTHON_LOG_CONFIG_FILE", settings.scratch + "/" + logging},
                          {"ROS_NAMESPACE", ""},
                          {"PYTHONUNBUFFERED", "1"}},
          .ready_pattern = "Master initialized: port\\[" + port + "\\]",
          .ready_timeout_s = 15};
}

/// Makes this process a node. A process can have only one.
class Node : kit::Pinned {
 public:
  explicit Node(const Settings& settings) {
    const char* const uri = std::getenv("ROS_MASTER_URI");
    if (uri == nullptr) {  // without the variable roscpp aborts the process
      throw AdapterError("ros1: ROS_MASTER_URI is not set",
                         "start the rosmaster that 'middlemark-worker-ros1 --companions' names, with its environment");
    }
    const std::string address = kit::ipv4_text(settings.interface);
    // The process id makes the name unique. If a second node of the same name starts, the master ends the first.
    const std::string name = settings.scope + "_" + std::to_string(getpid());
    ros::init(ros::M_string{{"__master", uri}, {"__hostname", address}, {"__ip", address}}, name,
              ros::init_options::NoSigintHandler | ros::init_options::NoRosout | ros::init_options::AnonymousName);
    ros::master::setRetryTimeout(ros::WallDuration(5.0));  // by default roscpp waits for ever
    if (!ros::master::check()) {
      throw AdapterError(std::string("ros1: no ROS master answers at ") + uri, "did rosmaster end?");
    }
    handle_.emplace();
    if (!ros::ok()) throw AdapterError(std::string("ros1: the node could not start with the ROS master at ") + uri);
  }
  ~Node() { ros::shutdown(); }

  [[nodiscard]] ros::NodeHandle& handle() noexcept { return *handle_; }

 private:
  std::optional<ros::NodeHandle> handle_;
};

/// Makes a name absolute, so that namespaces of nodes and of the environment do not change it.
[[nodiscard]] inline std::string global(const std::string& name) { return "/" + name; }

/// The process's manager of nodelets. Its loader calls a function that makes the nodelet. pluginlib would find a class
/// by its name and make the same object.
class Nodelets {
 public:
  Nodelets() : loader_([this](const std::string& /*type*/) { return made_ = boost::make_shared<End>(); }) {}

  /// Returns the handle of a new nodelet. Callbacks run one at a time, on any of the manager's worker threads.
  [[nodiscard]] ros::NodeHandle& load(const std::string& name) {
    if (!loader_.load(name, "middlemark/End", {}, {})) {
      throw AdapterError("ros1: nodelet: " + name + " cannot be loaded");
    }
    return made_->getNodeHandle();
  }

 private:
  /// A nodelet without code: the publisher or subscriber that uses the nodelet's handle does the work.
  struct End : ::nodelet::Nodelet {
    using Nodelet::getNodeHandle;
    void onInit() override {}
  };

  boost::shared_ptr<End> made_;
  ::nodelet::Loader loader_;
};

}  // namespace middlemark::ros1
