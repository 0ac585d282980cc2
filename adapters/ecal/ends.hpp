// Publishers and subscribers. Hot file: while the roles run, our code here does not allocate, lock, log or throw.
//
// eCAL registers publishers and subscribers before their memory file or connection is open, and loses messages that are
// sent before that. So before the start a publisher sends its index repeatedly, until each subscriber has written a
// file that confirms the receipt. The index is shorter than any message.
#pragma once

#include <ecal/ecal.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/deadline.hpp>
#include <middlemark/kit/memory.hpp>
#include <middlemark/kit/pinned.hpp>
#include <middlemark/kit/rendezvous.hpp>

#include "options.hpp"

namespace middlemark::ecal {

/// Returns the name of the file that a subscriber writes when it has received the index of a publisher.
[[nodiscard]] inline std::string confirmation(const Topic& topic, unsigned publisher, unsigned subscriber) {
  return topic.name + ".confirmed." + std::to_string(publisher) + '.' + std::to_string(subscriber);
}

class Publisher : public kit::OwnBuffer {
 public:
  Publisher(const Options& options, const Settings& settings, const Topic& topic, unsigned index)
      : OwnBuffer(topic.message_bytes),
        notes_(settings),
        topic_(topic),
        index_(index),
        waits_(settings.transport == shm && Options::reliable(topic)),
        timeout_(settings.write_timeout),
        publisher_(topic.name, {}, options.of_publisher(topic)) {}

  /// Over reliable shared memory, Send() returns after every subscriber's callback has returned. Send() does not report
  /// a timeout, so publish() compares the clock with the deadline afterwards.
  [[nodiscard]] Published publish() noexcept {
    const kit::Deadline deadline(timeout_);
    if (!publisher_.Send(message_.data(), message_.size())) [[unlikely]] {
      failed_ = true;
      return Published::failed;
    }
    return waits_ && deadline.passed() ? Published::timed_out : Published::ok;
  }
  [[nodiscard]] std::size_t matched() {
    while (found_ < topic_.subscribers && notes_.find(confirmation(topic_, index_, found_))) ++found_;
    if (found_ < topic_.subscribers) publisher_.Send(&index_, sizeof index_);
    return found_;
  }
  [[nodiscard]] std::string last_error() const { return failed_ ? "eCAL::CPublisher::Send: false" : ""; }

 private:
  const kit::Rendezvous notes_;
  const Topic topic_;
  const unsigned index_;
  unsigned found_ = 0;
  const bool waits_;
  const std::chrono::nanoseconds timeout_;
  bool failed_ = false;
  eCAL::CPublisher publisher_;
};

/// Receives by callback, because eCAL has no function that receives. eCAL calls the callback for one message at a time.
class Subscriber : kit::Pinned {
 public:
  Subscriber(const Options& options, const Settings& settings, const Topic& topic, unsigned index)
      : notes_(settings),
        topic_(topic),
        index_(index),
        received_from_(topic.publishers),
        subscriber_(topic.name, {}, options.of_subscriber()) {
    subscriber_.SetReceiveCallback([this](const eCAL::STopicId& /*publisher*/,
                                          const eCAL::SDataTypeInformation& /*type*/,
                                          const eCAL::SReceiveCallbackData& message) { receive(message); });
  }
  ~Subscriber() { silence(); }

  template <class Visitor>
  std::size_t take(Visitor& /*visitor*/) noexcept {
    return 0;
  }
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept {
    kit::nap(timeout);
    return false;
  }
  void listen(Listener listener) {
    listener_ = listener;
    listens_.store(true);
  }
  /// Ends the listening. Waits until a running callback has returned.
  void silence() { subscriber_.RemoveReceiveCallback(); }

  [[nodiscard]] std::size_t publishers_found() {
    std::size_t found = 0;
    for (unsigned i = 0; i < received_from_.size(); ++i) {
      if (!received_from_[i].load()) continue;
      ++found;
      if (!notes_.find(confirmation(topic_, i, index_))) notes_.leave(confirmation(topic_, i, index_));
    }
    return found;
  }

 private:
  void receive(const eCAL::SReceiveCallbackData& message) noexcept {
    if (unsigned publisher = 0; message.buffer_size == sizeof publisher) [[unlikely]] {
      std::memcpy(&publisher, message.buffer, sizeof publisher);
      if (publisher < received_from_.size()) received_from_[publisher].store(true);
      return;
    }
    // Waits for listen(), because the first message may arrive before that call.
    if (!listens_.load() && !kit::wait_until([this] { return listens_.load(); }, std::chrono::seconds(1))) return;
    listener_({static_cast<const std::byte*>(message.buffer), message.buffer_size});
  }

  const kit::Rendezvous notes_;
  const Topic topic_;
  const unsigned index_;
  std::vector<std::atomic<bool>> received_from_;  ///< for each publisher: its index has arrived
  Listener listener_;
  std::atomic<bool> listens_{false};
  eCAL::CSubscriber subscriber_;
};

}  // namespace middlemark::ecal
