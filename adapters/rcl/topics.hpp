// A publisher and a subscription of rcl that fulfil the adapter's contract.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/deadline.hpp>
#include <middlemark/kit/messages.hpp>
#include <middlemark/kit/pinned.hpp>
#include <middlemark/kit/take.hpp>
#include <rcl/rcl.h>

#include "node.hpp"
#include "ros2/rmw.hpp"
#include "types.hpp"

namespace middlemark::rcl {

/// Returns the quality of service of a publisher or subscription. `sources`: the number of publishers that share the
/// history; each has the topic's depth and history.
[[nodiscard]] inline rmw_qos_profile_t quality(const Topic& topic, std::size_t sources) {
  rmw_qos_profile_t quality = rmw_qos_profile_default;
  quality.history = topic.depth ? RMW_QOS_POLICY_HISTORY_KEEP_LAST : RMW_QOS_POLICY_HISTORY_KEEP_ALL;
  quality.depth = topic.depth.value_or(0) * sources;
  quality.reliability = topic.reliability == Reliability::reliable ? RMW_QOS_POLICY_RELIABILITY_RELIABLE
                                                                   : RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT;
  quality.durability =
      topic.history > 0 ? RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL : RMW_QOS_POLICY_DURABILITY_VOLATILE;
  return quality;
}

class Publisher : kit::Pinned {
 public:
  Publisher(Node& node, const Topic& topic, const Settings& settings)
      : node_(node),
        varies_(topic.varies),
        waits_(ros2::over_fastdds(settings.transport) && topic.reliability == Reliability::reliable && !topic.depth),
        refused_(ros2::refused(settings)),
        timeout_(settings.write_timeout),
        loan_(settings.loan),
        bytes_(topic.message_bytes),
        support_(support_of(topic, loan_)),
        message_(loan_ ? nullptr : make_message(topic)) {
    rcl_publisher_options_t options = rcl_publisher_get_default_options();
    options.qos = quality(topic, 1);
    check(rcl_publisher_init(&publisher_, node.get(), support_, ("/" + topic.name).c_str(), &options),
          "the publisher of " + topic.name);
    if (loan_ && !rcl_publisher_can_loan_messages(&publisher_)) {
      throw AdapterError("rcl: " + settings.transport + " does not lend messages of a plain type", "loan = false");
    }
  }
  ~Publisher() {
    if (loaned_ != nullptr) released(rcl_return_loaned_message_from_publisher(&publisher_, loaned_));
    released(rcl_publisher_fini(&publisher_, node_.get()));
  }

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    if (loan_) return borrowed();
    if (varies_) static_cast<Octets&>(*message_).resize(bytes);  // only octets have sizes that vary
    return message_->array();
  }

  /// Publishes, and repeats a failed rcl_publish() until Settings::write_timeout has passed, because rcl_publish()
  /// fails when Fast DDS has waited 100 ms for room in a keep-all history.
  [[nodiscard]] Published publish() noexcept {
    void* const message = loan_ ? nullptr : message_->to_send();
    std::optional<kit::Deadline> deadline;
    if (waits_) deadline.emplace(timeout_);
    for (;;) {
      const rcl_ret_t code = loan_ ? rcl_publish_loaned_message(&publisher_, loaned_, nullptr)
                                   : rcl_publish(&publisher_, message, nullptr);
      if (code == RCL_RET_OK) [[likely]] {
        loaned_ = nullptr;
        return Published::ok;
      }
      rcl_reset_error();
      if (deadline && !deadline->passed()) continue;
      failure_.note("rcl_publish", code);
      return refused_;
    }
  }

  [[nodiscard]] std::size_t matched() {
    std::size_t found = 0;
    check(rcl_publisher_get_subscription_count(&publisher_, &found), "rcl_publisher_get_subscription_count");
    return found;
  }

  [[nodiscard]] std::string last_error() const { return failure_.text(); }

