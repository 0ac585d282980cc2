// Clients and servers of a service: YARP's RPC ports.
#pragma once

#include <yarp/os/RpcClient.h>
#include <yarp/os/RpcServer.h>
#include <yarp/os/Semaphore.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/deadline.hpp>
#include <middlemark/kit/last_failure.hpp>
#include <middlemark/kit/rendezvous.hpp>
#include <middlemark/kit/take.hpp>

#include "network.hpp"
#include "octets.hpp"
#include "options.hpp"
#include "publisher.hpp"

namespace middlemark::yarp {

/// A client. Its publish() waits for the reply. After the write timeout YARP closes the connection, and the next call
/// connects again.
class Client : public kit::Attempts, public kit::ReplyOfCall {
 public:
  Client(const Settings& settings, const Options& options, const Topic& service, unsigned index)
      : timeout_(settings.write_timeout),
        connections_(settings, service, publisher_port(service.name, index), options.carrier),
        request_(service.message_bytes),
        reply_(service.message_bytes) {
    const std::string name = publisher_port(service.name, index);
    port_.asPort().setTimeout(std::chrono::duration<float>(timeout_).count());
    open(port_, name);
  }
  ~Client() { port_.close(); }

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept { return request_.resized(bytes); }

  [[nodiscard]] Published publish() noexcept {
    const kit::Deadline deadline(timeout_);
    const bool done = attempt("yarp::os::RpcClient::write", [this] {
      if (lost_) lost_ = !connections_.connect(0);
      if (!lost_) lost_ = !port_.write(request_, reply_);
      if (lost_) throw std::runtime_error("no reply");
    });
    if (!done) return deadline.passed() ? Published::timed_out : Published::failed;
    replied(reply_.span());
    return Published::ok;
  }

  [[nodiscard]] std::size_t matched() { return connections_.made(); }

 private:
  const std::chrono::nanoseconds timeout_;
  Connections connections_;
  Octets request_;
  Octets reply_;
  bool lost_ = false;
  ::yarp::os::RpcClient port_;
};

/// A server. YARP's thread of each connection passes requests to read(), one at a time. read() calls the listener, or waits
/// until the role has taken and answered the request, as RpcServer::read() and reply() do.
class Server : kit::Pinned, ::yarp::os::PortReader {
 public:
  Server(const Settings& settings, const Topic& service)
      : listens_(settings.reception == Reception::listen),
        clients_(service.publishers),
        request_(service.message_bytes),
        reply_(service.message_bytes) {
    const std::string name = subscriber_port(service.name, 0);
    port_.setCallbackLock(&one_at_a_time_);
    port_.setReader(*this);
    open(port_, name);
    kit::Attendance(settings, service).attend(0);
  }
  ~Server() {
    silence();
    port_.close();
  }

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept { return reply_.resized(bytes); }
  /// Marks the request as answered. YARP's thread sends the reply when read() returns.
  [[nodiscard]] Published publish() noexcept {
    answered_ = true;
    return Published::ok;
  }
  [[nodiscard]] std::size_t matched() {
    return std::min<std::size_t>(static_cast<std::size_t>(std::max(port_.getInputCount(), 0)), clients_);
  }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    if (!waits_.exchange(false)) return 0;
    visitor(std::span<const std::byte>(request_.span()));
    visited_.post();
    return 1;
  }
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept {
    while (announced_.check()) {
    }
    return waits_.load() || announced_.waitWithTimeout(std::chrono::duration<double>(timeout).count());
  }

  void listen(Listener listener) {
    listener_ = listener;
    begun_.store(true);
    begun_.notify_all();
  }
  void silence() {
    closed_.store(true);
    begun_.store(true);
    begun_.notify_all();
    visited_.post();
    const std::lock_guard none_under_way(one_at_a_time_);
  }

 private:
  bool read(::yarp::os::ConnectionReader& connection) override {
    if (!connection.isValid() || !request_.read(connection)) return false;
    answered_ = false;
    if (listens_) {
      begun_.wait(false);
      if (!closed_.load()) listener_(request_.span());
    } else if (!closed_.load()) {
      waits_.store(true);
      announced_.post();
      visited_.wait();
    }
    ::yarp::os::ConnectionWriter* const writer = answered_ ? connection.getWriter() : nullptr;
    return writer != nullptr && (clients_ > 1 ? reply_.write_copy(*writer) : reply_.write(*writer));
  }

  const bool listens_;
  const unsigned clients_;
  Octets request_;
  Octets reply_;
  bool answered_ = false;
  std::atomic<bool> waits_{false};
  std::atomic<bool> begun_{false};
  std::atomic<bool> closed_{false};
  ::yarp::os::Semaphore announced_{0};
  ::yarp::os::Semaphore visited_{0};
  Listener listener_;
  std::mutex one_at_a_time_;
  ::yarp::os::RpcServer port_;
};

}  // namespace middlemark::yarp
