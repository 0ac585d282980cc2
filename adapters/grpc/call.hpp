// Request and reply: a unary call. Hot file: while the roles run, our code here does not allocate, log or throw.
//
// gRPC does not report whether the other side exists. So each client sends an empty request, the greeting, before the
// start.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/deadline.hpp>
#include <middlemark/kit/last_failure.hpp>
#include <middlemark/kit/take.hpp>

#include "trial.hpp"

namespace middlemark::rpc {

inline const char* words_of(grpc::StatusCode code) noexcept {
  return code == grpc::StatusCode::UNAVAILABLE ? "UNAVAILABLE" : "not answered (another grpc::StatusCode)";
}

class Client : kit::Pinned {
 public:
  Client(const Trial& trial, const Topic& service)
      : trial_(trial), service_(service), listens_(trial.settings.reception == Reception::listen) {}
  ~Client() {
    static_cast<void>(cancel());
    queue_.end();
  }

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept { return room_in(request_, bytes); }

  /// Begins the call and writes as many bytes as the socket accepts; take() and wait() write the rest.
  [[nodiscard]] Published publish() noexcept {
    if (calls_.load() > 0 && !cancel()) [[unlikely]]
      return Published::timed_out;
    begin();
    return Published::ok;
  }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    return held_.take<1>([this]() noexcept { return receive(std::chrono::nanoseconds(0)); },
                         [&](bool) noexcept { visitor(bytes_of(call().reply)); });
  }
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept { return held_ || held_.hold(receive(timeout)); }
  void listen(Listener listener) { delivery_.begin(listener); }
  void silence() { delivery_.end(); }

  [[nodiscard]] std::size_t matched() {
    if (!stub_) {
      stub_ = find_server(trial_, service_, 0);
      if (!stub_) return 0;
      begin();
    }
    if (!greeted_ && !listens_) greeted_ = receive(std::chrono::nanoseconds(0));
    return greeted_ ? 1 : 0;
  }

  [[nodiscard]] std::string last_error() const { return failure_.text(); }

 private:
  struct Call {
    std::optional<grpc::ClientContext> context;
    Payload reply;
    grpc::Status status;
    std::unique_ptr<grpc::ClientAsyncResponseReader<Payload>> reader;
  };

  [[nodiscard]] Call& call() noexcept { return all_[turn_]; }

  void begin() noexcept {
    turn_ = 1 - turn_;  // two calls alternate, because under `listen` the callback of one call may begin the next
    Call& next = call();
    next.reader.reset();
    next.context.emplace();
    next.context->set_wait_for_ready(!greeted_);
    calls_.fetch_add(1);
    if (listens_) {
      stub_->async()->Call(&*next.context, &request_, &next.reply,
                           [this, &next](const grpc::Status& status) { conclude(next, status); });
    } else {
      next.reader = stub_->AsyncCall(&*next.context, request_, queue_.get());
      next.reader->Finish(&next.reply, &next.status, &next);
    }
  }

  /// Called on one of gRPC's threads when the call has ended: passes the reply to the listener.
  void conclude(Call& ended, const grpc::Status& status) noexcept {
    calls_.fetch_sub(1);
    if (!status.ok()) return failure_.note("grpc::Call", status.error_code());
    if (delivery_.begun()) {
      delivery_(bytes_of(ended.reply));
    } else {
      greeted_ = true;
    }
  }

  /// Returns true if the reply has arrived.
  [[nodiscard]] bool receive(std::chrono::nanoseconds timeout) noexcept {
    const auto event = queue_.next(timeout);
    if (!event) return false;
    calls_.fetch_sub(1);
    const grpc::Status& status = static_cast<Call*>(event->tag)->status;
    if (status.ok()) [[likely]]
      return true;
    failure_.note("grpc::Call", status.error_code());
    return false;
  }

  /// Cancels the running call. Returns false if the call still runs after `patience`.
  [[nodiscard]] bool cancel() noexcept {
    held_.drop();
    if (calls_.load() == 0) return true;
    call().context->TryCancel();
    if (listens_) return kit::wait_until([this] { return calls_.load() == 0; }, patience);
    static_cast<void>(receive(patience));
    return calls_.load() == 0;
  }

  const Trial& trial_;
  const Topic service_;
  const bool listens_;
  std::unique_ptr<Bytes::Stub> stub_;
  Queue queue_;
  Delivery delivery_;
  Payload request_;
  std::array<Call, 2> all_;
  std::size_t turn_ = 0;
  std::atomic<int> calls_{0};  ///< running calls: 0 or 1
  std::atomic<bool> greeted_{false};
  kit::Held<bool> held_;
  kit::LastFailure<&words_of> failure_;
};

