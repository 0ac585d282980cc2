// A DataWriter and a DataReader that implement the contract's Publisher and Subscriber.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fastdds/dds/core/LoanableSequence.hpp>
#include <fastdds/dds/core/condition/WaitSet.hpp>
#include <fastdds/dds/core/status/PublicationMatchedStatus.hpp>
#include <fastdds/dds/core/status/SubscriptionMatchedStatus.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/ReadCondition.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>

#include <middlemark/adapter.hpp>
#include <middlemark/coding.hpp>
#include <middlemark/kit/deadline.hpp>
#include <middlemark/kit/deliverer.hpp>
#include <middlemark/kit/pinned.hpp>

#include "library.hpp"
#include "options.hpp"
#include "qos.hpp"

namespace middlemark::fastdds {

class Publisher : kit::Pinned {
 public:
  Publisher(dds::Publisher& parent, dds::Topic& type, const Topic& topic, const Options& options)
      : parent_(parent),
        writer_(created(parent.create_datawriter(&type, writer_qos(parent.get_default_datawriter_qos(), options, topic),
                                                 nullptr, dds::StatusMask::none()),
                        "the writer of " + topic.name)),
        bytes_(topic.message_bytes),
        prefix_(topic.varies ? sizeof(BytesType::Length) : 0),
        loan_(options.settings.loan),
        waits_(topic.reliability == Reliability::reliable && !topic.depth),
        timeout_(options.settings.write_timeout),
        times_(make_times(topic.type)),
        typed_(kit::make_coded<kit::CdrCoding>(topic.type, bytes_)),
        buffer_(loan_ || typed_ ? 0 : prefix_ + bytes_),
        memory_(typed_ ? typed_->array() : std::span(buffer_)),
        sample_(typed_ ? static_cast<void*>(typed_.get()) : buffer_.data()) {
    if (typed_) typed_->add_to(times_.get());
  }

  ~Publisher() {
    if (loaned_ != nullptr) writer_->discard_loan(loaned_);
    // Clears the history first: Fast DDS 2.9 destroys a writer's history while a heartbeat may still iterate over the
    // history, and then the heartbeat's loop never ends.
    std::size_t removed = 0;
    writer_->clear_history(&removed);
    parent_.delete_datawriter(writer_);
  }

  [[nodiscard]] std::span<std::byte> loan(std::size_t bytes) noexcept {
    if (!loan_) {
      if (prefix_ == 0) return memory_;
      const auto length = static_cast<BytesType::Length>(bytes);
      std::memcpy(buffer_.data(), &length, sizeof length);
      return memory_.subspan(prefix_, bytes);
    }
    if (loaned_ == nullptr) {
      const int code = number_of(writer_->loan_sample(loaned_));
      if (code != code_ok) [[unlikely]] {
        failure_.note("DataWriter::loan_sample", code);
        loaned_ = nullptr;
        return {};
      }
    }
    return {static_cast<std::byte*>(loaned_), bytes_};
  }

  [[nodiscard]] Published publish() noexcept {
    void* const sample = loan_ ? loaned_ : sample_;
    std::optional<kit::Deadline> deadline;
    if (waits_) deadline.emplace(timeout_);
    for (;;) {
      const int code = number_of(writer_->write(sample, dds::HANDLE_NIL));
      if (code == code_ok) [[likely]] {
        loaned_ = nullptr;
        return Published::ok;
      }
      // If the history is full, write() may return a timeout before max_blocking_time: an acknowledgement may wake
      // write() without freeing space. So write again until the deadline.
      if (code == code_timeout && deadline && !deadline->passed()) continue;
      failure_.note("DataWriter::write", code);
      return code == code_timeout ? Published::timed_out : Published::failed;
    }
  }

  [[nodiscard]] std::size_t matched() {
    dds::PublicationMatchedStatus status;
    return succeeded(writer_->get_publication_matched_status(status)) ? static_cast<std::size_t>(status.current_count)
                                                                      : 0;
  }

  /// Returns the times of serialising; null for octets. Fast DDS serialises a message within write().
  [[nodiscard]] CodingTimes* serializing() noexcept { return times_.get(); }

  [[nodiscard]] std::string last_error() const { return failure_.text(); }

 private:
  dds::Publisher& parent_;
  dds::DataWriter* const writer_;
  const std::size_t bytes_;
  const std::size_t prefix_;  ///< bytes of the length that precedes the message in the buffer; 0 unless sizes vary
  const bool loan_;
  const bool waits_;  ///< true if publish() waits for acknowledgements when the history is full
  const std::chrono::nanoseconds timeout_;
  const std::unique_ptr<CodingTimes> times_;        ///< null for octets
  const std::unique_ptr<kit::CodedMessage> typed_;  ///< null for octets
  std::vector<std::byte> buffer_;
  const std::span<std::byte> memory_;
  void* const sample_;
  void* loaned_ = nullptr;
  LastFailure failure_;
};

/// Implements the contract's Subscriber with a DataReader. It takes samples as loans, so the visitor reads Fast DDS's
/// own memory.
class Subscriber : private dds::DataReaderListener, kit::Pinned {
  static constexpr unsigned reads_per_take = 8;

 public:
  static constexpr std::size_t most_per_take = reads_per_take * Options::most_samples_per_read;

