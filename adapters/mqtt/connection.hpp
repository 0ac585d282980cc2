// One client of the broker: libmosquitto's handle, owned, and driven by whoever uses it: no thread of libmosquitto's runs
// but under listen().
#pragma once

#include <mosquitto.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <string>

#include <middlemark/settings.hpp>

#include "broker.hpp"
#include "options.hpp"

namespace middlemark::mqtt {

class Connection {
 public:
  /// `self` is what libmosquitto's callbacks are given.
  Connection(const std::string& name, const BrokerAddress& broker, const Options& options, void* self)
      : name_(name), client_(mosquitto_new(name.c_str(), true, self)) {
    if (client_ == nullptr) throw AdapterError("mqtt: mosquitto_new() for " + name + ": " + std::strerror(errno));
    try {
      check(mosquitto_int_option(client_, MOSQ_OPT_TCP_NODELAY, options.nodelay ? 1 : 0), "MOSQ_OPT_TCP_NODELAY");
      check(mosquitto_int_option(client_, MOSQ_OPT_SEND_MAXIMUM, options.max_inflight), "MOSQ_OPT_SEND_MAXIMUM");
      // Nobody would answer for an endpoint that sends nothing for long; the launcher sees a broker that is gone.
      // With the longest there is, 65,535 s, a broker 2.0.21 takes clients for silent at once.
      constexpr int keepalive_s = 36'000;
      check(mosquitto_connect(client_, broker.host.c_str(), broker.port, keepalive_s),
            "mosquitto_connect() to the broker at " + broker.text());
    } catch (...) {
      mosquitto_destroy(client_);
      throw;
    }
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() {
    mosquitto_disconnect(client_);
    mosquitto_destroy(client_);
  }

  [[nodiscard]] mosquitto* get() const noexcept { return client_; }

  void check(int code, const std::string& what) const {
    if (code == MOSQ_ERR_SUCCESS) return;
    const char* words = code == MOSQ_ERR_ERRNO ? std::strerror(errno) : mosquitto_strerror(code);
    throw AdapterError("mqtt: " + name_ + ": " + what + ": " + words);
  }

  /// Waits until there is something to read, or room for what could not be written, and does it. False: `until` came
  /// first, or the connection is gone.
  [[nodiscard]] bool progress(std::chrono::steady_clock::time_point until) noexcept {
    const auto left = until - std::chrono::steady_clock::now();
    if (left.count() <= 0 || !ready(left)) return false;
    if (mosquitto_want_write(client_)) note(mosquitto_loop_write(client_, 1), "mosquitto_loop_write");
    read();
    return mosquitto_socket(client_) >= 0;
  }

  /// True: something may be there to read, or written.
  [[nodiscard]] bool ready(std::chrono::nanoseconds timeout) noexcept {
    const auto events = static_cast<short>(POLLIN | (mosquitto_want_write(client_) ? POLLOUT : 0));
    pollfd waited{mosquitto_socket(client_), events, 0};  // -1 when it is gone: then only the time passes
    const timespec limit{static_cast<std::time_t>(timeout.count() / 1'000'000'000), timeout.count() % 1'000'000'000};
    return ppoll(&waited, 1, &limit, nullptr) > 0;
  }

  /// Reads, without blocking, a packet or as many as are unanswered; callbacks run meanwhile.
  void read() noexcept {
    if (mosquitto_socket(client_) >= 0) note(mosquitto_loop_read(client_, 1), "mosquitto_loop_read");
  }
  void write() noexcept {
    if (mosquitto_want_write(client_)) note(mosquitto_loop_write(client_, 1), "mosquitto_loop_write");
  }

  /// Drives the connection until `done`.
  template <class Done>
  void until(Done&& done, const std::string& what) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (!done()) {
      if (!progress(deadline)) {
        throw AdapterError("mqtt: " + name_ + ": the broker did not " + what + " within 5 s " + last_error());
      }
    }
  }

  void note(int code, const char* call) noexcept {
    if (code == MOSQ_ERR_SUCCESS) [[likely]]
      return;
    failure_ = code;
    errno_ = code == MOSQ_ERR_ERRNO ? errno : 0;
    call_ = call;
  }
  [[nodiscard]] std::string last_error() const {
    if (call_ == nullptr) return "";
    return std::string(call_) + ": " + (errno_ != 0 ? std::strerror(errno_) : mosquitto_strerror(failure_));
  }

 private:
  std::string name_;
  mosquitto* client_;
  const char* call_ = nullptr;
  int failure_ = 0;
  int errno_ = 0;
};

}  // namespace middlemark::mqtt
