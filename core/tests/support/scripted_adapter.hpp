// An adapter with queues within this process. A test's script decides what happens to each published message.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/futex.hpp>
#include <middlemark/message.hpp>

namespace middlemark::test {

using Bytes = std::vector<std::byte>;

/// One subscriber's queue.
class Inbox {
 public:
  void put(Bytes message) {
    std::optional<Listener> listener;
    {
      const std::lock_guard lock(mutex_);
      listener = listener_;
      if (!listener) queue_.push_back(std::move(message));
    }
    if (listener) return (*listener)(message);
    arrivals_.fetch_add(1, std::memory_order_release);
    futex_wake(arrivals_, 1, FutexScope::process);
  }

  [[nodiscard]] std::optional<Bytes> next() {
    const std::lock_guard lock(mutex_);
    if (queue_.empty()) return std::nullopt;
    Bytes message = std::move(queue_.front());
    queue_.pop_front();
    return message;
  }

  bool wait(std::chrono::nanoseconds timeout) {
    const std::uint32_t seen = arrivals_.load(std::memory_order_acquire);
    if (!empty()) return true;
    futex_wait(arrivals_, seen, timeout, FutexScope::process);
    return !empty();
  }

  /// Passes the queued messages to the listener. From now on put() calls the listener, on the publisher's thread.
  void listen_on_publishers_thread(std::optional<Listener> listener) {
    if (listener) {
      while (const std::optional<Bytes> message = next()) (*listener)(*message);
    }
    const std::lock_guard lock(mutex_);
    listener_ = listener;
  }

 private:
  [[nodiscard]] bool empty() {
    const std::lock_guard lock(mutex_);
    return queue_.empty();
  }

  std::mutex mutex_;
  std::deque<Bytes> queue_;
  std::atomic<std::uint32_t> arrivals_{0};
  std::optional<Listener> listener_;
};

class Scripted {
 public:
  class Publisher;
  class Subscriber;

  /// The argument of a script: a published message.
  struct Sent {
    Scripted& adapter;
    const Topic& topic;
    const Bytes& message;

    [[nodiscard]] Header header() const { return read_header(message); }
    void deliver(const Bytes& bytes) const { adapter.deliver(topic.name, bytes); }
    void deliver() const { deliver(message); }
    /// Returns the reply that a correct pong would send, but with this header.
    [[nodiscard]] Bytes answer(const Header& header) const {
      Bytes bytes = message;
      write_header(bytes, header);
      return bytes;
    }
    void reply(const Bytes& bytes) const { adapter.deliver(adapter.settings_.scope + "_pong", bytes); }
    void reply() const { reply(answer(header().from(0))); }
  };
  using Script = std::function<Published(const Sent&)>;

  explicit Scripted(const Settings& settings) : settings_(settings) {}

  [[nodiscard]] static Description describe() {
    Description about;
    about.name = "scripted";
    return about;
  }

  Publisher publisher(const Topic& topic, unsigned index);
  Subscriber subscriber(const Topic& topic, unsigned index);

  void deliver(const std::string& topic, const Bytes& message) {
    for (const auto& inbox : inboxes_[topic]) inbox->put(message);
  }

  // Set these before the roles are made.
  Script on_ping = deliver_unchanged;  ///< what happens to messages on the ping's topic
  Script on_pong = deliver_unchanged;  ///< what happens to messages on the pongs' topic
  std::function<bool()> lends = [] { return true; };
  bool listens_on_publishers_thread = false;

 private:
  static Published deliver_unchanged(const Sent& sent) {
    sent.deliver();
    return Published::ok;
  }

  const Settings settings_;
  // topic → inboxes of its subscribers; read without a lock, because no subscriber is added after the start of the trial
  std::map<std::string, std::vector<std::shared_ptr<Inbox>>> inboxes_;
};

class Scripted::Publisher {
 public:
  Publisher(Scripted& adapter, const Topic& topic)
      : adapter_(adapter), topic_(topic), is_pong_(topic.name.ends_with("_pong")), message_(topic.message_bytes) {}
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  std::span<std::byte> loan(std::size_t /*bytes*/) noexcept {
    return adapter_.lends() ? std::span<std::byte>(message_) : std::span<std::byte>();
  }
  Published publish() noexcept {
    return (is_pong_ ? adapter_.on_pong : adapter_.on_ping)({adapter_, topic_, message_});
  }
  std::size_t matched() { return adapter_.inboxes_[topic_.name].size(); }
  [[nodiscard]] std::string last_error() const { return "scripted: the publisher's words"; }

 private:
  Scripted& adapter_;
  const Topic topic_;
  const bool is_pong_;
  Bytes message_;
};

class Scripted::Subscriber {
 public:
  Subscriber(Scripted& adapter, const Topic& topic)
      : on_publishers_thread_(adapter.listens_on_publishers_thread), inbox_(std::make_shared<Inbox>()) {
    adapter.inboxes_[topic.name].push_back(inbox_);
  }
  ~Subscriber() { silence(); }
  Subscriber(const Subscriber&) = delete;
  Subscriber& operator=(const Subscriber&) = delete;

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    std::size_t visits = 0;
    while (const std::optional<Bytes> message = inbox_->next()) {
      visitor(std::span<const std::byte>(*message));
      ++visits;
    }
    return visits;
  }
  bool wait(std::chrono::nanoseconds timeout) noexcept { return inbox_->wait(timeout); }

  void listen(Listener listener) {
    if (on_publishers_thread_) return inbox_->listen_on_publishers_thread(listener);
    thread_ = std::jthread([this, listener](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        if (wait(std::chrono::milliseconds(5))) take(listener);
      }
    });
  }
  void silence() {
    if (on_publishers_thread_) return inbox_->listen_on_publishers_thread(std::nullopt);
    thread_ = {};
  }

 private:
  const bool on_publishers_thread_;
  const std::shared_ptr<Inbox> inbox_;
  std::jthread thread_;
};

inline Scripted::Publisher Scripted::publisher(const Topic& topic, unsigned /*index*/) {
  return Publisher(*this, topic);
}
inline Scripted::Subscriber Scripted::subscriber(const Topic& topic, unsigned /*index*/) {
  return Subscriber(*this, topic);
}

static_assert(Adapter<Scripted>);

}  // namespace middlemark::test
