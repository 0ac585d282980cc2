// Publishers, subscribers, and iceoryx's own clients and servers, through its untyped API.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <iceoryx_posh/mepoo/chunk_header.hpp>
#include <iceoryx_posh/popo/listener.hpp>
#include <iceoryx_posh/popo/untyped_client.hpp>
#include <iceoryx_posh/popo/untyped_publisher.hpp>
#include <iceoryx_posh/popo/untyped_server.hpp>
#include <iceoryx_posh/popo/untyped_subscriber.hpp>
#include <iceoryx_posh/popo/user_trigger.hpp>
#include <iceoryx_posh/popo/wait_set.hpp>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/deadline.hpp>
#include <middlemark/kit/pinned.hpp>
#include <middlemark/kit/take.hpp>

#include "runtime.hpp"

namespace middlemark::iceoryx {

/// The chunk that a publisher, client or server has borrowed and not sent yet.
class Chunk {
 public:
  Chunk(std::size_t bytes, std::uint32_t alignment)
      : bytes_(static_cast<std::uint32_t>(bytes)), alignment_(alignment) {}

  /// Returns the borrowed chunk, or borrows one by calling `lend`. If `lend` fails, stores the reason in `failure` and
  /// returns an empty span.
  template <class Lend>
  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes, LastFailure& failure, const Lend& lend) noexcept {
    if (lent_ == nullptr) {
      bytes_ = static_cast<std::uint32_t>(bytes);
      const auto chunk = lend(bytes_, alignment_);
      if (chunk.has_error()) {
        failure.note("loan", iox::popo::asStringLiteral(chunk.get_error()));
        return {};
      }
      lent_ = chunk.value();
    }
    return {static_cast<std::byte*>(lent_), bytes_};
  }

  /// Sends the borrowed chunk as a request or a response.
  template <class End>
  [[nodiscard]] Published send(LastFailure& failure, End& end) noexcept {
    if (lent_ == nullptr) return Published::failed;
    const auto sent = end.send(released());
    if (!sent.has_error()) return Published::ok;
    failure.note("send", iox::popo::asStringLiteral(sent.get_error()));
    return Published::failed;
  }

  [[nodiscard]] void* released() noexcept { return std::exchange(lent_, nullptr); }
  explicit operator bool() const noexcept { return lent_ != nullptr; }

 private:
  std::uint32_t bytes_;
  std::uint32_t alignment_;
  void* lent_ = nullptr;
};

/// iceoryx's own publisher port and server port, with access to the queues of the connected subscribers or clients.
/// Their number is that of the peers found; iceoryx itself reports only whether there are any.
struct PublisherPort : iox::popo::PublisherPortUser {
  explicit PublisherPort(MemberType_t* data) noexcept : PublisherPortUser(data), sender(data->m_chunkSenderData) {}
  const decltype(MemberType_t::m_chunkSenderData)& sender;
};
struct ServerPort : iox::popo::ServerPortUser {
  explicit ServerPort(MemberType_t& data) noexcept : ServerPortUser(data), sender(data.m_chunkSenderData) {}
  const decltype(MemberType_t::m_chunkSenderData)& sender;
};
template <class Base>
struct Counting : Base {
  using Base::Base;
  [[nodiscard]] std::size_t matched() const {
    const auto& sender = this->port().sender;
    const typename std::remove_cvref_t<decltype(sender)>::LockGuard_t locked(sender);
    return sender.m_queues.size();
  }
};

