// A DataReader behind the contract's Subscriber. Samples are always taken on loan: what is visited is Fast DDS's own
// memory.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include <fastdds/dds/core/LoanableSequence.hpp>
#include <fastdds/dds/core/condition/WaitSet.hpp>
#include <fastdds/dds/core/status/SubscriptionMatchedStatus.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/ReadCondition.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>

#include <middlemark/adapter.hpp>

#include "endpoint_qos.hpp"
#include "options.hpp"
#include "participant.hpp"
#include "readers.hpp"
#include "return_code.hpp"

namespace middlemark::fastdds {

class FastDdsSubscriber {
 public:
  /// Makes the reader itself, because the reader is given the address of this object.
  FastDdsSubscriber(dds::Subscriber& parent, dds::Topic& topic, const dds::DataReaderQos& qos, const Topic& asked,
                    Reception reception, const Options& options, bool overwritten, Readers& readers)
      : parent_(parent),
        readers_(readers),
        bytes_(asked.message_bytes),
        samples_per_read_(options.samples_per_read),
        linger_(options.linger),
        overwritten_(overwritten),
        callback_(*this) {
    const bool listening = reception == Reception::listen;
    reader_ = parent.create_datareader(&topic, qos, listening ? &callback_ : nullptr,
                                       listening ? dds::StatusMask::data_available() : dds::StatusMask::none());
    if (reader_ == nullptr) {
      throw AdapterError("fastdds: cannot create the reader of " + asked.name + ": " + Logged::errors());
    }
    if (reception == Reception::block) {
      condition_ = reader_->create_readcondition(dds::ANY_SAMPLE_STATE, dds::ANY_VIEW_STATE, dds::ANY_INSTANCE_STATE);
      if (condition_ == nullptr || !succeeded(wait_set_.attach_condition(*condition_))) {
        throw AdapterError("fastdds: cannot make a read condition for " + asked.name + ": " + Logged::errors());
      }
      active_.reserve(1);
    }
    readers_.add(*reader_, asked.publishers);
  }

  ~FastDdsSubscriber() {
    readers_.linger(linger_);
    readers_.remove(*reader_);
    if (condition_ != nullptr) {
      wait_set_.detach_condition(*condition_);
      reader_->delete_readcondition(condition_);
    }
    parent_.delete_datareader(reader_);
  }
  FastDdsSubscriber(const FastDdsSubscriber&) = delete;
  FastDdsSubscriber& operator=(const FastDdsSubscriber&) = delete;

  template <class Visitor>
  std::size_t take(Visitor&& visitor) noexcept {
    std::size_t visited = 0;
    unsigned reads = 0;
    do {
      more_ = read(visitor, visited);
    } while (more_ && ++reads < reads_per_take);
    return visited;
  }

  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) noexcept {
    return more_ || succeeded(wait_set_.wait(active_, duration(timeout)));
  }

  /// Publishers this reader has found.
  [[nodiscard]] std::size_t publishers_found() {
    dds::SubscriptionMatchedStatus status;
    if (!succeeded(reader_->get_subscription_matched_status(status))) return 0;
    return static_cast<std::size_t>(std::max(0, status.current_count));
  }

  void listen(Listener listener) {
    listener_.emplace(listener);
    listening_.store(true);
  }

  /// Fast DDS does not wait for a callback under way when its listener is taken away, so the callback itself is
  /// counted.
  void silence() {
    listening_.store(false);
    while (calls_.load() != 0) std::this_thread::yield();
  }

  [[nodiscard]] std::string last_error() const {
    return failed_take_ == 0 ? std::string() : "DataReader::take: " + text_of(failed_take_);
  }

  static constexpr unsigned reads_per_take = 8;

 private:
  /// One read and its visits; true when there may be more.
  template <class Visitor>
  [[nodiscard]] bool read(Visitor& visitor, std::size_t& visited) noexcept {
    const std::uint32_t code = number_of(reader_->take(samples_, infos_, samples_per_read_));
    if (code != code_ok) {
      if (code != code_no_data) [[unlikely]]
        failed_take_ = code;
      return false;
    }
    const dds::LoanableCollection::size_type count = infos_.length();
    for (dds::LoanableCollection::size_type i = 0; i < count; ++i) {
      if (!infos_[i].valid_data) continue;
      if (overwritten_ && !reader_->is_sample_valid(&samples_[i], &infos_[i])) continue;
      visitor(std::span<const std::byte>(&samples_[i], bytes_));
      ++visited;
    }
    reader_->return_loan(samples_, infos_);
    return count == samples_per_read_;
  }

  class Callback final : public dds::DataReaderListener {
   public:
    explicit Callback(FastDdsSubscriber& subscriber) : subscriber_(subscriber) {}
    void on_data_available(dds::DataReader* /*reader*/) override { subscriber_.call(); }

   private:
    FastDdsSubscriber& subscriber_;
  };

  /// On the thread that delivers, which holds the reader's mutex: no two calls at a time, and nothing arrives during one.
  void call() noexcept {
    calls_.fetch_add(1);
    std::size_t visited = 0;
    while (listening_.load() && read(*listener_, visited)) {
    }
    calls_.fetch_sub(1);
  }

  dds::Subscriber& parent_;
  Readers& readers_;
  std::size_t bytes_;
  dds::LoanableCollection::size_type samples_per_read_;
  std::chrono::milliseconds linger_;
  bool overwritten_;  ///< the writer may reuse a message's memory under the reader
  bool more_ = false;
  Callback callback_;
  std::optional<Listener> listener_;
  std::atomic<bool> listening_{false};
  std::atomic<int> calls_{0};
  dds::DataReader* reader_ = nullptr;
  dds::ReadCondition* condition_ = nullptr;
  dds::WaitSet wait_set_;
  dds::ConditionSeq active_;
  dds::LoanableSequence<std::byte> samples_;
  dds::SampleInfoSeq infos_;
  std::uint32_t failed_take_ = 0;
};

}  // namespace middlemark::fastdds
