// iceoryx's own request and reply: its untyped client and server behind the contract's Exchange.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <iceoryx_posh/popo/untyped_client.hpp>
#include <iceoryx_posh/popo/untyped_server.hpp>

#include <middlemark/adapter.hpp>

#include "incoming.hpp"
#include "lending.hpp"
#include "runtime.hpp"

namespace middlemark::iceoryx {

class Client {
 public:
  Client(const iox::capro::ServiceDescription& service, const iox::popo::ClientOptions& options, std::size_t bytes,
         std::uint32_t alignment, Reception reception)
      : bytes_(bytes), alignment_(alignment), end_(service, options), incoming_(end_, reception) {}
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() {
    if (lent_ != nullptr) end_.releaseRequest(lent_);
  }

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    if (bytes != bytes_) return {};
    return lent_chunk(lent_, bytes, failure_, [&] { return end_.loan(static_cast<std::uint32_t>(bytes), alignment_); });
  }

  [[nodiscard]] Published publish() noexcept { return send_lent(end_, lent_, failure_); }

  [[nodiscard]] std::size_t matched() { return end_.getConnectionState() == iox::ConnectionState::CONNECTED ? 1 : 0; }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    return incoming_.take(visitor);
  }
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept { return incoming_.wait(timeout); }
  void listen(Listener listener) { incoming_.listen(listener); }
  void silence() { incoming_.silence(); }

  [[nodiscard]] std::string last_error() const {
    const std::string text = incoming_.last_error();
    return text.empty() ? failure_.text() : text;
  }

 private:
  struct Source {
    using End = iox::popo::UntypedClient;
    static constexpr auto has_message = iox::popo::ClientState::HAS_RESPONSE;
    static constexpr auto message_received = iox::popo::ClientEvent::RESPONSE_RECEIVED;
    static constexpr auto nothing = iox::popo::ChunkReceiveResult::NO_CHUNK_AVAILABLE;
    static void release(End& end, const void* message) noexcept { end.releaseResponse(message); }
  };

  std::size_t bytes_;
  std::uint32_t alignment_;
  void* lent_ = nullptr;
  LastFailure failure_;
  Source::End end_;
  Incoming<Source> incoming_;
};

/// iceoryx's own port, asked one thing more: UntypedServer only tells whether there is any client.
class ServerPort : public iox::popo::ServerPortUser {
 public:
  explicit ServerPort(MemberType_t& data) noexcept : ServerPortUser(data), data_(data) {}

  [[nodiscard]] std::size_t clients() const {
    const auto& sender = data_.m_chunkSenderData;
    const iox::popo::ServerChunkDistributorData_t::LockGuard_t locked(sender);
    return sender.m_queues.size();
  }

 private:
  const MemberType_t& data_;
};

class Server {
 public:
  Server(const iox::capro::ServiceDescription& service, const iox::popo::ServerOptions& options, std::size_t bytes,
         std::uint32_t alignment, Reception reception)
      : bytes_(bytes), alignment_(alignment), end_(service, options), incoming_(end_, reception) {}
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// The answer to the request that is being visited.
  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    if (bytes != bytes_ || request_ == nullptr) return {};
    return lent_chunk(lent_, bytes, failure_, [&] {
      return end_.loan(iox::popo::RequestHeader::fromPayload(request_), static_cast<std::uint32_t>(bytes), alignment_);
    });
  }

  [[nodiscard]] Published publish() noexcept { return send_lent(end_, lent_, failure_); }

  [[nodiscard]] std::size_t matched() { return end_.clients(); }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    Answering<Visitor> answering{*this, visitor};
    return incoming_.take(answering);
  }
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept { return incoming_.wait(timeout); }

  void listen(Listener listener) {
    listener_.emplace(listener);
    answering_.emplace(Answering<Listener>{*this, *listener_});
    incoming_.listen(Listener(*answering_));
  }
  void silence() { incoming_.silence(); }

  [[nodiscard]] std::string last_error() const {
    const std::string text = incoming_.last_error();
    return text.empty() ? failure_.text() : text;
  }

 private:
  class End : public iox::popo::UntypedServerImpl<iox::popo::BaseServer<ServerPort>> {
   public:
    using UntypedServerImpl::UntypedServerImpl;
    [[nodiscard]] std::size_t clients() const { return port().clients(); }
  };

  struct Source {
    using End = Server::End;
    static constexpr auto has_message = iox::popo::ServerState::HAS_REQUEST;
    static constexpr auto message_received = iox::popo::ServerEvent::REQUEST_RECEIVED;
    static constexpr auto nothing = iox::popo::ServerRequestResult::NO_PENDING_REQUESTS;
    static void release(End& end, const void* message) noexcept { end.releaseRequest(message); }
  };

  /// Knows during a visit whom it answers.
  template <class Visitor>
  struct Answering {
    Server& server;
    Visitor& visitor;
    void operator()(std::span<const std::byte> request) noexcept {
      server.request_ = request.data();
      visitor(request);
      server.request_ = nullptr;
      if (server.lent_ != nullptr) server.end_.releaseResponse(std::exchange(server.lent_, nullptr));
    }
  };

  std::size_t bytes_;
  std::uint32_t alignment_;
  const void* request_ = nullptr;
  void* lent_ = nullptr;
  LastFailure failure_;
  End end_;
  std::optional<Listener> listener_;
  std::optional<Answering<Listener>> answering_;
  Incoming<Source> incoming_;
};

}  // namespace middlemark::iceoryx
