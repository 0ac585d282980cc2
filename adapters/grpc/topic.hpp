// Publisher and subscriber of a topic: server streaming. Hot file: while the roles run, our code here does not
// allocate, log or throw.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/deadline.hpp>
#include <middlemark/kit/last_failure.hpp>
#include <middlemark/kit/take.hpp>

#include "trial.hpp"

namespace middlemark::rpc {

/// Returns the text for every error, because gRPC reports no reason for a failed read or write of a stream.
inline const char* ended(int /*code*/) noexcept { return "the stream has ended"; }

/// A server with one stream to each subscriber. Only one Write() of a stream may run at a time. It completes when the
/// kernel has taken the whole message, so full HTTP/2 windows and full socket buffers block the publisher.
class Publisher : kit::Pinned {
 public:
  Publisher(const Trial& trial, const Topic& topic, unsigned index)
      : timeout_(trial.settings.write_timeout), host_(trial, topic, index, service_, true) {
    static_cast<void>(room_in(message_, topic.message_bytes));
    for (unsigned i = 0; i < topic.subscribers; ++i) {
      Stream& stream = *streams_.emplace_back(std::make_unique<Stream>());
      service_.RequestSubscribe(&stream.context, &stream.subscription, &stream.writer, host_.calls(), host_.calls(),
                                &stream);
    }
  }
  ~Publisher() { host_.end(); }

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept { return room_in(message_, bytes); }

  [[nodiscard]] Published publish() noexcept {
    ++published_;
    std::size_t open = 0;
    for (const auto& stream : streams_) {
      if (stream->ended) continue;
      ++open;
      if (!stream->writing) write(*stream);  // otherwise the stream is still writing a message that timed out
    }
    bool whole = open == streams_.size();
    for (const kit::Deadline deadline(timeout_); open > 0;) {
      const auto event = host_.queue().next(deadline.left());
      if (!event) return Published::timed_out;
      Stream& stream = *static_cast<Stream*>(event->tag);
      stream.writing = false;
      if (!event->ok) [[unlikely]] {
        stream.ended = true;
        whole = false;
      } else if (stream.last != published_) {
        write(stream);
        continue;
      }
      --open;
    }
    if (whole) [[likely]]
      return Published::ok;
    failure_.note("grpc::ServerAsyncWriter::Write", 0);
    return Published::failed;
  }

  /// Returns the number of subscribers whose streams are open. Sends the initial metadata to each new subscriber, which
  /// shows it that its stream is open.
  [[nodiscard]] std::size_t matched() {
    while (subscribed_ < streams_.size()) {
      const auto event = host_.queue().next(std::chrono::nanoseconds(0));
      if (!event) break;
      Stream& stream = *static_cast<Stream*>(event->tag);
      if (!event->ok) throw AdapterError("grpc: a subscriber's stream has ended before the start");
      if (stream.greeted) {
        ++subscribed_;
      } else {
        stream.greeted = true;
        stream.writer.SendInitialMetadata(&stream);
      }
    }
    return subscribed_;
  }

  [[nodiscard]] std::string last_error() const { return failure_.text(); }

 private:
  struct Stream {
    grpc::ServerContext context;
    Subscription subscription;
    grpc::ServerAsyncWriter<Payload> writer{&context};
    bool greeted = false;
    bool writing = false;
    bool ended = false;
    std::uint64_t last = 0;  ///< number of the last message written
  };

  void write(Stream& stream) noexcept {
    stream.last = published_;
    stream.writing = true;
    stream.writer.Write(message_, &stream);
  }

  const std::chrono::nanoseconds timeout_;
  Payload message_;
  Bytes::AsyncService service_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::uint64_t published_ = 0;
  std::size_t subscribed_ = 0;
  kit::LastFailure<&ended> failure_;
  Host host_;  // last, so that it is destroyed before the members that its calls use
};

/// The stream of messages of one publisher, received from the subscriber's completion queue.
struct QueuedStream : kit::Pinned {
  QueuedStream(Bytes::Stub& stub, Queue& queue) : reader(stub.PrepareAsyncSubscribe(&context, {}, queue.get())) {
    context.set_wait_for_ready(true);
    reader->StartCall(this);
  }

  grpc::ClientContext context;
  Payload message;
  bool started = false;
  std::unique_ptr<grpc::ClientAsyncReader<Payload>> reader;
};

/// The stream of messages of one publisher, received on gRPC's own threads.
class CallbackStream : public grpc::ClientReadReactor<Payload>, kit::Pinned {
 public:
  CallbackStream(Bytes::Stub& stub, Delivery& delivery) : delivery_(delivery) {
    context_.set_wait_for_ready(true);
    stub.async()->Subscribe(&context_, &subscription_, this);
    AddHold();  // required because read() is called outside of callbacks
    StartCall();
  }
  ~CallbackStream() {
    context_.TryCancel();
    RemoveHold();
    while (!done_.load()) kit::nap(std::chrono::microseconds(50));
  }