/// Receives requests from its completion queue, or under `listen` on gRPC's threads.
class Server : kit::Pinned {
 public:
  Server(const Trial& trial, const Topic& service)
      : listens_(trial.settings.reception == Reception::listen),
        timeout_(trial.settings.write_timeout),
        host_(trial, service, 0, listens_ ? static_cast<grpc::Service&>(called_) : queued_, !listens_) {
    if (listens_) return;
    // Make one slot more than there are clients, because a client's next request may arrive before the server has sent
    // all of the last reply.
    for (unsigned i = 0; i <= service.publishers; ++i) await(*slots_.emplace_back(std::make_unique<Slot>()));
  }
  ~Server() { host_.end(); }

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept { return room_in(*reply_, bytes); }
  /// Starts sending the reply. gRPC sends it during the next take() or wait(), or under `listen` on its own threads.
  [[nodiscard]] Published publish() noexcept {
    answered_ = true;
    if (current_ != nullptr) answer(*current_, grpc::Status::OK);
    return Published::ok;
  }

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    return held_.take<most_messages>([this]() noexcept { return next(std::chrono::nanoseconds(0)); },
                                     [&](Slot* slot) noexcept { visit(*slot, visitor); });
  }
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept { return held_ || held_.hold(next(timeout)); }
  void listen(Listener listener) { delivery_.begin(listener); }
  void silence() { delivery_.end(); }

  [[nodiscard]] std::size_t matched() {
    if (!listens_) static_cast<void>(wait(std::chrono::nanoseconds(0)));
    return clients_;
  }

  [[nodiscard]] std::string last_error() const { return failure_.text(); }

 private:
  /// The state of one call: awaited, visited or being answered.
  struct Slot {
    std::optional<grpc::ServerContext> context;
    std::optional<grpc::ServerAsyncResponseWriter<Payload>> writer;
    Payload request;
    bool answering = false;
  };
  struct CallbackService : Bytes::CallbackService {
    explicit CallbackService(Server& owner) : server(owner) {}
    grpc::ServerUnaryReactor* Call(grpc::CallbackServerContext* context, const Payload* request,
                                   Payload* reply) override {
      grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
      reactor->Finish(server.serve(*request, *reply));
      return reactor;
    }
    Server& server;
  };

  void await(Slot& slot) noexcept {
    slot.answering = false;
    slot.writer.reset();
    slot.context.emplace();
    slot.writer.emplace(&*slot.context);
    queued_.RequestCall(&*slot.context, &slot.request, &*slot.writer, host_.calls(), host_.calls(), &slot);
  }
  void answer(Slot& slot, const grpc::Status& status) noexcept {
    slot.answering = true;
    if (status.ok()) {
      slot.writer->Finish(*reply_, status, &slot);
    } else {
      slot.writer->FinishWithError(status, &slot);
    }
  }

  /// Returns the slot of the next request; null if the timeout has passed. Answers greetings meanwhile.
  [[nodiscard]] Slot* next(std::chrono::nanoseconds timeout) noexcept {
    for (const kit::Deadline deadline(timeout);;) {
      const auto event = host_.queue().next(deadline.left());
      if (!event) return nullptr;
      Slot& slot = *static_cast<Slot*>(event->tag);
      if (slot.answering) {
        if (!event->ok) failure_.note("grpc::ServerAsyncResponseWriter::Finish", grpc::StatusCode::CANCELLED);
        await(slot);
      } else if (!event->ok) {
        return nullptr;  // the server is shutting down
      } else if (slot.request.data().empty()) {
        ++clients_;
        reply_->clear_data();
        answer(slot, grpc::Status::OK);
      } else {
        return &slot;
      }
    }
  }

  template <class Visitor>
  void visit(Slot& slot, Visitor& visitor) noexcept {
    current_ = &slot;
    answered_ = false;
    visitor(bytes_of(slot.request));
    if (!answered_) answer(slot, unanswered());
    current_ = nullptr;
  }

  /// Passes a request to the listener and returns the status of the call. Called on gRPC's threads, possibly on several
  /// at the same time.
  grpc::Status serve(const Payload& request, Payload& reply) noexcept {
    if (request.data().empty()) {
      ++clients_;
      return grpc::Status::OK;
    }
    // Wait for listen(), because the first request may arrive before that call.
    if (!delivery_.begun() && !kit::wait_until([this] { return delivery_.begun(); }, timeout_)) return unanswered();
    bool answered = false;
    const auto before = [&] {
      reply_ = &reply;
      answered_ = false;
    };
    delivery_(bytes_of(request), before, [&] { answered = answered_; });
    return answered ? grpc::Status::OK : unanswered();
  }
  [[nodiscard]] static grpc::Status unanswered() { return {grpc::StatusCode::ABORTED, "not answered"}; }

  const bool listens_;
  const std::chrono::nanoseconds timeout_;
  Delivery delivery_;
  Bytes::AsyncService queued_;
  CallbackService called_{*this};
  std::vector<std::unique_ptr<Slot>> slots_;
  Payload own_reply_;
  Payload* reply_ = &own_reply_;  ///< the reply that loan() and publish() write
  Slot* current_ = nullptr;       ///< the call whose request is being visited; null under `listen`
  kit::Held<Slot*> held_;
  bool answered_ = false;
  std::atomic<std::size_t> clients_{0};
  kit::LastFailure<&words_of> failure_;
  Host host_;  // last, so that it is destroyed before the members that its calls use
};

}  // namespace middlemark::rpc
