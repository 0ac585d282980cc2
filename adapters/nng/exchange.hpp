// Request and reply with REQ and REP sockets, which never drop messages: if the peer does not read, the sender waits.
#pragma once

#include <nng/protocol/reqrep0/rep.h>
#include <nng/protocol/reqrep0/req.h>

#include "ends.hpp"

namespace middlemark::nng {

/// A REQ socket. When a receive on a REQ socket times out, NNG also cancels the request. So wait() does not receive but
/// polls the socket's descriptor, and under listen() a receive lasts until the next request cancels it.
class Client : public Writing, public Receiver {
 public:
  Client(const Trial& trial, const Topic& service)
      : Writing(trial, service), Receiver(trial, MIDDLEMARK_NNG(req0), false), server_(service.name + ".nng") {
    socket_.set(NNG_OPT_REQ_RESENDTIME, trial.options.resend_time);
    check(nng_socket_get_int(socket_.get(), NNG_OPT_RECVFD, &readable_), "NNG_OPT_RECVFD");
  }

  [[nodiscard]] Published publish() noexcept {
    Message message = letter(true);
    if (!message) return outcome(NNG_ENOMEM);
    sending_.begin_to_send(socket_, std::move(message), trial_.write_timeout);
    const int code = sending_.sent();
    if (code == 0 && listening_) {
      listening_->wait();  // until the callback of the previous request has returned
      listening_->begin_to_receive(socket_, NNG_DURATION_INFINITE);
    }
    return outcome(code);
  }

  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept { return kit::wait_readable(readable_, timeout); }
  void listen(Listener listener) { prepare_to_listen(listener); }

  [[nodiscard]] std::size_t matched() {
    dialled_ = dialled_ || trial_.dial(socket_, server_);
    return socket_.pipes();
  }

 private:
  const std::string server_;
  int readable_ = -1;
  bool dialled_ = false;
  Operation sending_;
};

class Server : public Writing, public Receiver {
 public:
  Server(const Trial& trial, const Topic& service) : Writing(trial, service), Receiver(trial, MIDDLEMARK_NNG(rep0)) {
    trial.listen(socket_, service.name + ".nng");
  }

  /// Sends the reply to the request that is being visited. NNG replies to the last request that it delivered.
  [[nodiscard]] Published publish() noexcept {
    Message message = letter(true);
    if (!message) return outcome(NNG_ENOMEM);
    sending_.begin_to_send(socket_, std::move(message), trial_.write_timeout);
    return outcome(sending_.sent());
  }

  [[nodiscard]] std::size_t matched() const { return socket_.pipes(); }

 private:
  Operation sending_;
};

}  // namespace middlemark::nng
