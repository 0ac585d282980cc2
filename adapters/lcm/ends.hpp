// Publisher and subscriber of a channel. Each publisher and each subscriber has its own lcm_t.
#pragma once

#include <lcm/lcm.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/last_failure.hpp>
#include <middlemark/kit/memory.hpp>
#include <middlemark/kit/pinned.hpp>
#include <middlemark/kit/rendezvous.hpp>

#include "group.hpp"
#include "options.hpp"

namespace middlemark::lcm {

struct Destroy {
  void operator()(lcm_t* lcm) const noexcept { lcm_destroy(lcm); }
};
using Handle = std::unique_ptr<lcm_t, Destroy>;

/// Returns the options in the URL for lcm_create().
[[nodiscard]] inline std::string url_options(const Options& options) {
  const std::string buffer =
      options.receive_buffer == 0 ? "" : "&recv_buf_size=" + std::to_string(options.receive_buffer);
  return "?ttl=0" + buffer;
}

/// Returns how many messages the subscription of a topic may queue; nullopt: LCM's default.
[[nodiscard]] inline std::optional<int> queue_of(const Options& options, const Topic& topic) {
  const auto messages = options.queue_capacity(topic);
  if (!messages) return std::nullopt;
  return *messages * static_cast<int>(topic.publishers);
}

[[nodiscard]] inline Handle open(const Group& group, const Options& options) {
  Handle lcm(lcm_create(("udpm://" + group.text() + url_options(options)).c_str()));
  if (lcm) return lcm;
  throw AdapterError("lcm: lcm_create() for " + group.text() + " failed; its message is on stderr",
                     group.how_to_route());
}

class Publisher : public kit::OwnBuffer {
 public:
  Publisher(const Group& group, const Options& options, const Settings& settings, const Topic& topic)
      : OwnBuffer(topic.message_bytes), channel_(topic.name), attendance_(settings, topic), lcm_(open(group, options)) {
    keep_to_interface(group);
  }

  [[nodiscard]] Published publish() noexcept {
    const auto bytes = static_cast<unsigned>(message_.size());
    if (lcm_publish(lcm_.get(), channel_.c_str(), message_.data(), bytes) == 0) [[likely]]
      return Published::ok;
    failure_.note("lcm_publish", errno);
    return Published::failed;
  }

  /// Returns the number of subscribers found. LCM does not report subscribers, so they announce themselves through
  /// kit::Attendance.
  [[nodiscard]] std::size_t matched() { return attendance_.count(); }

  [[nodiscard]] std::string last_error() const { return failure_.text(); }

 private:
  const std::string channel_;
  kit::Attendance attendance_;
  kit::LastSystemFailure failure_;
  const Handle lcm_;
};

class Subscriber : kit::Pinned {
 public:
  static constexpr std::size_t most_per_take = 1024;

  Subscriber(const Group& group, const Options& options, const Settings& settings, const Topic& topic, unsigned index)
      : lcm_(open(group, options)) {
    lcm_subscription_t* const subscription = lcm_subscribe(
        lcm_.get(), topic.name.c_str(),
        [](const lcm_recv_buf_t* message, const char*, void* self) {
          static_cast<Subscriber*>(self)->deliver(*message);
        },
        this);
    // lcm_get_fileno() makes LCM send itself a test message, which needs a route to the group. So call
    // keep_to_interface() only after it.
    descriptor_ = subscription != nullptr ? lcm_get_fileno(lcm_.get()) : -1;
    if (descriptor_ < 0) {
      throw AdapterError("lcm: " + topic.name + ": LCM did not receive its own test message on " + group.text(),
                         group.how_to_route() + ". Also check if a firewall drops multicast");
    }
    if (const auto messages = queue_of(options, topic)) lcm_subscription_set_queue_capacity(subscription, *messages);
    keep_to_interface(group);
    kit::Attendance(settings, topic).attend(index);
  }

  /// After a wait() that found a message, takes only this message. lcm_handle() takes one message per call, and
  /// checking for another one would need a system call.
  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    receiver_ = Listener(visitor);
    visits_ = 0;
    if (announced_) {
      announced_ = false;
      failed_ |= lcm_handle(lcm_.get()) != 0;
    } else {
      for (std::size_t handled = 0; handled < most_per_take && lcm_handle_timeout(lcm_.get(), 0) > 0;) ++handled;
    }
    receiver_ = {};
    return visits_;
  }

  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept {
    announced_ = kit::wait_readable(descriptor_, timeout);
    return announced_;
  }

  [[nodiscard]] std::string last_error() const {
    return failed_ ? "lcm_handle: failed; LCM's message is on stderr" : "";
  }

 private:
  void deliver(const lcm_recv_buf_t& message) noexcept {
    if (!receiver_) return;
    ++visits_;
    receiver_({static_cast<const std::byte*>(message.data), message.data_size});
  }

  Listener receiver_;
  std::size_t visits_ = 0;
  bool announced_ = false;
  bool failed_ = false;
  int descriptor_ = -1;
  const Handle lcm_;
};

}  // namespace middlemark::lcm