class Publisher {
 public:
  /// `patience`: the longest time that publish() waits for a full queue; nullopt if publish() does not wait. `checks`: how
  /// often a thread checks for this during `patience`.
  Publisher(const iox::capro::ServiceDescription& service, const iox::popo::PublisherOptions& options,
            const Chunk& chunk, std::size_t subscribers, std::optional<std::chrono::nanoseconds> patience,
            unsigned checks)
      : chunk_(chunk),
        subscribers_(subscribers),
        patience_(patience.value_or(std::chrono::nanoseconds(0))),
        end_(service, options) {
    if (patience) deadline_.emplace(*patience, [this] { end_.stopOffer(); }, checks);
  }
  ~Publisher() {
    if (chunk_) end_.release(chunk_.released());
  }

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    return chunk_.loan(bytes, failure_, [this](auto lent, auto alignment) { return end_.loan(lent, alignment); });
  }

  [[nodiscard]] Published publish() noexcept {
    if (!chunk_) return Published::failed;
    if (withdrawn_ && !reconnected()) return Published::timed_out;
    if (deadline_) deadline_->begin();
    end_.publish(chunk_.released());
    withdrawn_ = deadline_ && deadline_->end();
    if (!withdrawn_) [[likely]]
      return Published::ok;
    failure_.note("publish", "a subscriber's queue stayed full");
    return Published::timed_out;
  }

  [[nodiscard]] std::size_t matched() { return end_.matched(); }
  [[nodiscard]] std::string last_error() const { return failure_.text(); }

 private:
  /// After a timeout, offers the topic again and waits until RouDi has connected the subscribers again. Messages sent
  /// before that would be lost. Returns false if `patience` has passed.
  [[nodiscard]] bool reconnected() noexcept {
    end_.offer();
    return kit::wait_until([this] { return end_.matched() >= subscribers_; }, patience_, std::chrono::milliseconds(1));
  }

  Chunk chunk_;
  std::size_t subscribers_;
  bool withdrawn_ = false;
  std::chrono::nanoseconds patience_;
  LastFailure failure_;
  Counting<iox::popo::UntypedPublisherImpl<iox::popo::BasePublisher<PublisherPort>>> end_;
  std::optional<kit::CallDeadline> deadline_;
};

/// The part of subscribers, clients and servers that receives. iceoryx's names for their operations differ, so these
/// names are parameters.
template <class EndType, auto has_message, auto message_received, auto nothing, auto release>
class Incoming : kit::Pinned {
 public:
  static constexpr std::size_t most_per_take = 1024;

  template <class Options>
  Incoming(const iox::capro::ServiceDescription& service, const Options& options, Reception reception)
      : end_(service, options) {
    if (reception != Reception::block) return;
    waitset_.emplace();
    if (waitset_->attachState(end_, has_message).has_error()) {
      throw AdapterError("iceoryx: the wait set has no space for another subscriber");
    }
  }
  ~Incoming() { silence(); }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    const auto receive = [this]() noexcept -> const void* {
      const auto taken = end_.take();
      if (!taken.has_error()) return taken.value();
      if (taken.get_error() != nothing) failure_.note("take", iox::popo::asStringLiteral(taken.get_error()));
      return nullptr;
    };
    return kit::take_up_to<most_per_take>(receive, [&](const void* message) noexcept {
      const std::size_t bytes = iox::mepoo::ChunkHeader::fromUserPayload(message)->userPayloadSize();
      visitor(std::span(static_cast<const std::byte*>(message), bytes));
      (end_.*release)(message);
    });
  }

  /// Waits for the state `has_message`, which is true while messages wait to be taken. Only a trial with the reception
  /// `block` has a wait set; otherwise the function returns true at once.
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept {
    if (!waitset_) return true;
    return !waitset_->timedWait(iox::units::Duration::fromNanoseconds(timeout.count())).empty();
  }

  void listen(Listener listener) {
    listener_ = listener;
    listening_.store(true, std::memory_order_relaxed);
    // Rename this thread while it starts iceoryx's thread, which inherits the name. With the role's name, the core
    // would count iceoryx's thread as the role's thread.
    char own[16] = "";
    pthread_getname_np(pthread_self(), own, sizeof own);
    pthread_setname_np(pthread_self(), "iox listener");
    thread_ = std::make_unique<iox::popo::Listener>();
    pthread_setname_np(pthread_self(), own);
    const auto arrived = iox::popo::createNotificationCallback(on_message, *this);
    const auto began = iox::popo::createNotificationCallback(on_begin, *this);
    if (thread_->attachEvent(end_, message_received, arrived).has_error() ||
        thread_->attachEvent(begin_, began).has_error()) {
      throw AdapterError("iceoryx: the listener has no space for another event");
    }
    begin_.trigger();  // messages that arrived before the listener was attached raise no event
  }

  /// Stops listening. The destructor of iceoryx's listener joins its thread.
  void silence() {
    listening_.store(false, std::memory_order_relaxed);
    thread_.reset();
  }

  [[nodiscard]] std::string last_error() const { return failure_.text(); }

 protected:
  LastFailure failure_;
  EndType end_;

 private:
  static void on_message(EndType* /*end*/, Incoming* self) { self->deliver(); }
  static void on_begin(iox::popo::UserTrigger* /*trigger*/, Incoming* self) { self->deliver(); }

  /// Delivers all messages that have arrived. If it left one in the queue, no later event would report it.
  void deliver() noexcept {
    while (listening_.load(std::memory_order_relaxed) && take(listener_) == most_per_take) {
    }
  }

  std::optional<iox::popo::WaitSet<1>> waitset_;
  Listener listener_;
  std::atomic<bool> listening_{false};
  iox::popo::UserTrigger begin_;
  std::unique_ptr<iox::popo::Listener> thread_;
};

