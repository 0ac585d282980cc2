// Code that publishers, subscribers, clients and servers share: the completion queue through which the role's thread
// reads and writes the connections, the server to which others connect, and the channel to such a server.
#pragma once

#include <grpc/support/time.h>
#include <grpcpp/grpcpp.h>
#include <sys/socket.h>

#include <bytes.grpc.pb.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/pinned.hpp>
#include <middlemark/kit/socket.hpp>
#include <middlemark/kit/trial.hpp>

#include "options.hpp"

namespace middlemark::rpc {

using middlemark_grpc::Bytes;
using middlemark_grpc::Payload;
using middlemark_grpc::Subscription;

/// The longest time that cancelling a call or closing a queue may take.
inline constexpr std::chrono::seconds patience{5};
/// The most messages that one take() of a subscriber or server visits.
inline constexpr std::size_t most_messages = 256;

using Trial = kit::Trial<Options>;

/// The name of the file into which a publisher or server writes its address.
[[nodiscard]] inline std::string note_of(const Topic& topic, unsigned index) {
  return topic.name + ".grpc." + std::to_string(index);
}

[[nodiscard]] inline std::span<const std::byte> bytes_of(const Payload& payload) noexcept {
  return std::as_bytes(std::span(payload.data()));
}
/// Returns the payload's own memory with `bytes` bytes, so that the role writes the message in place.
[[nodiscard]] inline std::span<std::byte> room_in(Payload& payload, std::size_t bytes) noexcept {
  std::string& data = *payload.mutable_data();
  data.resize(bytes);  // does not allocate after the first loan, which has the largest size
  return std::as_writable_bytes(std::span(data));
}

/// A completion queue. The thread that waits in next() reads and writes the sockets of the queue's calls.
class Queue : kit::Pinned {
 public:
  struct Event {
    void* tag = nullptr;
    bool ok = false;
  };

  Queue() : Queue(std::make_unique<grpc::CompletionQueue>()) {}
  explicit Queue(std::unique_ptr<grpc::CompletionQueue> queue) : queue_(std::move(queue)) {}
  ~Queue() { end(); }

  /// Returns the next completed operation; nullopt if there was none within `timeout`. gRPC rounds the timeout up to a
  /// millisecond. With a timeout of 0 it does not wait.
  [[nodiscard]] std::optional<Event> next(std::chrono::nanoseconds timeout) noexcept {
    const gpr_timespec until = timeout.count() <= 0 ? gpr_inf_past(GPR_CLOCK_MONOTONIC)
                                                    : gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                                                                   gpr_time_from_nanos(timeout.count(), GPR_TIMESPAN));
    Event event;
    if (queue_->AsyncNext(&event.tag, &event.ok, until) != grpc::CompletionQueue::GOT_EVENT) return std::nullopt;
    return event;
  }

  /// Shuts the queue down and removes all remaining events. The calls must have been cancelled before, and the objects
  /// that they use must exist until this function returns.
  void end() {
    if (!queue_) return;
    queue_->Shutdown();
    Event event;
    for (const auto until = std::chrono::system_clock::now() + patience;;) {
      switch (queue_->AsyncNext(&event.tag, &event.ok, until)) {
        case grpc::CompletionQueue::GOT_EVENT:
          continue;
        case grpc::CompletionQueue::SHUTDOWN:
          queue_.reset();
          return;
        case grpc::CompletionQueue::TIMEOUT:  // destroying the queue now would make gRPC end the process
          static_cast<void>(queue_.release());
          return;
      }
    }
  }

  [[nodiscard]] grpc::CompletionQueue* get() const noexcept { return queue_.get(); }

 private:
  std::unique_ptr<grpc::CompletionQueue> queue_;
};

/// A gRPC server with one service. It writes its address to a file in the trial's folder. Each publisher and each
/// server has its own Host, because a completion queue belongs to one gRPC server and is used by one thread.
class Host : kit::Pinned {
 public:
  /// `queued`: calls arrive through queue(). Otherwise gRPC's own threads call the service.
  Host(const Trial& trial, const Topic& topic, unsigned index, grpc::Service& service, bool queued) {
    const std::string name = note_of(topic, index);
    const bool unix_socket = trial.settings.transport == "uds";
    const std::string ip = unix_socket ? "" : kit::ipv4_text(trial.settings.interface);
    // An abstract name belongs to the network namespace: it leaves no file, and its length does not depend on the path
    // of a folder.
    const std::string address = unix_socket ? "unix-abstract:" + name : "ipv4:" + ip + ":0";
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort(unix_socket ? address : ip + ":0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&service);
    trial.options.build(builder);
    std::unique_ptr<grpc::ServerCompletionQueue> queue;
    if (queued) queue = builder.AddCompletionQueue();
    calls_ = queue.get();
    server_ = builder.BuildAndStart();
    if (queue) queue_.emplace(std::move(queue));
    if (!server_)
      throw AdapterError("grpc: no server could be started at " + address,
                         "check that no other trial uses this address");
    trial.notes.leave(name, unix_socket ? address : "ipv4:" + ip + ":" + std::to_string(port));
  }
  ~Host() { end(); }

  /// Cancels the running calls and shuts the server and the queue down.
  void end() {
    if (server_) server_->Shutdown(std::chrono::system_clock::now());
    if (queue_) queue_->end();
  }

  [[nodiscard]] Queue& queue() noexcept { return *queue_; }
  [[nodiscard]] grpc::ServerCompletionQueue* calls() const noexcept { return calls_; }

 private:
  grpc::ServerCompletionQueue* calls_ = nullptr;
  std::unique_ptr<grpc::Server> server_;
  std::optional<Queue> queue_;
};

/// Returns a stub for the server; null if the server has not written its address yet.
[[nodiscard]] inline std::unique_ptr<Bytes::Stub> find_server(const Trial& trial, const Topic& topic, unsigned index) {
  const auto address = trial.notes.find(note_of(topic, index));
  if (!address) return nullptr;
  return Bytes::NewStub(
      grpc::CreateCustomChannel(*address, grpc::InsecureChannelCredentials(), trial.options.channel()));
}

/// Passes messages from gRPC's threads to the listener. Several messages may arrive at the same time, but the listener
/// is called for one at a time.
class Delivery : kit::Pinned {
 public:
  void begin(Listener listener) {
    const std::lock_guard lock(mutex_);
    listener_ = listener;
    begun_.store(true);
  }
  void end() {
    const std::lock_guard lock(mutex_);
    listener_ = {};
  }
  [[nodiscard]] bool begun() const noexcept { return begun_.load(); }

  void operator()(std::span<const std::byte> message) noexcept {
    const std::lock_guard lock(mutex_);
    listener_(message);
  }
  /// Calls `before`, the listener and `after`. No other message is passed to the listener meanwhile.
  template <class Before, class After>
  void operator()(std::span<const std::byte> message, Before&& before, After&& after) noexcept {
    const std::lock_guard lock(mutex_);
    before();
    listener_(message);
    after();
  }

 private:
  std::mutex mutex_;
  Listener listener_;
  std::atomic<bool> begun_{false};
};

}  // namespace middlemark::rpc
