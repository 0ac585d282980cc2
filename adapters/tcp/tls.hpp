// TLS over the connections of a trial with security. Both sides present a certificate of the trial's authority before
// any message is sent. Only Channel::read() and write() are on the hot path; they do not allocate, log or throw.
#pragma once

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/objects.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <middlemark/kit/credentials.hpp>
#include <middlemark/kit/last_failure.hpp>
#include <middlemark/kit/links.hpp>
#include <middlemark/kit/pinned.hpp>
#include <middlemark/kit/socket.hpp>

namespace middlemark::tls {

/// Returns the text of an error: a code of OpenSSL, a negated errno, or 0 if the other side has ended the connection.
[[nodiscard]] inline const char* words_of(long code) noexcept {
  if (code == 0) return "the other side has ended the connection";
  if (code < 0) return std::strerror(static_cast<int>(-code));
  const char* const words = ERR_reason_error_string(static_cast<unsigned long>(code));
  return words != nullptr ? words : "OpenSSL reports no reason";
}
/// Returns the code of the last failure (see words_of()) and clears OpenSSL's queue of errors for this thread.
[[nodiscard]] inline long last_code() noexcept {
  const int error = errno;
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  return code != 0 ? static_cast<long>(code) : -static_cast<long>(error);
}
[[noreturn]] inline void fail(const std::string& what, long code) {
  throw AdapterError("tcp: " + what + ": " + words_of(code));
}

/// This process's certificate and key, and the authority that it trusts.
class Context : kit::Pinned {
 public:
  explicit Context(const Settings& settings) : context_(SSL_CTX_new(TLS_method())) {
    if (!context_) fail("SSL_CTX_new()", last_code());
    const kit::Credentials mine(settings);
    SSL_CTX* const context = context_.get();
    demand(SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION), "TLS 1.3");
    demand(SSL_CTX_load_verify_file(context, mine.authority().c_str()), mine.authority());
    demand(SSL_CTX_use_certificate_chain_file(context, mine.certificate().c_str()), mine.certificate());
    demand(SSL_CTX_use_PrivateKey_file(context, mine.key().c_str(), SSL_FILETYPE_PEM), mine.key());
    demand(SSL_CTX_check_private_key(context), mine.key());
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_num_tickets(context, 0);  // connections of a trial are never resumed
    // Each recv() reads all available bytes. Without read-ahead the first recv() reads only the 5 bytes of a record's header.
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_default_read_buffer_len(context, read_buffer_bytes);
  }
  [[nodiscard]] SSL_CTX* get() const noexcept { return context_.get(); }

 private:
  static constexpr std::size_t read_buffer_bytes = 128 << 10;

  struct Free {
    void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
  };

  static void demand(long done, const std::string& what) {
    if (done != 1) fail(what, last_code());
  }

  std::unique_ptr<SSL_CTX, Free> context_;
};