using Subscriber = Incoming<iox::popo::UntypedSubscriber, iox::popo::SubscriberState::HAS_DATA,
                            iox::popo::SubscriberEvent::DATA_RECEIVED,
                            iox::popo::ChunkReceiveResult::NO_CHUNK_AVAILABLE, &iox::popo::UntypedSubscriber::release>;
using Responses =
    Incoming<iox::popo::UntypedClient, iox::popo::ClientState::HAS_RESPONSE, iox::popo::ClientEvent::RESPONSE_RECEIVED,
             iox::popo::ChunkReceiveResult::NO_CHUNK_AVAILABLE, &iox::popo::UntypedClient::releaseResponse>;

class Client : public Responses {
 public:
  Client(const iox::capro::ServiceDescription& service, const iox::popo::ClientOptions& options, Reception reception,
         const Chunk& chunk)
      : Responses(service, options, reception), chunk_(chunk) {}
  ~Client() {
    if (chunk_) end_.releaseRequest(chunk_.released());
  }

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    return chunk_.loan(bytes, failure_, [this](auto lent, auto alignment) { return end_.loan(lent, alignment); });
  }
  [[nodiscard]] Published publish() noexcept { return chunk_.send(failure_, end_); }
  [[nodiscard]] std::size_t matched() { return end_.getConnectionState() == iox::ConnectionState::CONNECTED ? 1 : 0; }

 private:
  Chunk chunk_;
};

using ServerEnd = Counting<iox::popo::UntypedServerImpl<iox::popo::BaseServer<ServerPort>>>;
using Requests = Incoming<ServerEnd, iox::popo::ServerState::HAS_REQUEST, iox::popo::ServerEvent::REQUEST_RECEIVED,
                          iox::popo::ServerRequestResult::NO_PENDING_REQUESTS, &ServerEnd::releaseRequest>;

class Server : public Requests {
 public:
  Server(const iox::capro::ServiceDescription& service, const iox::popo::ServerOptions& options, Reception reception,
         const Chunk& chunk)
      : Requests(service, options, reception), chunk_(chunk) {}
  ~Server() { silence(); }

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    if (request_ == nullptr) return {};
    return chunk_.loan(bytes, failure_, [this](auto lent, auto alignment) {
      return end_.loan(iox::popo::RequestHeader::fromPayload(request_), lent, alignment);
    });
  }
  [[nodiscard]] Published publish() noexcept { return chunk_.send(failure_, end_); }
  [[nodiscard]] std::size_t matched() { return end_.matched(); }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    Answering<Visitor> answering{*this, visitor};
    return Requests::take(answering);
  }
  void listen(Listener listener) {
    caller_ = listener;
    Requests::listen(Listener(answering_));
  }

 private:
  /// A visitor that stores the request during its visit, so that loan() can answer it.
  template <class Visitor>
  struct Answering {
    Server& server;
    Visitor& visitor;
    void operator()(std::span<const std::byte> request) noexcept {
      server.request_ = request.data();
      visitor(request);
      server.request_ = nullptr;
      if (server.chunk_) server.end_.releaseResponse(server.chunk_.released());
    }
  };

  Chunk chunk_;
  const void* request_ = nullptr;
  Listener caller_;
  Answering<Listener> answering_{*this, caller_};
};

}  // namespace middlemark::iceoryx
