// Request and reply: each client has one queue to the server and one back.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/pinned.hpp>

#include "publisher.hpp"
#include "route.hpp"
#include "script.hpp"
#include "subscriber.hpp"

namespace middlemark::null {

[[nodiscard]] inline Route request_route(const Topic& service, std::uint64_t slots) {
  return {{service.name + "_request", service.message_bytes, service.publishers, 1}, "client", {}, {}, slots};
}
[[nodiscard]] inline Route reply_route(const Topic& service, unsigned client, std::uint64_t slots) {
  const std::string name = service.name + "_reply" + std::to_string(client);
  return {{name, service.message_bytes, 1, 1}, "server", {}, {client, 1}, slots};
}

class Client {
 public:
  Client(const Settings& settings, const Script& script, const Topic& service, unsigned index, std::uint64_t slots)
      : replies_(script, reply_route(service, index, slots), 0),
        requests_(settings, script, request_route(service, slots), index) {}

  std::span<std::byte> loan(std::size_t bytes) noexcept { return requests_.loan(bytes); }
  Published publish() noexcept { return requests_.publish(); }
  std::size_t matched() noexcept { return requests_.matched(); }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    return replies_.take(visitor);
  }
  bool wait(std::chrono::nanoseconds timeout) noexcept { return replies_.wait(timeout); }
  void listen(Listener listener) { replies_.listen(listener); }
  void silence() { replies_.silence(); }

  [[nodiscard]] std::string last_error() const { return requests_.last_error(); }

 private:
  Subscriber replies_;
  Publisher requests_;
};

class Server : kit::Pinned {
 public:
  Server(const Settings& settings, const Script& script, const Topic& service, std::uint64_t slots)
      : requests_(script, request_route(service, slots), 0) {
    for (unsigned i = 0; i < service.publishers; ++i) {
      replies_.push_back(std::make_unique<Publisher>(settings, script, reply_route(service, i, slots), 0));
    }
  }
  ~Server() { silence(); }

  std::span<std::byte> loan(std::size_t bytes) noexcept { return replies_[asking_]->loan(bytes); }
  Published publish() noexcept { return replies_[asking_]->publish(); }
  std::size_t matched() noexcept {
    std::size_t found = 0;
    for (const auto& reply : replies_) found += reply->matched();
    return found;
  }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    std::size_t visits = 0;
    for (asking_ = 0; asking_ < replies_.size(); ++asking_) visits += requests_.take_from(asking_, visitor);
    asking_ = 0;
    return visits;
  }
  bool wait(std::chrono::nanoseconds timeout) noexcept { return requests_.wait(timeout); }
  void listen(Listener listener) { thread_.start(*this, listener); }
  void silence() { thread_.stop(); }

  [[nodiscard]] std::string last_error() const {
    for (const auto& reply : replies_) {
      if (const std::string words = reply->last_error(); !words.empty()) return words;
    }
    return {};
  }

 private:
  Subscriber requests_;
  std::vector<std::unique_ptr<Publisher>> replies_;  // by client
  std::size_t asking_ = 0;                           // the client whose request is being visited
  ListeningThread thread_;
};

}  // namespace middlemark::null
