// roscpp's services as request and reply.
#pragma once

#include <ros/advertise_service_options.h>
#include <ros/node_handle.h>
#include <ros/service.h>
#include <ros/service_client.h>
#include <ros/service_server.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>

#include <middlemark/adapter.hpp>

#include "inbox.hpp"
#include "message.hpp"
#include "node.hpp"
#include "options.hpp"

namespace middlemark::ros1 {

/// roscpp's call() has no timeout: one that takes longer than the write timeout loses its connection, which ends it.
class Patience {
 public:
  Patience(ros::ServiceClient& client, std::chrono::nanoseconds timeout)
      : thread_([this, &client, timeout](const std::stop_token& stop) { watch(client, timeout, stop); }) {}

  void begin() noexcept { call_.store(++calls_); }
  /// False: the call was ended. The client is the caller's again.
  [[nodiscard]] bool end() noexcept {
    std::uint64_t mine = calls_;
    if (call_.compare_exchange_strong(mine, no_call)) return true;
    const timespec pause{0, 1'000'000};
    while (call_.load() != no_call) nanosleep(&pause, nullptr);
    return false;
  }

 private:
  void watch(ros::ServiceClient& client, std::chrono::nanoseconds timeout, const std::stop_token& stop) {
    constexpr unsigned looks = 4;
    std::uint64_t watched = 0;
    unsigned seen = 0;
    std::mutex mutex;
    std::unique_lock lock(mutex);
    while (!wake_.wait_for(lock, stop, timeout / looks, [&stop] { return stop.stop_requested(); })) {
      std::uint64_t current = call_.load();
      seen = current == watched ? seen + 1 : 0;
      watched = current;
      if (current == no_call || seen < looks || !call_.compare_exchange_strong(current, being_ended)) continue;
      client.shutdown();
      call_.store(no_call);
    }
  }

  static constexpr std::uint64_t no_call = 0;
  static constexpr std::uint64_t being_ended = ~std::uint64_t{0};

  std::uint64_t calls_ = 0;
  std::atomic<std::uint64_t> call_{no_call};  // the number of the one under way
  std::condition_variable_any wake_;
  std::jthread thread_;
};

class ServiceClient {
 public:
  ServiceClient(ros::NodeHandle& node, const Topic& service, const Settings& settings, const Options& options)
      : node_(node),
        name_(global(service.name)),
        persistent_(options.persistent),
        request_(service.message_bytes),
        reply_(service.message_bytes) {
    std::memset(request_.data.get(), 0, request_.size);
    if (persistent_) patience_.emplace(client_, settings.write_timeout);
  }
  ServiceClient(const ServiceClient&) = delete;
  ServiceClient& operator=(const ServiceClient&) = delete;

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    return bytes == request_.size ? request_.span() : std::span<std::byte>();
  }

  /// Blocks until the reply is there: roscpp has no other way to call.
  [[nodiscard]] Published publish() noexcept {
    try {
      if (!client_.isValid()) connect();  // its connection was lost
      if (patience_) patience_->begin();
      const bool replied = client_.call(request_, reply_);
      const bool patient = !patience_ || patience_->end();
      if (!replied) {
        failure_ = "ros::ServiceClient::call: no reply";
        return patient ? Published::failed : Published::timed_out;
      }
    } catch (const std::exception& error) {
      failure_ = error.what();
      return Published::failed;
    }
    if (listener_) {
      (*listener_)(reply_.span());
    } else {
      replied_ = true;
    }
    return Published::ok;
  }

  [[nodiscard]] std::size_t matched() {
    if (!found_ && ros::service::exists(name_, false)) {
      connect();
      found_ = client_.isValid();
    }
    return found_ ? 1 : 0;
  }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    if (!replied_) return 0;
    replied_ = false;
    visitor(std::span<const std::byte>(reply_.span()));
    return 1;
  }
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) const noexcept {
    if (replied_) return true;
    const auto ns = timeout.count();
    const timespec pause{ns / 1'000'000'000, ns % 1'000'000'000};
    nanosleep(&pause, nullptr);
    return false;
  }
  /// Nobody but the caller's own thread ever has a reply: it is called within publish().
  void listen(Listener listener) { listener_.emplace(listener); }
  void silence() { listener_.reset(); }

  [[nodiscard]] std::string last_error() const { return failure_; }

 private:
  void connect() { client_ = node_.serviceClient<Bytes, Bytes>(name_, persistent_); }

  ros::NodeHandle& node_;
  std::string name_;
  bool persistent_;
  Bytes request_;
  Bytes reply_;
  bool replied_ = false;
  bool found_ = false;
  ros::ServiceClient client_;
  std::optional<Listener> listener_;
  std::string failure_;
  std::optional<Patience> patience_;  // ends before the client it watches
};

class ServiceServer {
 public:
  ServiceServer(ros::NodeHandle& node, const Topic& service, const Settings& settings)
      : clients_(service.publishers), reply_(service.message_bytes), inbox_(settings.reception, true) {
    ros::AdvertiseServiceOptions asked;
    asked.init<Bytes, Bytes>(global(service.name),
                             [this](const Bytes& request, Bytes& reply) { return answer(request, reply); });
    asked.callback_queue = &inbox_.queue();
    server_ = node.advertiseService(asked);
    if (!server_) throw AdapterError("ros1: the service " + service.name + " cannot be advertised");
  }
  ServiceServer(const ServiceServer&) = delete;
  ServiceServer& operator=(const ServiceServer&) = delete;
  ~ServiceServer() { silence(); }

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    return bytes == reply_.size ? reply_.span() : std::span<std::byte>();
  }
  /// roscpp sends it when the callback that visits the request returns.
  [[nodiscard]] Published publish() noexcept {
    answered_ = true;
    return Published::ok;
  }
  /// A service does not know its clients. They look for it, and what they ask waits for it: none can be missed.
  [[nodiscard]] std::size_t matched() const noexcept { return clients_; }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    return inbox_.take(visitor);
  }
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept { return inbox_.wait(timeout); }
  void listen(Listener listener) { inbox_.listen(listener); }
  void silence() {
    inbox_.ignore();
    server_.shutdown();
    inbox_.close();
  }

  [[nodiscard]] std::string last_error() const { return inbox_.last_error(); }

 private:
  bool answer(const Bytes& request, Bytes& reply) {
    answered_ = false;
    inbox_.deliver(request.span());
    if (answered_) reply = reply_;
    return answered_;
  }

  std::size_t clients_;
  Bytes reply_;
  bool answered_ = false;
  Inbox inbox_;
  ros::ServiceServer server_;
};

}  // namespace middlemark::ros1
