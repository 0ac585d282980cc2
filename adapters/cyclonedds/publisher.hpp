// A data writer behind the contract's Publisher.
#pragma once

#include <dds/dds.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <middlemark/adapter.hpp>

#include "entity.hpp"
#include "flusher.hpp"

namespace middlemark::cyclonedds {

class Publisher {
 public:
  /// `lends`: every message is written into a chunk of iceoryx's. `flush_after`: the writer gathers small messages.
  Publisher(Entity writer, std::size_t bytes, bool lends, std::optional<std::chrono::nanoseconds> flush_after)
      : writer_(std::move(writer)), bytes_(bytes), lends_(lends), own_(lends ? 0 : bytes) {
    if (flush_after) flusher_.emplace(writer_.get(), *flush_after);
  }
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;
  ~Publisher() {
    if (lent_ != nullptr) dds_return_loan(writer_.get(), &lent_, 1);
  }

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    if (bytes != bytes_) return {};
    if (!lends_) return own_;
    if (lent_ == nullptr) {
      if (const dds_return_t code = dds_loan_sample(writer_.get(), &lent_); code != DDS_RETCODE_OK) {
        lent_ = nullptr;
        failure_.note("dds_loan_sample", code);
        return {};
      }
    }
    return {static_cast<std::byte*>(lent_), bytes_};
  }

  [[nodiscard]] Published publish() noexcept {
    // dds_write takes a loan back whether or not it succeeds.
    const void* message = lends_ ? std::exchange(lent_, nullptr) : own_.data();
    const dds_return_t code = dds_write(writer_.get(), message);
    if (code == DDS_RETCODE_OK) return Published::ok;
    failure_.note("dds_write", code);
    return code == DDS_RETCODE_TIMEOUT ? Published::timed_out : Published::failed;
  }

  [[nodiscard]] std::size_t matched() {
    dds_publication_matched_status_t status{};
    checked(dds_get_publication_matched_status(writer_.get(), &status), "dds_get_publication_matched_status");
    return status.current_count;
  }

  [[nodiscard]] std::string last_error() const { return failure_.text(); }

 private:
  Entity writer_;
  std::size_t bytes_;
  bool lends_;
  std::vector<std::byte> own_;
  void* lent_ = nullptr;
  LastFailure failure_;
  std::optional<Flusher> flusher_;
};

}  // namespace middlemark::cyclonedds