  [[nodiscard]] bool found() const noexcept { return found_.load(); }
  void read() { StartRead(&message_); }

 private:
  void OnReadInitialMetadataDone(bool ok) override { found_.store(ok); }
  void OnReadDone(bool ok) override {
    if (!ok) return;
    delivery_(bytes_of(message_));
    StartRead(&message_);
  }
  void OnDone(const grpc::Status& /*status*/) override { done_.store(true); }

  Delivery& delivery_;
  grpc::ClientContext context_;
  Subscription subscription_;
  Payload message_;
  std::atomic<bool> found_{false};
  std::atomic<bool> done_{false};
};

class Subscriber : kit::Pinned {
 public:
  static constexpr std::size_t most_per_take = most_messages;

  Subscriber(const Trial& trial, const Topic& topic)
      : trial_(trial), topic_(topic), listens_(trial.settings.reception == Reception::listen) {
    stubs_.resize(topic.publishers);
  }
  ~Subscriber() {
    for (const auto& stream : queued_) stream->context.TryCancel();
    queue_.end();
  }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    return held_.take<most_per_take>([this]() noexcept { return next(std::chrono::nanoseconds(0)); },
                                     [&](QueuedStream* stream) noexcept { visit(*stream, visitor); });
  }

  /// Receives at most one message; the next take() visits only this message.
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept { return held_ || held_.hold(next(timeout)); }

  void listen(Listener listener) {
    delivery_.begin(listener);
    for (const auto& stream : called_) stream->read();
  }
  void silence() { delivery_.end(); }

  [[nodiscard]] std::size_t publishers_found() {
    for (unsigned i = 0; i < stubs_.size(); ++i) {
      if (stubs_[i]) continue;
      stubs_[i] = find_server(trial_, topic_, i);
      if (!stubs_[i]) continue;
      if (listens_) {
        called_.push_back(std::make_unique<CallbackStream>(*stubs_[i], delivery_));
      } else {
        queued_.push_back(std::make_unique<QueuedStream>(*stubs_[i], queue_));
      }
    }
    if (listens_) return static_cast<std::size_t>(std::ranges::count_if(called_, &CallbackStream::found));
    while (found_ < stubs_.size()) {
      const auto event = queue_.next(std::chrono::nanoseconds(0));
      if (!event) break;
      QueuedStream& stream = *static_cast<QueuedStream*>(event->tag);
      if (!event->ok) throw AdapterError("grpc: " + topic_.name + ": a publisher's stream could not be opened");
      if (stream.started) {
        ++found_;
      } else {
        stream.started = true;
        stream.reader->ReadInitialMetadata(&stream);
      }
      // The reads begin after all publishers were found, so that no message arrives in this loop.
      if (found_ == stubs_.size()) std::ranges::for_each(queued_, read_from);
    }
    return found_;
  }

  [[nodiscard]] std::string last_error() const { return failure_.text(); }

 private:
  static void read_from(const std::unique_ptr<QueuedStream>& stream) {
    stream->reader->Read(&stream->message, stream.get());
  }

  /// Returns the stream whose next message has arrived; null if the timeout has passed or a stream has ended.
  [[nodiscard]] QueuedStream* next(std::chrono::nanoseconds timeout) noexcept {
    const auto event = queue_.next(timeout);
    if (!event) return nullptr;
    if (event->ok) [[likely]]
      return static_cast<QueuedStream*>(event->tag);
    failure_.note("grpc::ClientAsyncReader::Read", 0);
    return nullptr;
  }
  template <class Visitor>
  void visit(QueuedStream& stream, Visitor& visitor) noexcept {
    visitor(bytes_of(stream.message));
    stream.reader->Read(&stream.message, &stream);
  }

  const Trial& trial_;
  const Topic topic_;
  const bool listens_;
  std::vector<std::unique_ptr<Bytes::Stub>> stubs_;
  Queue queue_;
  Delivery delivery_;
  std::vector<std::unique_ptr<QueuedStream>> queued_;
  std::vector<std::unique_ptr<CallbackStream>> called_;
  std::size_t found_ = 0;
  kit::Held<QueuedStream*> held_;
  kit::LastFailure<&ended> failure_;
};

}  // namespace middlemark::rpc
