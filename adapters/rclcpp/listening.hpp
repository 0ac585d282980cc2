// Reception by an executor on its own thread: the object that rclcpp's callbacks call, and the start and stop of the
// executor.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/last_failure.hpp>
#include <middlemark/kit/native.hpp>
#include <middlemark/kit/pinned.hpp>
#include <rclcpp/rclcpp.hpp>

#if __has_include(<rclcpp/experimental/executors/events_executor/events_executor.hpp>)
#include <rclcpp/experimental/executors/events_executor/events_executor.hpp>
#define MIDDLEMARK_RCLCPP_EVENTS
#endif
#if __has_include(<rclcpp/executors/static_single_threaded_executor.hpp>)
#define MIDDLEMARK_RCLCPP_STATIC
#endif

#include "node.hpp"

namespace middlemark::ros2 {

/// The executors that this version of rclcpp has.
inline const std::vector<std::string> executors{
    "single",
    "multi",
#ifdef MIDDLEMARK_RCLCPP_STATIC
    "static",
#endif
#ifdef MIDDLEMARK_RCLCPP_EVENTS
    "events",
#endif
};

struct Native : kit::NativeKeys {
  using NativeKeys::NativeKeys;
  std::string executor = key<std::string>(
      "executor", "single", {.help = "with `listen`: the executor that calls the callbacks", .choices = executors});
};

[[nodiscard]] inline std::shared_ptr<rclcpp::Executor> make_executor(const std::string& kind) {
  if (kind == "single") return std::make_shared<rclcpp::executors::SingleThreadedExecutor>();
  if (kind == "multi") return std::make_shared<rclcpp::executors::MultiThreadedExecutor>();
#ifdef MIDDLEMARK_RCLCPP_STATIC
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // later releases deprecate this executor, but still have it
  if (kind == "static") return std::make_shared<rclcpp::executors::StaticSingleThreadedExecutor>();
#pragma GCC diagnostic pop
#endif
#ifdef MIDDLEMARK_RCLCPP_EVENTS
  if (kind == "events") return std::make_shared<rclcpp::experimental::executors::EventsExecutor>();
#endif
  throw AdapterError("rclcpp: native.executor = '" + kind + "' is not an executor of this rclcpp",
                     "single and multi always exist");
}

/// Passes messages from rclcpp's callbacks to the listener, if one is set. A callback shares ownership of the Inlet, because
/// rclcpp may keep the callback longer than the receiver exists.
struct Inlet {
  std::optional<Listener> listener;

  void operator()(std::span<const std::byte> message) const noexcept {
    if (listener) (*listener)(message);
  }
};

/// An executor that spins one node. The node's callbacks never run at the same time, even with several threads.
class Spinning : kit::Pinned {
 public:
  Spinning(std::shared_ptr<rclcpp::Node> node, std::string kind) : node_(std::move(node)), kind_(std::move(kind)) {}
  ~Spinning() { stop(); }

  void start() {
    executor_ = make_executor(kind_);
    executor_->add_node(node_);
    ended_ = false;
    thread_ = std::thread([this] {
      executor_->spin();
      ended_ = true;
    });
  }

  void stop() {
    if (!thread_.joinable()) return;
    while (!executor_->is_spinning() && !ended_) std::this_thread::yield();  // before spin(), cancel() has no effect
    executor_->cancel();
    thread_.join();
    executor_->remove_node(node_);
    executor_.reset();
  }

 private:
  std::shared_ptr<rclcpp::Node> node_;
  std::string kind_;
  std::shared_ptr<rclcpp::Executor> executor_;
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

/// Base of subscriptions, clients and services: waits, listens and keeps error messages. Derived classes call silence()
/// in their destructors.
class Receiver : public kit::Attempts {
 public:
  static constexpr std::size_t most_per_take = 1024;
  static constexpr std::chrono::milliseconds resends_within = heartbeat_period;

  /// Waits until a message has arrived or `timeout` has passed. Returns true at once without a wait set; only the
  /// reception `block` has one.
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept {
    if (!wait_set_) return true;
    bool some = false;
    attempt("rclcpp::WaitSet::wait", [&] { some = wait_set_->wait(timeout).kind() == rclcpp::WaitResultKind::Ready; });
    return some;
  }

  void listen(Listener listener) {
    inlet_->listener.emplace(listener);
    spinning_.start();
  }
  void silence() {
    spinning_.stop();
    inlet_->listener.reset();
  }

 protected:
  Receiver(std::shared_ptr<rclcpp::Node> node, Reception reception, std::string executor)
      : inlet_(std::make_shared<Inlet>()), spinning_(std::move(node), std::move(executor)) {
    if (reception == Reception::block) wait_set_.emplace();
  }
  ~Receiver() = default;

  std::shared_ptr<Inlet> inlet_;
  std::optional<rclcpp::WaitSet> wait_set_;

 private:
  Spinning spinning_;
};

}  // namespace middlemark::ros2
