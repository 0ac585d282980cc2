// Native request/reply in a graph: makes a publisher and a subscriber of the middleware's client, and also of its server,
// so that the roles of a stream can use them. Hot file: once the roles run, the code here does not allocate, lock, log
// or throw.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <middlemark/adapter.hpp>
#include <middlemark/futex.hpp>
#include <middlemark/kit/deadline.hpp>
#include <middlemark/roles/topics.hpp>

namespace middlemark {

/// Publishes the requests of a client or the replies of a server.
template <class End, auto send>
class ServicePublisher {
 public:
  explicit ServicePublisher(End& end) noexcept : end_(end) {}
  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept { return end_.exchange.loan(bytes); }
  [[nodiscard]] Published publish() noexcept { return (end_.*send)(); }
  [[nodiscard]] std::size_t matched() { return end_.exchange.matched(); }
  [[nodiscard]] std::string last_error() const {
    if constexpr (HasLastError<decltype(end_.exchange)>) return end_.exchange.last_error();
    return {};
  }

 private:
  End& end_;
};

/// The client of a service. A client has one request in flight, so publish() returns only when the reply has arrived or
/// `Settings::write_timeout` has passed. publish() also receives the reply, so the subscriber of the replies has
/// listen() but no take() or wait().
template <HasRequestReply A>
class ClientSide {
 public:
  using Client = decltype(std::declval<A&>().client(std::declval<const Topic&>(), 0U));
  static constexpr Reception receives = Reception::listen;

  ClientSide(A& adapter, const Settings& settings, const Topic& service)
      : exchange(adapter.client(service, 0)), reception_(settings.reception), timeout_(settings.write_timeout) {}

  [[nodiscard]] Published call() noexcept {
    calling_.store(true, std::memory_order_seq_cst);
    const std::uint32_t before = replies_.load(std::memory_order_relaxed);
    // Wait for the listener, which may start slightly later than the publisher.
    const bool listened = listening_.load() || kit::wait_until([this] { return listening_.load(); }, timeout_);
    const Published sent = listened ? exchange.publish() : Published::failed;
    if (sent == Published::ok) await(before);
    calling_.store(false, std::memory_order_release);
    return sent;
  }

  void operator()(std::span<const std::byte> reply) noexcept {
    listener_(reply);
    replies_.fetch_add(1, std::memory_order_release);
    if (reception_ == Reception::listen) futex_wake(replies_, 1, FutexScope::process);
  }

  class Replies {
   public:
    explicit Replies(ClientSide& side) noexcept : side_(side) {}
    template <class Visitor>
    std::size_t take(Visitor& /*visitor*/) noexcept {
      return 0;
    }
    [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept {
      kit::nap(timeout);
      return false;
    }
    void listen(Listener listener) { side_.listen(listener); }
    void silence() { side_.silence(); }

   private:
    ClientSide& side_;
  };

  [[nodiscard]] auto publisher(const Topic& /*requests*/, unsigned /*index*/) {
    return ServicePublisher<ClientSide, &ClientSide::call>(*this);
  }
  [[nodiscard]] Replies subscriber(const Topic& /*replies*/, unsigned /*index*/) { return Replies(*this); }

  Client exchange;

 private:
  void await(std::uint32_t before) noexcept {
    const kit::Deadline deadline(timeout_);
    while (replies_.load(std::memory_order_acquire) == before) {
      const std::chrono::nanoseconds remaining = deadline.left();
      if (remaining.count() == 0) return;
      switch (reception_) {
        case Reception::poll:
          exchange.take(*this);
          break;
        case Reception::block:
          if (exchange.wait(remaining)) exchange.take(*this);
          break;
        case Reception::listen:
          futex_wait(replies_, before, remaining, FutexScope::process);
          break;
      }
    }
  }

  void listen(Listener listener) {
    listener_ = listener;
    if constexpr (Listens<Client>) {
      if (reception_ == Reception::listen) exchange.listen(Listener(*this));
    }
    listening_.store(true);
  }
  void silence() {
    if constexpr (Listens<Client>) {
      if (reception_ == Reception::listen) exchange.silence();
    }
    listening_.store(false);
    while (calling_.load()) kit::nap(std::chrono::microseconds(50));
  }

  const Reception reception_;
  const std::chrono::nanoseconds timeout_;
  Listener listener_;
  std::atomic<bool> listening_{false};
  std::atomic<bool> calling_{false};
  std::atomic<std::uint32_t> replies_{0};
};

/// The server of a service. It publishes a reply during the visit of its request, as a forwarding node does.
template <HasRequestReply A>
class ServerSide {
 public:
  using Server = decltype(std::declval<A&>().server(std::declval<const Topic&>(), 0U));

  ServerSide(A& adapter, const Settings& /*settings*/, const Topic& service) : exchange(adapter.server(service, 0)) {}

  [[nodiscard]] Published reply() noexcept { return exchange.publish(); }

  class Requests {
   public:
    explicit Requests(ServerSide& side) noexcept : side_(side) {}
    template <class Visitor>
    std::size_t take(Visitor& visitor) noexcept {
      return side_.exchange.take(visitor);
    }
    [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept { return side_.exchange.wait(timeout); }
    void listen(Listener listener)
      requires Listens<Server>
    {
      side_.exchange.listen(listener);
    }
    void silence()
      requires Listens<Server>
    {
      side_.exchange.silence();
    }

   private:
    ServerSide& side_;
  };

  [[nodiscard]] auto publisher(const Topic& /*replies*/, unsigned /*index*/) {
    return ServicePublisher<ServerSide, &ServerSide::reply>(*this);
  }
  [[nodiscard]] Requests subscriber(const Topic& /*requests*/, unsigned /*index*/) { return Requests(*this); }

  Server exchange;
};

/// The clients and servers of a worker, by the number of the request topic. They outlive the roles.
template <class A>
struct Services {};
template <HasRequestReply A>
struct Services<A> {
  std::map<unsigned, std::unique_ptr<ClientSide<A>>> clients;
  std::map<unsigned, std::unique_ptr<ServerSide<A>>> servers;

  /// Returns the client or server of a service. Makes it at the first call.
  template <class Side>
  static Side& side(std::map<unsigned, std::unique_ptr<Side>>& all, A& adapter, const Settings& settings,
                    unsigned requests) {
    std::unique_ptr<Side>& entry = all[requests];
    if (!entry) entry = std::make_unique<Side>(adapter, settings, graph_service(settings, requests));
    return *entry;
  }
};

}  // namespace middlemark
