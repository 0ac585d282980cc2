// A DataWriter behind the contract's Publisher.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <fastdds/dds/core/status/PublicationMatchedStatus.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>

#include <middlemark/adapter.hpp>

#include "participant.hpp"
#include "readers.hpp"
#include "return_code.hpp"

namespace middlemark::fastdds {

class FastDdsPublisher {
 public:
  FastDdsPublisher(dds::Publisher& parent, dds::Topic& topic, const dds::DataWriterQos& qos, const Topic& asked,
                   const Settings& settings, const Readers& readers)
      : parent_(parent),
        readers_(readers),
        bytes_(asked.message_bytes),
        loan_(settings.loan),
        waits_(settings.reliability == Reliability::reliable && !settings.depth),
        timeout_(settings.write_timeout),
        buffer_(loan_ ? 0 : bytes_) {
    writer_ = parent.create_datawriter(&topic, qos, nullptr, dds::StatusMask::none());
    if (writer_ == nullptr) {
      throw AdapterError("fastdds: cannot create the writer of " + asked.name + ": " + Logged::errors());
    }
  }

  ~FastDdsPublisher() {
    if (loaned_ != nullptr) writer_->discard_loan(loaned_);
    // Fast DDS 2.9 takes a writer's history apart while a heartbeat may still go through it, which then never ends.
    std::size_t removed = 0;
    writer_->clear_history(&removed);
    parent_.delete_datawriter(writer_);
  }
  FastDdsPublisher(const FastDdsPublisher&) = delete;
  FastDdsPublisher& operator=(const FastDdsPublisher&) = delete;

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    if (bytes != bytes_) [[unlikely]]
      return {};
    if (!loan_) return buffer_;
    if (loaned_ == nullptr) {
      const std::uint32_t code = number_of(writer_->loan_sample(loaned_));
      if (code != code_ok) [[unlikely]] {
        failed_loan_ = code;
        loaned_ = nullptr;
        return {};
      }
    }
    return {static_cast<std::byte*>(loaned_), bytes_};
  }

  [[nodiscard]] Published publish() noexcept {
    void* const sample = loan_ ? loaned_ : buffer_.data();
    const auto until = waits_ ? std::chrono::steady_clock::now() + timeout_ : std::chrono::steady_clock::time_point{};
    for (;;) {
      const std::uint32_t code = number_of(writer_->write(sample, dds::HANDLE_NIL));
      if (code == code_ok) [[likely]] {
        loaned_ = nullptr;
        return Published::ok;
      }
      const bool timed_out = code == code_timeout;
      // A full history says so before max_blocking_time has passed when an acknowledgement wakes it for nothing.
      if (timed_out && waits_ && std::chrono::steady_clock::now() < until) continue;
      failed_write_ = code;
      return timed_out ? Published::timed_out : Published::failed;
    }
  }

  /// Counts nobody before the readers of this process have found their writers: discovery is not one event, and what is
  /// written to a reader that does not know the writer yet is lost.
  [[nodiscard]] std::size_t matched() {
    if (!readers_.all_matched()) return 0;
    dds::PublicationMatchedStatus status;
    if (!succeeded(writer_->get_publication_matched_status(status))) return 0;
    return static_cast<std::size_t>(status.current_count);
  }

  [[nodiscard]] std::string last_error() const {
    std::string text;
    if (failed_write_ != 0) text = "DataWriter::write: " + text_of(failed_write_);
    if (failed_loan_ != 0) text += (text.empty() ? "" : "; ") + ("DataWriter::loan_sample: " + text_of(failed_loan_));
    return text;
  }

 private:
  dds::Publisher& parent_;
  const Readers& readers_;
  dds::DataWriter* writer_ = nullptr;
  std::size_t bytes_;
  bool loan_;
  bool waits_;  ///< for acknowledgements when the history is full
  std::chrono::nanoseconds timeout_;
  std::vector<std::byte> buffer_;
  void* loaned_ = nullptr;
  std::uint32_t failed_write_ = 0;
  std::uint32_t failed_loan_ = 0;
};

}  // namespace middlemark::fastdds
