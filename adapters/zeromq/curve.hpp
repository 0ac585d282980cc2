// CURVE between the sockets of a trial. The socket that binds is CURVE's server, and the socket that connects is its
// client. Each proves that it has a key that the other knows. ZeroMQ asks by ZAP (RFC 27) whether to accept a client's
// key; a thread of this class answers. Not on the hot path.
#pragma once

#include <zmq.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <middlemark/kit/credentials.hpp>
#include <middlemark/kit/pinned.hpp>
#include <middlemark/settings.hpp>

#include "handles.hpp"

namespace middlemark::zeromq {

/// Suffixes of the key files (in Z85) in the set of certificates.
inline constexpr const char* secret_key = ".curve";
inline constexpr const char* public_key = ".curve.pub";

/// The identities of a trial's workers.
inline constexpr std::array<const char*, 2> parties{"sender", "receiver"};

class Curve : kit::Pinned {
 public:
  Curve(const Context& context, const Settings& settings)
      : context_(context),
        credentials_(settings),
        public_(credentials_.read(credentials_.identity(), public_key)),
        secret_(credentials_.read(credentials_.identity(), secret_key)),
        asked_(context, ZMQ_REP) {
    for (const std::string identity : parties) {
      std::array<std::uint8_t, 32> key{};
      const std::string text = credentials_.read(identity, public_key);
      if (text.size() != 40 || zmq_z85_decode(key.data(), text.c_str()) == nullptr)
        throw AdapterError("zeromq: " + credentials_.path(identity, public_key) + " is not a CURVE key in Z85");
      accepted_.emplace_back(key.begin(), key.end());
    }
    static_cast<void>(asked_.bind("inproc://zeromq.zap.01"));
    thread_ = std::thread([this] { answer(); });
  }
  ~Curve() {
    zmq_ctx_shutdown(context_.get());  // ends the thread; all other sockets are closed already
    thread_.join();
  }

  /// Makes a CURVE server of a socket; call before binding. The socket refuses clients with keys that do not belong to
  /// the trial.
  void serve(Socket& socket) const {
    socket.set(ZMQ_CURVE_SERVER, 1, "ZMQ_CURVE_SERVER");
    socket.set(ZMQ_CURVE_SECRETKEY, secret_, "ZMQ_CURVE_SECRETKEY");
    socket.set(ZMQ_ZAP_DOMAIN, std::string("middlemark"), "ZMQ_ZAP_DOMAIN");
  }
  /// Makes a CURVE client of a socket; call before connecting. The socket refuses a server without the key of the
  /// identity `server`. If `server` is not an identity of the trial, the socket expects the first party's key, so it
  /// refuses that server.
  void call(Socket& socket, const std::string& server) const {
    const std::string party = std::ranges::count(parties, server) != 0 ? server : parties.front();
    socket.set(ZMQ_CURVE_SERVERKEY, credentials_.read(party, public_key), "ZMQ_CURVE_SERVERKEY");
    socket.set(ZMQ_CURVE_PUBLICKEY, public_, "ZMQ_CURVE_PUBLICKEY");
    socket.set(ZMQ_CURVE_SECRETKEY, secret_, "ZMQ_CURVE_SECRETKEY");
  }

 private:
  /// Answers ZAP requests until the context is shut down. The frames of a request are version, request id, domain, address,
  /// routing id, mechanism and key.
  void answer() noexcept {
    while (const std::optional<std::vector<std::string>> question = receive()) {
      const std::vector<std::string>& frames = *question;
      const bool accepted = frames.size() == 7 && frames[5] == "CURVE" && std::ranges::count(accepted_, frames[6]) != 0;
      const std::string request = frames.size() > 1 ? frames[1] : "";
      const std::string status = accepted ? "200" : "400";
      const std::array<std::string, 6> reply{"1.0", request, status,
                                             accepted ? "" : "this key is not one of the trial's"};
      for (std::size_t i = 0; i < reply.size(); ++i) {
        const bool last = i + 1 == reply.size();
        if (!asked_.send(std::as_bytes(std::span(reply[i])), last ? 0 : ZMQ_SNDMORE)) return;
      }
    }
  }

  /// Returns the frames of a ZAP request; nullopt when the context was shut down.
  [[nodiscard]] std::optional<std::vector<std::string>> receive() noexcept {
    std::vector<std::string> frames;
    int more = 1;
    while (more != 0) {
      Frame frame;
      while (!frame.receive(asked_, 0)) {
        if (zmq_errno() != EINTR) return std::nullopt;
      }
      frames.emplace_back(reinterpret_cast<const char*>(frame.bytes().data()), frame.bytes().size());
      std::size_t length = sizeof more;
      if (zmq_getsockopt(asked_.get(), ZMQ_RCVMORE, &more, &length) != 0) return std::nullopt;
    }
    return frames;
  }

  const Context& context_;
  const kit::Credentials credentials_;
  const std::string public_;
  const std::string secret_;
  std::vector<std::string> accepted_;  // the decoded public keys of all parties
  Socket asked_;
  std::thread thread_;
};

}  // namespace middlemark::zeromq
