// The publishers and subscribers (the ends) that a role uses: of two topics, or of one native client or server.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/protocol.hpp>
#include <middlemark/roles/topics.hpp>

namespace middlemark {

/// The ends of a ping. The subscriber is made first, because replies may arrive as soon as the ping sends.
template <Adapter A>
class PingTopics {
 public:
  using Request = PingRequest;

  PingTopics(A& adapter, const Settings& settings, const Request& request)
      : incoming_(adapter.subscriber(pong_topic(settings, request.echoing), 0)),
        outgoing_(adapter.publisher(ping_topic(settings), 0)) {}
  [[nodiscard]] auto& incoming() noexcept { return incoming_; }
  [[nodiscard]] auto& outgoing() noexcept { return outgoing_; }
  [[nodiscard]] static std::size_t peers(const Settings& settings) noexcept { return settings.subscribers; }
  static constexpr bool native = false;

 private:
  SubscriberOf<A> incoming_;
  PublisherOf<A> outgoing_;
};

/// The ends of a client if the middleware has no native request/reply.
template <Adapter A>
class ClientTopics {
 public:
  using Request = ClientRequest;

  ClientTopics(A& adapter, const Settings& settings, const Request& request)
      : incoming_(adapter.subscriber(reply_topic(settings, request.index), 0)),
        outgoing_(adapter.publisher(request_topic(settings), request.index)) {}
  [[nodiscard]] auto& incoming() noexcept { return incoming_; }
  [[nodiscard]] auto& outgoing() noexcept { return outgoing_; }
  [[nodiscard]] static std::size_t peers(const Settings& /*settings*/) noexcept { return 1; }
  static constexpr bool native = false;

 private:
  SubscriberOf<A> incoming_;
  PublisherOf<A> outgoing_;
};

template <class A>
class NativeClient {
 public:
  using Request = ClientRequest;

  NativeClient(A& adapter, const Settings& settings, const Request& request)
      : client_(adapter.client(service_topic(settings), request.index)) {}
  [[nodiscard]] auto& incoming() noexcept { return client_; }
  [[nodiscard]] auto& outgoing() noexcept { return client_; }
  [[nodiscard]] static std::size_t peers(const Settings& /*settings*/) noexcept { return 1; }
  static constexpr bool native = true;

 private:
  decltype(std::declval<A&>().client(std::declval<const Topic&>(), 0U)) client_;
};

/// The ends of a pong. A pong that does not echo has no publisher.
template <Adapter A>
class PongTopics {
 public:
  using Request = PongRequest;

  PongTopics(A& adapter, const Settings& settings, const Request& request)
      : incoming_(adapter.subscriber(ping_topic(settings), request.index)) {
    if (request.echoes) {
      outgoing_.reset(new PublisherOf<A>(adapter.publisher(pong_topic(settings, request.echoing), request.index)));
    }
  }
  [[nodiscard]] auto& incoming() noexcept { return incoming_; }
  /// Returns the publisher for replies to messages of `publisher_id`, or null if they get no reply.
  [[nodiscard]] PublisherOf<A>* outgoing(unsigned /*publisher_id*/) noexcept { return outgoing_.get(); }
  [[nodiscard]] std::size_t matched() { return outgoing_ ? outgoing_->matched() : 0; }
  [[nodiscard]] std::size_t peers(const Settings& /*settings*/) const noexcept { return outgoing_ ? 1 : 0; }
  static constexpr bool native = false;

 private:
  SubscriberOf<A> incoming_;
  std::unique_ptr<PublisherOf<A>> outgoing_;
};

/// The ends of a server if the middleware has no native request/reply.
template <Adapter A>
class ServerTopics {
 public:
  using Request = ServerRequest;

  ServerTopics(A& adapter, const Settings& settings, const Request& /*request*/)
      : incoming_(adapter.subscriber(request_topic(settings), 0)) {
    for (unsigned client = 0; client < settings.publishers; ++client) {
      outgoing_.emplace_back(new PublisherOf<A>(adapter.publisher(reply_topic(settings, client), 0)));
    }
  }
  [[nodiscard]] auto& incoming() noexcept { return incoming_; }
  [[nodiscard]] PublisherOf<A>* outgoing(unsigned publisher_id) noexcept {
    return publisher_id < outgoing_.size() ? outgoing_[publisher_id].get() : nullptr;
  }
  [[nodiscard]] std::size_t matched() {
    std::size_t found = 0;
    for (const auto& publisher : outgoing_) found += publisher->matched();
    return found;
  }
  [[nodiscard]] static std::size_t peers(const Settings& settings) noexcept { return settings.publishers; }
  static constexpr bool native = false;

 private:
  SubscriberOf<A> incoming_;
  std::vector<std::unique_ptr<PublisherOf<A>>> outgoing_;  // by client
};

template <class A>
class NativeServer {
 public:
  using Request = ServerRequest;

  NativeServer(A& adapter, const Settings& settings, const Request& /*request*/)
      : server_(adapter.server(service_topic(settings), 0)) {}
  [[nodiscard]] auto& incoming() noexcept { return server_; }
  [[nodiscard]] auto* outgoing(unsigned /*publisher_id*/) noexcept { return &server_; }
  [[nodiscard]] std::size_t matched() { return server_.matched(); }
  [[nodiscard]] static std::size_t peers(const Settings& settings) noexcept { return settings.publishers; }
  static constexpr bool native = true;

 private:
  decltype(std::declval<A&>().server(std::declval<const Topic&>(), 0U)) server_;
};

/// How many of the expected publishers a subscriber has found. `expected` is 0 if the middleware cannot count them.
struct Found {
  std::size_t found = 0;
  std::size_t expected = 0;
};

template <class Incoming>
[[nodiscard]] Found publishers_found(Incoming& incoming, std::size_t expected) {
  if constexpr (CountsPublishers<Incoming>) return {incoming.publishers_found(), expected};
  return {};
}

template <class Ends>
[[nodiscard]] Found publishers_of(Ends& ends, std::size_t expected) {
  if constexpr (Ends::native) return {};
  return publishers_found(ends.incoming(), expected);
}

/// Returns the middleware's own text for the last failure at either end, or an empty string.
template <class Incoming, class Outgoing>
[[nodiscard]] std::string last_error_of(const Incoming& incoming, const Outgoing* outgoing) {
  std::string text;
  if constexpr (HasLastError<Outgoing>) {
    if (outgoing != nullptr) text = outgoing->last_error();
  }
  if constexpr (HasLastError<Incoming>) {
    if (text.empty()) text = incoming.last_error();
  }
  return text;
}

}  // namespace middlemark