 private:
  [[nodiscard]] std::span<std::byte> borrowed() noexcept {
    if (loaned_ == nullptr) {
      const rcl_ret_t code = rcl_borrow_loaned_message(&publisher_, support_, &loaned_);
      if (!succeeded(code, "rcl_borrow_loaned_message", failure_)) [[unlikely]] {
        loaned_ = nullptr;
        return {};
      }
    }
    return {static_cast<std::byte*>(loaned_), bytes_};
  }

  Node& node_;
  const bool varies_;
  const bool waits_;
  const Published refused_;
  const std::chrono::nanoseconds timeout_;
  const bool loan_;
  const std::size_t bytes_;
  const rosidl_message_type_support_t* const support_;
  const std::unique_ptr<kit::TypedMessage> message_;  ///< null with loan_
  void* loaned_ = nullptr;
  rcl_publisher_t publisher_ = rcl_get_zero_initialized_publisher();
  LastFailure failure_;
};

class Subscriber : kit::Pinned {
 public:
  static constexpr std::size_t most_per_take = 1024;
  static constexpr std::chrono::milliseconds resends_within = ros2::heartbeat_period;

  Subscriber(Node& node, const Topic& topic, const Settings& settings)
      : node_(node),
        waiting_(node, {.subscriptions = 1}),
        loan_(settings.loan),
        bytes_(topic.message_bytes),
        message_(loan_ ? nullptr : make_message(topic)) {
    setenv("ROS_DISABLE_LOANED_MESSAGES", loan_ ? "0" : "1", 1);  // read by rcl_subscription_get_default_options()
    rcl_subscription_options_t options = rcl_subscription_get_default_options();
    options.qos = quality(topic, topic.publishers);
    const rcl_ret_t code = rcl_subscription_init(&subscription_, node.get(), support_of(topic, loan_),
                                                 ("/" + topic.name).c_str(), &options);
    const std::string message = code == RCL_RET_OK ? "" : last_message();
    released(rcl_subscription_options_fini(&options));
    if (code != RCL_RET_OK) throw AdapterError("rcl: the subscription of " + topic.name + ": " + message);
    if (loan_ && !rcl_subscription_can_loan_messages(&subscription_)) {
      throw AdapterError("rcl: " + settings.transport + " does not lend messages of a plain type", "loan = false");
    }
  }
  ~Subscriber() { released(rcl_subscription_fini(&subscription_, node_.get())); }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    void* loaned = nullptr;
    return kit::take_up_to<most_per_take>(
        [&]() noexcept {
          const rcl_ret_t code = loan_ ? rcl_take_loaned_message(&subscription_, &loaned, &info_, nullptr)
                                       : rcl_take(&subscription_, message_->to_fill(), &info_, nullptr);
          return succeeded(code, loan_ ? "rcl_take_loaned_message" : "rcl_take", failure_,
                           RCL_RET_SUBSCRIPTION_TAKE_FAILED);
        },
        [&](bool /*taken*/) {
          if (!loan_) return visitor(message_->received());
          visitor(std::span(static_cast<const std::byte*>(loaned), bytes_));
          released(rcl_return_loaned_message_from_subscription(&subscription_, std::exchange(loaned, nullptr)));
        });
  }

  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept {
    return waiting_.wait(subscription_, timeout, failure_);
  }

  [[nodiscard]] std::size_t publishers_found() {
    std::size_t found = 0;
    check(rcl_subscription_get_publisher_count(&subscription_, &found), "rcl_subscription_get_publisher_count");
    return found;
  }

  [[nodiscard]] std::string last_error() const { return failure_.text(); }

 private:
  Node& node_;
  Waiting<&rcl_wait_set_add_subscription> waiting_;
  const bool loan_;
  const std::size_t bytes_;
  const std::unique_ptr<kit::TypedMessage> message_;  ///< null with loan_
  rcl_subscription_t subscription_ = rcl_get_zero_initialized_subscription();
  rmw_message_info_t info_ = rmw_get_zero_initialized_message_info();
  LastFailure failure_;
};

}  // namespace middlemark::rcl
