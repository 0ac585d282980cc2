// A context of rcl with one node, and the error handling of rcl's calls.
#pragma once

#include <cstdlib>
#include <string>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/last_failure.hpp>
#include <middlemark/kit/pinned.hpp>
#include <rcl/error_handling.h>
#include <rcl/rcl.h>

#include "ros2/index.hpp"
#include "ros2/keystore.hpp"

namespace middlemark::rcl {

/// Returns and clears the message of the last failed rcl call on this thread.
[[nodiscard]] inline std::string last_message() {
  std::string text = rcl_error_is_set() ? rcl_get_error_string().str : "rcl reports no reason";
  rcl_reset_error();
  return text;
}

/// Throws an AdapterError if the call failed. For calls before the start.
inline void check(rcl_ret_t code, const std::string& what) {
  if (code != RCL_RET_OK) throw AdapterError("rcl: " + what + ": " + last_message());
}

/// Ignores the result of a call that releases an object, because its failure does not matter to the trial.
inline void released(rcl_ret_t code) noexcept {
  if (code != RCL_RET_OK) rcl_reset_error();
}

inline const char* words(rcl_ret_t code) noexcept {
  switch (code) {
    case RCL_RET_OK:
      return "RCL_RET_OK";
    case RCL_RET_ERROR:
      return "RCL_RET_ERROR";
    case RCL_RET_TIMEOUT:
      return "RCL_RET_TIMEOUT";
    case RCL_RET_BAD_ALLOC:
      return "RCL_RET_BAD_ALLOC";
    default:
      return "an error code of rcl/types.h";
  }
}
using LastFailure = kit::LastFailure<&words>;

/// Returns true if the rcl call succeeded. Notes every other code as a failure, except `empty`: the code for no
/// message.
[[nodiscard]] inline bool succeeded(rcl_ret_t code, const char* call, LastFailure& failure,
                                    rcl_ret_t empty = RCL_RET_OK) noexcept {
  if (code == RCL_RET_OK) [[likely]]
    return true;
  if (code != empty) failure.note(call, code);
  rcl_reset_error();
  return false;
}

/// The process's context and its node. The constructor calls rcl_init() with the trial's RMW, the destructor
/// rcl_shutdown().
class Node : kit::Pinned {
 public:
  explicit Node(const Settings& settings) {
    ros2::load_rmw(settings.transport);
    if (settings.interface == "lo") {  // Humble reads ROS_LOCALHOST_ONLY, later releases the other variable
      setenv("ROS_LOCALHOST_ONLY", "1", 1);
      setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST", 1);
    }
    ros2::use_security(settings);
    rcl_init_options_t options = rcl_get_zero_initialized_init_options();
    check(rcl_init_options_init(&options, rcl_get_default_allocator()), "rcl_init_options_init");
    rcl_ret_t code = rcl_init_options_set_domain_id(&options, static_cast<std::size_t>(settings.domain));
    if (code == RCL_RET_OK) code = rcl_init(0, nullptr, &options, &context_);
    const std::string message = code == RCL_RET_OK ? "" : last_message();
    released(rcl_init_options_fini(&options));
    if (code != RCL_RET_OK) {
      throw AdapterError("rcl: rcl_init in domain " + std::to_string(settings.domain) + ": " + message);
    }
    rcl_node_options_t node_options = rcl_node_get_default_options();
    node_options.enable_rosout = false;
    const std::string name = settings.scope + "_" + std::to_string(getpid());
    check(rcl_node_init(&node_, name.c_str(), "", &context_, &node_options), "the node " + name);
  }
  ~Node() {
    released(rcl_node_fini(&node_));
    released(rcl_shutdown(&context_));
    released(rcl_context_fini(&context_));
  }

  [[nodiscard]] rcl_node_t* get() noexcept { return &node_; }
  [[nodiscard]] rcl_context_t* context() noexcept { return &context_; }

 private:
  rcl_context_t context_ = rcl_get_zero_initialized_context();
  rcl_node_t node_ = rcl_get_zero_initialized_node();
};

/// Waits for one entity with a wait set. rcl_wait() empties the set, so the entity is added again before each call.
template <auto add>
class Waiting : kit::Pinned {
 public:
  struct Places {
    std::size_t subscriptions = 0;
    std::size_t clients = 0;
    std::size_t services = 0;
  };

  Waiting(Node& node, Places places) {
    check(rcl_wait_set_init(&set_, places.subscriptions, 0, 0, places.clients, places.services, 0, node.context(),
                            rcl_get_default_allocator()),
          "rcl_wait_set_init");
  }
  ~Waiting() { released(rcl_wait_set_fini(&set_)); }

  /// Waits until the entity is ready. Returns false if `timeout` passes first.
  template <class Entity>
  [[nodiscard]] bool wait(const Entity& entity, std::chrono::nanoseconds timeout, LastFailure& failure) noexcept {
    rcl_ret_t code = rcl_wait_set_clear(&set_);
    if (code == RCL_RET_OK) code = add(&set_, &entity, nullptr);
    if (code == RCL_RET_OK) code = rcl_wait(&set_, timeout.count());
    if (code == RCL_RET_OK) return true;
    if (code != RCL_RET_TIMEOUT) failure.note("rcl_wait", code);
    rcl_reset_error();
    return false;
  }

 private:
  rcl_wait_set_t set_ = rcl_get_zero_initialized_wait_set();
};

}  // namespace middlemark::rcl