/// One TLS connection. Two threads may use it: a writing role's and a reading role's. OpenSSL allows only one at a
/// time, so each call takes a lock and never sleeps.
class Channel : kit::Pinned {
 public:
  /// `accepted`: this side has accepted the connection.
  Channel(const Context& context, int fd, bool accepted) : ssl_(SSL_new(context.get())), fd_(fd) {
    if (!ssl_ || SSL_set_fd(ssl_.get(), fd) != 1) fail("SSL_new()", last_code());
    if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0) kit::fail("fcntl() of a connection");
    accepted ? SSL_set_accept_state(ssl_.get()) : SSL_set_connect_state(ssl_.get());
  }

  /// Continues the handshake without waiting, and returns true when both sides have confirmed. On the connecting side,
  /// TLS finishes the handshake before the other side has checked the certificate. So each side sends a byte when it
  /// has checked the other's certificate.
  [[nodiscard]] bool is_ready() {
    const std::lock_guard lock(mutex_);
    char byte = 'k';
    if (stage_ == Stage::handshake && done(SSL_do_handshake(ssl_.get()))) stage_ = Stage::confirming;
    if (stage_ == Stage::confirming && done(SSL_write(ssl_.get(), &byte, 1))) stage_ = Stage::awaiting;
    if (stage_ == Stage::awaiting && done(SSL_read(ssl_.get(), &byte, 1))) stage_ = Stage::ready;
    return stage_ == Stage::ready;
  }

  /// Returns the number of bytes that were accepted. Returns 0 if there is no room now; then pass the same bytes again
  /// later. Returns a negative number if disconnected.
  [[nodiscard]] long write(const std::byte* from, std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    std::size_t taken = 0;
    if (SSL_write_ex(ssl_.get(), from, bytes, &taken) == 1) [[likely]]
      return static_cast<long>(taken);
    return outcome("SSL_write");
  }
  /// Returns the number of bytes that were received; 0 if there are none now; negative if disconnected.
  [[nodiscard]] long read(std::byte* to, std::size_t room) noexcept {
    const std::lock_guard lock(mutex_);
    std::size_t got = 0;
    if (SSL_read_ex(ssl_.get(), to, room, &got) == 1) return static_cast<long>(got);
    return outcome("SSL_read");
  }
  /// Returns true if OpenSSL has buffered received bytes, because poll() does not report these.
  [[nodiscard]] bool holds_some() noexcept {
    const std::lock_guard lock(mutex_);
    return SSL_has_pending(ssl_.get()) == 1;
  }

  [[nodiscard]] int fd() const noexcept { return fd_; }
  [[nodiscard]] std::string last_error() const { return failure_.text(); }

  /// Returns the algorithms in use, such as "TLSv1.3: TLS_AES_256_GCM_SHA384, x25519, certificates of EC, 256 bits".
  [[nodiscard]] std::string protected_by() const {
    SSL* const ssl = ssl_.get();
    const std::unique_ptr<X509, decltype(&X509_free)> peer(SSL_get1_peer_certificate(ssl), &X509_free);
    const EVP_PKEY* const key = peer ? X509_get0_pubkey(peer.get()) : nullptr;
    if (key == nullptr) return {};
    const char* const group = SSL_group_to_name(ssl, static_cast<int>(SSL_get_negotiated_group(ssl)));
    return std::string(SSL_get_version(ssl)) + ": " + SSL_get_cipher_name(ssl) + ", " +
           (group != nullptr ? group : "a group without a name") + ", certificates of " + EVP_PKEY_get0_type_name(key) +
           ", " + std::to_string(EVP_PKEY_get_bits(key)) + " bits";
  }

 private:
  enum class Stage { handshake, confirming, awaiting, ready };
  struct Free {
    void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
  };

  [[nodiscard]] bool done(int result) {
    if (result > 0) return true;
    const int error = SSL_get_error(ssl_.get(), result);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return false;
    fail("TLS with another process of the trial", error == SSL_ERROR_ZERO_RETURN ? 0 : last_code());
  }

  [[nodiscard]] long outcome(const char* call) noexcept {
    const int error = SSL_get_error(ssl_.get(), 0);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return 0;
    failure_.note(call, error == SSL_ERROR_ZERO_RETURN ? 0 : last_code());
    return -1;
  }

  const std::unique_ptr<SSL, Free> ssl_;
  const int fd_;
  std::mutex mutex_;
  Stage stage_ = Stage::handshake;
  kit::LastFailure<&words_of> failure_;
};

/// The channels of one process, one for each connection.
class Channels : kit::Pinned {
 public:
  Channels(const Settings& settings, const kit::Links& links) : context_(settings), listener_(links.listener()) {}

  /// Returns the channel over the connection `fd`; null while its handshake lasts. Throws AdapterError if the handshake
  /// failed.
  [[nodiscard]] Channel* find(int fd) {
    const std::lock_guard lock(mutex_);
    auto found = std::ranges::find_if(channels_, [fd](const auto& channel) { return channel->fd() == fd; });
    if (found == channels_.end())
      found = channels_.insert(found, std::make_unique<Channel>(context_, fd, accepted(fd)));
    return (*found)->is_ready() ? found->get() : nullptr;
  }

  [[nodiscard]] std::string protected_by() const {
    const std::lock_guard lock(mutex_);
    return channels_.empty() ? "" : channels_.front()->protected_by();
  }

 private:
  /// Returns true if this side has accepted the connection. Its local port is then the listener's.
  [[nodiscard]] bool accepted(int fd) const { return port_of(fd) == port_of(listener_); }
  [[nodiscard]] static in_port_t port_of(int fd) {
    sockaddr_in address{};
    std::memcpy(&address, kit::address_of(fd).get(), sizeof address);
    return address.sin_port;
  }

  const Context context_;
  const int listener_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Channel>> channels_;
};

}  // namespace middlemark::tls
