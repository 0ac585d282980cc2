// The nodelets of this process, each with the handle its manager gives it.
#pragma once

#include <nodelet/loader.h>
#include <nodelet/nodelet.h>
#include <ros/node_handle.h>

#include <string>

#include <boost/make_shared.hpp>

#include <middlemark/settings.hpp>

namespace middlemark::ros1 {

/// Its work is done by the publisher or subscriber that has its handle.
class EndNodelet : public ::nodelet::Nodelet {
 public:
  /// Callbacks come one at a time, on any of the manager's worker threads.
  [[nodiscard]] ros::NodeHandle& handle() const { return getNodeHandle(); }

 private:
  void onInit() override {}
};

/// One manager. It is given instances instead of names of plugins: what pluginlib does by name is to make an instance, once.
class Nodelets {
 public:
  Nodelets() : loader_([this](const std::string& /*type*/) { return made_ = boost::make_shared<EndNodelet>(); }) {}

  [[nodiscard]] ros::NodeHandle& load(const std::string& name) {
    if (!loader_.load(name, "middlemark/End", {}, {})) {
      throw AdapterError("ros1: nodelet: " + name + " cannot be loaded");
    }
    return made_->handle();
  }

 private:
  boost::shared_ptr<EndNodelet> made_;
  ::nodelet::Loader loader_;
};

}  // namespace middlemark::ros1
