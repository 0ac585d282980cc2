// Implements the contract of adapter.hpp for adapters that are written in Rust. rust/ is the crate that such adapters
// use; its bridge.rs and settings.rs repeat the structs of namespace `rust` with the same layout. A call that moves
// messages is one call through a function pointer, without allocation, lock or panic.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/rust_request.hpp>

namespace middlemark::kit {
namespace rust {

struct TopicView {
  Text name;
  std::size_t message_bytes;
  std::uint32_t publishers;
  std::uint32_t subscribers;
  std::uint32_t publishers_here;
  std::uint32_t subscribers_here;
  Maybe<std::uint32_t> depth;  ///< absent: keep-all
  std::uint32_t history;
  Reliability reliability;
  MessageType content;
  bool service;
};

struct NativeValue {
  Text key;
  Text text;
  std::int64_t number;
};

struct SettingsView {
  RequestView request;
  List<TopicView> endpoints;
  List<NativeValue> native;
  Text ipv4;              ///< IPv4 address of the interface; empty if it has none
  std::size_t shm_bytes;  ///< size of /dev/shm; 0 if there is none
  std::size_t shm_free_bytes;
};

struct Visitor {
  void* object;
  void (*function)(void* object, const std::byte* message, std::size_t bytes, std::uint64_t arrived_ns) noexcept;
};

struct Reader {
  void* object;
  void (*function)(void* object, Text text, Text advice);
};

struct PublisherCalls {
  std::byte* (*loan)(void* publisher, std::size_t bytes) noexcept;
  Published (*publish)(void* publisher) noexcept;
  std::size_t (*matched)(void* publisher);
  void (*last_error)(void* publisher, Reader words);
  void (*close)(void* publisher);
};

struct SubscriberCalls {
  std::size_t (*take)(void* subscriber, Visitor visitor) noexcept;
  bool (*wait)(void* subscriber, std::uint64_t timeout_ns) noexcept;
  bool (*listen)(void* subscriber, Visitor visitor, Reader error);
  void (*silence)(void* subscriber);
  std::size_t (*publishers_found)(void* subscriber, std::size_t expected);
  void (*last_error)(void* subscriber, Reader words);
  void (*close)(void* subscriber);
};

/// The result of a Make function: a publisher, a subscriber, or both. Pointers that are not used are null.
struct Ends {
  void* publisher = nullptr;
  const PublisherCalls* sends = nullptr;
  void* subscriber = nullptr;
  const SubscriberCalls* receives = nullptr;
};

using Make = bool (*)(void* adapter, const TopicView& topic, std::uint32_t index, Ends& ends, Reader error);

struct AdapterCalls {
  std::size_t layout;
  bool (*describe)(Reader json, Reader error);
  bool (*check)(const SettingsView& settings, Reader error);
  bool (*companions)(const SettingsView& settings, Reader json, Reader error);
  bool (*run_companion)(Text file, Reader error);
  void* (*open)(const SettingsView& settings, Reader error);
  Make publisher;
  Make subscriber;
  Make client;  ///< `client` and `server` are null if the adapter has no request/reply; the core then uses two topics
  Make server;
  void (*notes)(void* adapter, Reader note);
  void (*protected_by)(void* adapter, Reader words);
  void (*own_settings)(void* adapter, Reader language_and_text);
  void (*refusals)(void* adapter, Reader words);
  void (*close)(void* adapter);
};

/// Returns the table of the linked adapter. Throws an AdapterError if the crate's layout differs from this file's.
[[nodiscard]] const AdapterCalls& calls();
/// Returns a view that is valid until the process ends, because threads of the middleware may outlive the adapter.
[[nodiscard]] const SettingsView& view_of(const Settings& settings);
/// Calls a Make function of calls(). Throws an AdapterError if that function reports an error.
[[nodiscard]] Ends made(Make make, void* adapter, const Topic& topic, unsigned index);
/// Returns the text that `call` sends to its Reader.
[[nodiscard]] std::string words_of(void (*call)(void*, Reader), void* object);

/// Passes messages to a visitor of the core, and stores the kernel's timestamp of the last message.
template <class Function>
struct Visited {
  Function& function;
  std::uint64_t& arrived_ns;

