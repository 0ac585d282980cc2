// A publisher that encrypts a message into memory, and a subscriber that decrypts it. Hot file: once publisher and
// subscriber are open, nothing here allocates, locks or throws.
#pragma once

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/memory.hpp>
#include <middlemark/kit/pinned.hpp>

namespace middlemark::seals {

inline constexpr std::size_t key_bytes = 32;
inline constexpr std::size_t tag_bytes = 16;
using Key = std::array<unsigned char, key_bytes>;
using Tag = std::array<unsigned char, tag_bytes>;
/// AES-GCM's nonce. It is a counter, so that no two messages are encrypted with the same key and nonce.
using Nonce = std::array<unsigned char, 12>;

/// AES-256-GCM in one direction. The key schedule is computed once, as it is for a TLS connection.
class Cipher : kit::Pinned {
 public:
  Cipher(const Key& key, bool encrypts) : context_(EVP_CIPHER_CTX_new()) {
    const auto init = encrypts ? &EVP_EncryptInit_ex : &EVP_DecryptInit_ex;
    if (!context_ || init(context_.get(), EVP_aes_256_gcm(), nullptr, key.data(), nullptr) != 1) {
      throw AdapterError("aes-gcm: this OpenSSL has no AES-256-GCM");
    }
  }

  [[nodiscard]] bool encrypt(std::span<const std::byte> from, std::byte* to, const Nonce& nonce, Tag& tag) noexcept {
    EVP_CIPHER_CTX* const context = context_.get();
    int bytes = 0;
    return EVP_EncryptInit_ex(context, nullptr, nullptr, nullptr, nonce.data()) == 1 &&
           EVP_EncryptUpdate(context, octets(to), &bytes, octets(from.data()), static_cast<int>(from.size())) == 1 &&
           EVP_EncryptFinal_ex(context, octets(to) + bytes, &bytes) == 1 &&
           EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, tag_bytes, tag.data()) == 1;
  }
  /// Returns false if OpenSSL fails, or if the message differs from what was encrypted.
  [[nodiscard]] bool decrypt(std::span<const std::byte> from, std::byte* to, const Nonce& nonce, Tag& tag) noexcept {
    EVP_CIPHER_CTX* const context = context_.get();
    int bytes = 0;
    return EVP_DecryptInit_ex(context, nullptr, nullptr, nullptr, nonce.data()) == 1 &&
           EVP_DecryptUpdate(context, octets(to), &bytes, octets(from.data()), static_cast<int>(from.size())) == 1 &&
           EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, tag_bytes, tag.data()) == 1 &&
           EVP_DecryptFinal_ex(context, octets(to) + bytes, &bytes) == 1;
  }

 private:
  struct Free {
    void operator()(EVP_CIPHER_CTX* context) const noexcept { EVP_CIPHER_CTX_free(context); }
  };
  static unsigned char* octets(std::byte* bytes) noexcept { return reinterpret_cast<unsigned char*>(bytes); }
  static const unsigned char* octets(const std::byte* bytes) noexcept {
    return reinterpret_cast<const unsigned char*>(bytes);
  }

  std::unique_ptr<EVP_CIPHER_CTX, Free> context_;
};

/// The encrypted message between publish() and take().
struct Mirror {
  explicit Mirror(std::size_t bytes) : sealed(bytes) {
    if (RAND_bytes(key.data(), key_bytes) != 1) throw AdapterError("aes-gcm: OpenSSL gives no random key");
  }
  Key key{};
  Nonce nonce{};
  Tag tag{};
  kit::Memory sealed;
  bool holds_message = false;
};

class Publisher {
 public:
  explicit Publisher(std::shared_ptr<Mirror> mirror)
      : mirror_(std::move(mirror)), plain_(mirror_->sealed.size()), cipher_(mirror_->key, true) {}

  std::span<std::byte> loan(std::size_t /*bytes*/) noexcept { return plain_.span(); }
  Published publish() noexcept {
    ++number_;
    std::memcpy(mirror_->nonce.data(), &number_, sizeof number_);
    mirror_->holds_message = cipher_.encrypt(plain_.span(), mirror_->sealed.data(), mirror_->nonce, mirror_->tag);
    return mirror_->holds_message ? Published::ok : Published::failed;
  }
  [[nodiscard]] static std::size_t matched() noexcept { return 0; }

 private:
  std::shared_ptr<Mirror> mirror_;
  kit::Memory plain_;
  Cipher cipher_;
  std::uint64_t number_ = 0;
};

/// Decrypts each message into separate memory. The core then checks the content of this memory as usual.
class Subscriber {
 public:
  explicit Subscriber(std::shared_ptr<Mirror> mirror)
      : mirror_(std::move(mirror)), decrypted_(mirror_->sealed.size()), cipher_(mirror_->key, false) {}

  template <class Visitor>
  std::size_t take(Visitor& visitor) noexcept {
    if (!mirror_->holds_message) return 0;
    mirror_->holds_message = false;
    if (!cipher_.decrypt(mirror_->sealed.span(), decrypted_.data(), mirror_->nonce, mirror_->tag)) return 0;
    visitor(std::span<const std::byte>(decrypted_.span()));
    return 1;
  }
  bool wait(std::chrono::nanoseconds /*timeout*/) noexcept { return mirror_->holds_message; }

 private:
  std::shared_ptr<Mirror> mirror_;
  kit::Memory decrypted_;
  Cipher cipher_;
};

}  // namespace middlemark::seals
