// Implements the contract's Publisher with a data writer of octets or typed messages.
#pragma once

#include <dds/dds.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <cyclonedds/messages.hpp>
#include <cyclonedds/version.hpp>
#include <cyclonedds/writer.hpp>
#include <middlemark/adapter.hpp>
#include <middlemark/kit/pinned.hpp>

namespace middlemark::cyclonedds {

class Publisher : kit::Pinned {
 public:
  /// `lends`: every message is written into one of iceoryx's chunks. `varies`: each message is a sequence of at most
  /// `bytes` bytes.
  Publisher(Entity writer, const Native& native, MessageType type, std::size_t bytes, bool lends, bool varies)
      : writer_(std::move(writer), native),
        bytes_(bytes),
        lends_(lends),
        typed_(make_message(type, bytes)),
        own_(lends || typed_ ? 0 : bytes),
        memory_(typed_ ? typed_->array() : std::span(own_)),
        sequence_{static_cast<std::uint32_t>(bytes), static_cast<std::uint32_t>(bytes),
                  reinterpret_cast<std::uint8_t*>(own_.data()), false},
        sample_(varies ? static_cast<const void*>(&sequence_) : own_.data()) {}
  ~Publisher() {
    if (lent_ != nullptr) dds_return_loan(writer_.get(), &lent_, 1);
  }

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    if (bytes != bytes_) [[unlikely]] {
      if (sample_ != &sequence_ || bytes > own_.size()) return {};
      bytes_ = bytes;
      sequence_._length = static_cast<std::uint32_t>(bytes);
    }
    if (!lends_) return memory_.first(bytes_);
    if (lent_ == nullptr) {
      if (const dds_return_t code = request_loan(writer_.get(), &lent_); code != DDS_RETCODE_OK) {
        lent_ = nullptr;
        writer_.failure().note("a loan", code);
        return {};
      }
    }
    return {static_cast<std::byte*>(lent_), bytes_};
  }

  [[nodiscard]] Published publish() noexcept {
    if (typed_) return writer_.write(typed_->to_send());
    // dds_write() takes the loan back even if the write fails.
    return writer_.write(lends_ ? std::exchange(lent_, nullptr) : sample_);
  }

  [[nodiscard]] std::size_t matched() { return writer_.matched(); }
  [[nodiscard]] std::string last_error() const { return writer_.last_error(); }

 private:
  Writer writer_;
  std::size_t bytes_;  // size of the current message
  bool lends_;
  std::unique_ptr<kit::TypedMessage> typed_;  // null for octets
  std::vector<std::byte> own_;
  std::span<std::byte> memory_;
  dds_sequence_t sequence_;
  const void* sample_;
  void* lent_ = nullptr;
};

}  // namespace middlemark::cyclonedds
