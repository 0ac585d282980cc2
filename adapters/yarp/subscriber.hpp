// Subscribers of topics: input ports with the queue of a BufferedPort.
#pragma once

#include <yarp/os/Port.h>
#include <yarp/os/PortReaderBuffer.h>
#include <yarp/os/Semaphore.h>
#include <yarp/os/TypedReaderCallback.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/pinned.hpp>
#include <middlemark/kit/rendezvous.hpp>
#include <middlemark/kit/take.hpp>

#include "network.hpp"
#include "octets.hpp"
#include "options.hpp"

namespace middlemark::yarp {

/// The queue of a BufferedPort. It allocates messages when needed and reuses them.
class Queue : public ::yarp::os::PortReaderBuffer<Octets> {
 public:
  explicit Queue(std::size_t message_bytes) : message_bytes_(message_bytes) {}

  ::yarp::os::PortReader* create() const override { return new Octets(message_bytes_); }

  /// Queues a copy of `message`, to which the carrier `local` has passed a pointer.
  bool take_in(const Octets& message) {
    Copy* copy = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (free_.empty()) {
        copies_.push_back(std::make_unique<Copy>(*this, message_bytes_));
        free_.reserve(copies_.size());
        free_.push_back(copies_.back().get());
      }
      copy = free_.back();
      free_.pop_back();
    }
    copy->copy(message);
    return acceptObject(copy, copy);
  }

 private:
  struct Copy final : Octets {
    Copy(Queue& queue, std::size_t bytes) : Octets(bytes), owner(queue) {}

    /// YARP calls this when the queue no longer uses this message, so that it can be used again.
    void onCompletion() const override {
      const std::lock_guard lock(owner.mutex_);
      owner.free_.push_back(const_cast<Copy*>(this));
    }

    Queue& owner;
  };

  const std::size_t message_bytes_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Copy>> copies_;
  std::vector<Copy*> free_;
};

class Subscriber {
 public:
  static constexpr std::size_t most_per_take = 256;

  Subscriber(const Settings& settings, const Options& options, const Topic& topic, unsigned index)
      : publishers_(topic.publishers), input_(options.stays_open(), settings, options, topic) {
    const std::string name = subscriber_port(topic.name, index);
    open(input_->port, name);
    kit::Attendance(settings, topic).attend(index);
  }
  /// Wakes the connections' threads that wait for room. No message is taken any more, so they and their publishers
  /// would wait for ever.
  ~Subscriber() {
    input_->closed.store(true);
    for (unsigned i = 0; i < publishers_; ++i) input_->room.post();
    input_->queue.disableCallback();
  }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    Input& input = *input_;
    return kit::take_up_to<most_per_take>([&]() noexcept { return input.queue.read(false); },
                                          [&](const Octets* message) noexcept {
                                            if (input.bounded) input.room.post();
                                            visitor(std::span<const std::byte>(message->span()));
                                          });
  }

  /// Waits on the semaphore that read() posts for each message, because waits on YARP's queue have no timeout.
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept {
    while (input_->announced.check()) {
    }
    return input_->queue.check() || input_->announced.waitWithTimeout(std::chrono::duration<double>(timeout).count());
  }

  void listen(Listener listener) {
    input_->listener = listener;
    input_->queue.useCallback(*input_);
  }
  void silence() { input_->queue.disableCallback(); }

  [[nodiscard]] std::size_t publishers_found() {
    return std::min<std::size_t>(static_cast<std::size_t>(std::max(input_->port.getInputCount(), 0)), publishers_);
  }

 private:
  struct Input final : kit::Pinned, ::yarp::os::PortReader, ::yarp::os::TypedReaderCallback<Octets> {
    Input(const Settings& settings, const Options& options, const Topic& topic)
        : blocks(settings.reception == Reception::block),
          strict(topic.reliability == Reliability::reliable),
          bounded(options.queue(topic).has_value()),
          room(options.queue(topic).value_or(0)),
          queue(topic.message_bytes) {
      queue.setStrict(bounded);
      queue.attach(port);
      port.setReader(*this);  // the port passes messages to read(), which queues them
      port.setOutputMode(false);
    }
    ~Input() override { port.close(); }

    /// YARP calls this on a connection's thread. If the queue is full, it waits for room and reads nothing more from
    /// that connection meanwhile. With best effort it drops the message instead.
    bool read(::yarp::os::ConnectionReader& connection) override {
      if (!connection.isValid()) return queue.read(connection);  // false while the port closes
      const auto* const reference = dynamic_cast<const Octets*>(connection.getReference());
      if (bounded && !closed.load()) {
        if (strict) {
          room.wait();
        } else if (!room.check()) {
          return reference != nullptr || Octets::skip(connection);
        }
      }
      const bool ok = reference != nullptr ? queue.take_in(*reference) : queue.read(connection);
      if (!ok && bounded) room.post();
      if (blocks) announced.post();
      return ok;
    }

    /// YARP calls this on the thread that it starts for the queue's callbacks.
    void onRead(Octets& message) override {
      if (bounded) room.post();  // first, because the next message may arrive before this thread continues
      listener(message.span());
    }

    const bool blocks;
    const bool strict;
    const bool bounded;
    std::atomic<bool> closed{false};
    ::yarp::os::Semaphore room;  ///< the number of free slots in the queue
    ::yarp::os::Semaphore announced{0};
    Listener listener;
    ::yarp::os::Port port;
    Queue queue;  // the last member, so that it is destroyed first: it closes the port
  };

  const unsigned publishers_;
  Lasting<Input> input_;
};

}  // namespace middlemark::yarp