  [[nodiscard]] Visitor visitor() noexcept {
    return {this, [](void* object, const std::byte* message, std::size_t bytes, std::uint64_t arrived) noexcept {
              auto& self = *static_cast<Visited*>(object);
              self.arrived_ns = arrived;
              self.function(std::span(message, bytes));
            }};
  }
};

}  // namespace rust

class RustPublisher {
 public:
  explicit RustPublisher(const rust::Ends& ends) noexcept : publisher_(ends.publisher), calls_(*ends.sends) {}
  ~RustPublisher() { calls_.close(publisher_); }
  RustPublisher(const RustPublisher&) = delete;
  RustPublisher& operator=(const RustPublisher&) = delete;

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    std::byte* const memory = calls_.loan(publisher_, bytes);
    return {memory, memory == nullptr ? 0 : bytes};
  }
  [[nodiscard]] Published publish() noexcept { return calls_.publish(publisher_); }
  [[nodiscard]] std::size_t matched() { return calls_.matched(publisher_); }
  [[nodiscard]] std::string last_error() const { return rust::words_of(calls_.last_error, publisher_); }

 private:
  void* const publisher_;
  const rust::PublisherCalls calls_;
};

class RustSubscriber {
 public:
  RustSubscriber(const rust::Ends& ends, unsigned publishers) noexcept
      : subscriber_(ends.subscriber), calls_(*ends.receives), publishers_(publishers) {}
  ~RustSubscriber() {
    if (listener_) silence();
    calls_.close(subscriber_);
  }
  RustSubscriber(const RustSubscriber&) = delete;
  RustSubscriber& operator=(const RustSubscriber&) = delete;

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    rust::Visited<Visitor> visited{visitor, arrived_ns_};
    return calls_.take(subscriber_, visited.visitor());
  }
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept {
    return calls_.wait(subscriber_, static_cast<std::uint64_t>(timeout.count()));
  }
  void listen(Listener listener);
  void silence() { calls_.silence(subscriber_); }
  [[nodiscard]] std::size_t publishers_found() { return calls_.publishers_found(subscriber_, publishers_); }
  [[nodiscard]] std::uint64_t arrived_ns() const noexcept { return arrived_ns_; }
  [[nodiscard]] std::string last_error() const { return rust::words_of(calls_.last_error, subscriber_); }

 private:
  void* const subscriber_;
  const rust::SubscriberCalls calls_;
  const unsigned publishers_;
  std::uint64_t arrived_ns_ = 0;
  Listener listener_;
  rust::Visited<Listener> heard_{listener_, arrived_ns_};
};

/// A client or a server: a sending half and a receiving half. The receiving half is destroyed first.
class RustExchange : public RustPublisher, public RustSubscriber {
 public:
  explicit RustExchange(const rust::Ends& ends) noexcept : RustPublisher(ends), RustSubscriber(ends, 0) {}
  [[nodiscard]] std::string last_error() const {
    const std::string sending = RustPublisher::last_error();
    return sending.empty() ? RustSubscriber::last_error() : sending;
  }
};

class RustAdapter {
 public:
  explicit RustAdapter(const Settings& settings);
  ~RustAdapter() { rust::calls().close(adapter_); }
  RustAdapter(const RustAdapter&) = delete;
  RustAdapter& operator=(const RustAdapter&) = delete;

  [[nodiscard]] static Description describe();
  static void check(const Settings& settings);
  [[nodiscard]] static std::vector<Companion> companions(const Settings& settings);
  static void run_companion(const std::string& file);

  [[nodiscard]] RustPublisher publisher(const Topic& topic, unsigned index) {
    return RustPublisher(rust::made(rust::calls().publisher, adapter_, topic, index));
  }
  [[nodiscard]] RustSubscriber subscriber(const Topic& topic, unsigned index) {
    return {rust::made(rust::calls().subscriber, adapter_, topic, index), topic.publishers};
  }
  [[nodiscard]] std::vector<std::string> notes() const;
  [[nodiscard]] std::string protected_by() const;
  [[nodiscard]] OwnSettings own_settings() const;
  [[nodiscard]] std::string refusals() const;

 protected:
  void* adapter_;
};

/// An adapter whose middleware has its own request and reply.
class RustRequestReplyAdapter : public RustAdapter {
 public:
  using RustAdapter::RustAdapter;
  [[nodiscard]] RustExchange client(const Topic& service, unsigned index) {
    return RustExchange(rust::made(rust::calls().client, adapter_, service, index));
  }
  [[nodiscard]] RustExchange server(const Topic& service, unsigned index) {
    return RustExchange(rust::made(rust::calls().server, adapter_, service, index));
  }
};

static_assert(Adapter<RustAdapter> && HasNotes<RustAdapter> && HasCompanions<RustAdapter> && HasCheck<RustAdapter>);
static_assert(HasRequestReply<RustRequestReplyAdapter> && CountsPublishers<RustSubscriber>);

}  // namespace middlemark::kit