  /// Creates the DataReader, which needs the address of this object. `linger`: how long the destructor waits before it
  /// deletes the reader. Only the first Subscriber that a process destroys waits.
  Subscriber(dds::Subscriber& parent, dds::Topic& type, const Topic& topic, const Options& options,
             std::chrono::milliseconds& linger)
      : parent_(parent),
        linger_(linger),
        times_(make_times(topic.type)),
        typed_(topic.type != MessageType::octets),
        bytes_(topic.message_bytes),
        varies_(topic.varies),
        samples_per_read_(options.samples_per_read),
        overwritten_(!typed_ && (options.over("data-sharing") || options.is_default) && topic.depth) {
    const bool listening = options.settings.reception == Reception::listen;
    const dds::StatusMask seen = listening ? dds::StatusMask::data_available() : dds::StatusMask::none();
    reader_ = created(parent.create_datareader(&type, reader_qos(parent.get_default_datareader_qos(), options, topic),
                                               listening ? this : nullptr, seen),
                      "the reader of " + topic.name);
    if (options.settings.reception == Reception::block) {
      condition_ =
          created(reader_->create_readcondition(dds::ANY_SAMPLE_STATE, dds::ANY_VIEW_STATE, dds::ANY_INSTANCE_STATE),
                  "a read condition for " + topic.name);
      wait_set_.attach_condition(*condition_);
      active_.reserve(1);
    }
  }

  ~Subscriber() override {
    std::this_thread::sleep_for(std::exchange(linger_, std::chrono::milliseconds(0)));
    if (condition_ != nullptr) {
      wait_set_.detach_condition(*condition_);
      reader_->delete_readcondition(condition_);
    }
    parent_.delete_datareader(reader_);
  }

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

  [[nodiscard]] std::size_t publishers_found() {
    dds::SubscriptionMatchedStatus status;
    return succeeded(reader_->get_subscription_matched_status(status)) ? static_cast<std::size_t>(status.current_count)
                                                                       : 0;
  }

  void listen(Listener listener) {
    listener_ = listener;
    listening_.store(true);
    deliver();  // messages that arrived before raise no event
  }

  /// Ends the listening and waits until running callbacks have returned. Fast DDS itself does not wait for them.
  void silence() {
    listening_.store(false);
    while (deliver_.under_way()) std::this_thread::yield();
  }

  /// Returns the times of deserialising; null for octets. Fast DDS deserialises all messages of a take() before the
  /// first one is visited.
  [[nodiscard]] CodingTimes* deserializing() noexcept { return times_.get(); }

  [[nodiscard]] std::string last_error() const { return failure_.text(); }

 private:
  /// Calls the reader's take() once and visits the messages. Returns true if there may be more messages.
  template <class Visitor>
  [[nodiscard]] bool read(Visitor& visitor, std::size_t& visited) noexcept {
    const int code = number_of(reader_->take(samples_, infos_, samples_per_read_));
    if (code != code_ok) {
      if (code != code_no_data) [[unlikely]]
        failure_.note("DataReader::take", code);
      return false;
    }
    const dds::LoanableCollection::size_type count = infos_.length();
    for (dds::LoanableCollection::size_type i = 0; i < count; ++i) {
      if (!infos_[i].valid_data) continue;
      if (overwritten_ && !reader_->is_sample_valid(&samples_[i], &infos_[i])) continue;
      const std::byte* const sample = &samples_[i];
      if (varies_) {
        BytesType::Length length = 0;
        std::memcpy(&length, sample, sizeof length);
        visitor(std::span(sample + sizeof length, length));
      } else {
        visitor(typed_ ? received(&samples_[i]) : std::span(sample, bytes_));
      }
      ++visited;
    }
    reader_->return_loan(samples_, infos_);
    return count == samples_per_read_;
  }

  [[nodiscard]] std::span<const std::byte> received(void* sample) noexcept {
    auto& message = *static_cast<kit::CodedMessage*>(sample);
    times_->add(message.took());
    const std::span<const std::byte> array = message.received();
    if (array.size() != bytes_)
      failure_.note("a message arrived whose constant fields differ from the sent ones", code_error);
    return array;
  }

  /// Called on Fast DDS's thread that delivers the message. This thread has locked the reader's mutex.
  void on_data_available(dds::DataReader* /*reader*/) noexcept override { deliver(); }

  void deliver() noexcept {
    deliver_([this]() noexcept {
      std::size_t visited = 0;
      while (listening_.load() && read(listener_, visited)) {
      }
    });
  }

  dds::Subscriber& parent_;
  std::chrono::milliseconds& linger_;
  const std::unique_ptr<CodingTimes> times_;  ///< null for octets
  const bool typed_;
  const std::size_t bytes_;
  const bool varies_;
  const dds::LoanableCollection::size_type samples_per_read_;
  const bool overwritten_;  ///< true if the writer may overwrite a message that is being read; checked for octets only
  bool more_ = false;
  Listener listener_;
  std::atomic<bool> listening_{false};
  kit::OneDeliverer deliver_;
  dds::DataReader* reader_ = nullptr;
  dds::ReadCondition* condition_ = nullptr;
  dds::WaitSet wait_set_;
  dds::ConditionSeq active_;
  dds::LoanableSequence<std::byte> samples_;
  dds::SampleInfoSeq infos_;
  LastFailure failure_;
};

}  // namespace middlemark::fastdds
