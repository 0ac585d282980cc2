// Publisher and subscriber of a channel, each with an lcm_t of its own.
#pragma once

#include <lcm/lcm.h>
#include <poll.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <sockets/rendezvous.hpp>

#include "options.hpp"
#include "sockets.hpp"

namespace middlemark::lcm {

class Handle {
 public:
  Handle(const Group& group, const Options& options, const Settings& settings)
      : lcm_(lcm_create(
            ("udpm://" + group.text() + "?ttl=0&recv_buf_size=" + std::to_string(options.receive_buffer)).c_str())) {
    if (lcm_ == nullptr) {
      throw AdapterError("lcm: lcm_create() for " + group.text() + " failed; stderr has its words",
                         how_to_route(settings.interface));
    }
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { lcm_destroy(lcm_); }
  [[nodiscard]] lcm_t* get() const noexcept { return lcm_; }

 private:
  lcm_t* lcm_;
};

class Publisher {
 public:
  Publisher(const Group& group, const Options& options, const Settings& settings, const Topic& topic)
      : settings_(settings), topic_(topic), message_(topic.message_bytes), lcm_(group, options, settings) {
    keep_to_interface(group, settings.interface);
  }

  [[nodiscard]] std::span<std::byte> loan(std::size_t /*bytes*/) noexcept { return message_; }

  [[nodiscard]] Published publish() noexcept {
    if (lcm_publish(lcm_.get(), topic_.name.c_str(), message_.data(), static_cast<unsigned>(message_.size())) == 0)
        [[likely]] {
      return Published::ok;
    }
    error_ = errno;
    return Published::failed;
  }

  /// LCM tells nobody who subscribes: each subscriber leaves a file when it has.
  [[nodiscard]] std::size_t matched() {
    while (found_ < topic_.subscribers && sockets::find_announcement(sockets::announcement_path(
                                              settings_, topic_.name, sockets::Endpoint::subscriber, found_))) {
      ++found_;
    }
    return found_;
  }

  [[nodiscard]] std::string last_error() const {
    return error_ == 0 ? "" : std::string("lcm_publish: ") + std::strerror(error_);
  }

 private:
  const Settings settings_;
  const Topic topic_;
  std::vector<std::byte> message_;
  unsigned found_ = 0;
  int error_ = 0;
  Handle lcm_;
};

class Subscriber {
 public:
  Subscriber(const Group& group, const Options& options, const Settings& settings, const Topic& topic, unsigned index)
      : lcm_(group, options, settings) {
    lcm_subscription_t* const subscription = lcm_subscribe(
        lcm_.get(), topic.name.c_str(),
        [](const lcm_recv_buf_t* message, const char*, void* self) {
          static_cast<Subscriber*>(self)->deliver(*message);
        },
        this);
    // LCM now tests itself with a message along the route; only then can its receiver be told where to listen.
    waits_on_ = subscription != nullptr ? lcm_get_fileno(lcm_.get()) : -1;
    if (waits_on_ < 0) {
      throw AdapterError("lcm: " + topic.name + ": LCM did not receive its own test message on " + group.text(),
                         how_to_route(settings.interface) + "; or does a firewall drop multicast?");
    }
    lcm_subscription_set_queue_capacity(subscription, options.queue_capacity * static_cast<int>(topic.publishers));
    keep_to_interface(group, settings.interface);
    sockets::announce(sockets::announcement_path(settings, topic.name, sockets::Endpoint::subscriber, index), {});
  }

  /// After a wait() one message: to ask whether there is more costs a system call when there is not, and lcm_handle()
  /// takes one at a time.
  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    receiver_.emplace(visitor);
    visits_ = 0;
    if (announced_) {
      announced_ = false;
      note(lcm_handle(lcm_.get()));
    } else {
      for (std::size_t handled = 0; handled < most_at_once && lcm_handle_timeout(lcm_.get(), 0) > 0;) ++handled;
    }
    receiver_.reset();
    return visits_;
  }

  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept {
    pollfd waited{waits_on_, POLLIN, 0};
    const timespec limit{static_cast<std::time_t>(timeout.count() / 1'000'000'000), timeout.count() % 1'000'000'000};
    announced_ = ppoll(&waited, 1, &limit, nullptr) > 0;
    return announced_;
  }

  void listen(Listener /*listener*/) {
    throw AdapterError("lcm: its handlers run on the thread that calls lcm_handle()");
  }
  void silence() {}

  [[nodiscard]] std::string last_error() const { return failed_ ? "lcm_handle: failed; stderr has LCM's words" : ""; }

 private:
  /// So many messages end a take(), however fast they come.
  static constexpr std::size_t most_at_once = 1024;

  void note(int status) noexcept { failed_ = failed_ || status != 0; }

  void deliver(const lcm_recv_buf_t& message) noexcept {
    if (!receiver_) return;
    ++visits_;
    (*receiver_)({static_cast<const std::byte*>(message.data), message.data_size});
  }

  std::optional<Listener> receiver_;
  std::size_t visits_ = 0;
  bool announced_ = false;
  bool failed_ = false;
  int waits_on_ = -1;
  Handle lcm_;
};

}  // namespace middlemark::lcm
