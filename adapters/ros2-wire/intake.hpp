// Receives samples that contain a sequence of bytes. dds_take() copies the bytes into memory of the adapter. A ROS 2
// node would copy them into a std::vector.
#pragma once

#include <dds/dds.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <cyclonedds/copies.hpp>
#include <cyclonedds/entity.hpp>
#include <cyclonedds/typed_samples.hpp>

#include "types.hpp"

namespace middlemark::ros2_wire {

[[nodiscard]] inline std::span<const std::byte> bytes_of(const Sequence& data) noexcept {
  return {static_cast<const std::byte*>(data.buffer), data.length};
}

/// Memory for a batch of samples. `Sample` is UInt8MultiArray or Call.
template <class Sample>
class Samples {
 public:
  explicit Samples(std::size_t bytes)
      : bytes_(bytes), memory_(bytes * cyclonedds::copies_at_once(bytes)), samples_(cyclonedds::copies_at_once(bytes)) {
    for (Sample& sample : samples_) addresses_.push_back(&sample);
    infos_.resize(samples_.size());
    lay_out();
  }

  [[nodiscard]] std::uint32_t batch() const noexcept { return static_cast<std::uint32_t>(samples_.size()); }

  /// Takes a batch from the reader and calls `visit` for every sample with data. Returns the number of samples taken, or a
  /// negative error code of Cyclone DDS.
  template <class Visit>
  std::int32_t take(dds_entity_t reader, Visit&& visit) noexcept {
    const std::int32_t taken = dds_take(reader, addresses_.data(), infos_.data(), infos_.size(), batch());
    for (std::size_t i = 0; std::cmp_less(i, taken); ++i) {
      // A sample without valid data only reports that a writer has left.
      if (infos_[i].valid_data) visit(std::as_const(samples_[i]));
    }
    return taken;
  }

 private:
  void lay_out() noexcept {
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      samples_[i].data = {static_cast<std::uint32_t>(bytes_), 0, memory_.data() + bytes_ * i, false};
    }
  }

  std::size_t bytes_;
  std::vector<std::byte> memory_;
  std::vector<Sample> samples_;
  std::vector<void*> addresses_;
  std::vector<dds_sample_info_t> infos_;
};

class MessageIntake {
 public:
  MessageIntake(MessageType type, std::size_t bytes) : samples_(type == MessageType::octets ? bytes : 1) {
    if (type != MessageType::octets) typed_.emplace(type, bytes);
  }

  [[nodiscard]] std::uint32_t batch() const noexcept { return typed_ ? typed_->batch() : samples_.batch(); }

  template <class Visitor>
  std::int32_t take(dds_entity_t reader, Visitor& visitor, std::size_t& visits,
                    cyclonedds::LastFailure& failure) noexcept {
    if (typed_) return typed_->take(reader, visitor, visits, failure);
    return samples_.take(reader, [&](const UInt8MultiArray& sample) noexcept {
      visitor(bytes_of(sample.data));
      ++visits;
    });
  }

 private:
  Samples<UInt8MultiArray> samples_;
  std::optional<cyclonedds::TypedSamples> typed_;
};

/// Receives requests, or the replies to one client. All clients of a service share the topic of the replies, so replies to
/// clients other than `mine` are skipped.
class CallIntake {
 public:
  CallIntake(std::size_t bytes, std::optional<std::uint64_t> mine) : samples_(bytes), mine_(mine) {}

  [[nodiscard]] std::uint32_t batch() const noexcept { return samples_.batch(); }

  /// Returns the call that is being visited; null outside a visit.
  [[nodiscard]] const Call* current() const noexcept { return current_; }

  template <class Visitor>
  std::int32_t take(dds_entity_t reader, Visitor& visitor, std::size_t& visits, cyclonedds::LastFailure&) noexcept {
    const std::int32_t taken = samples_.take(reader, [&](const Call& call) noexcept {
      if (mine_ && *mine_ != call.writer) return;
      current_ = &call;
      visitor(bytes_of(call.data));
      ++visits;
    });
    current_ = nullptr;
    return taken;
  }

 private:
  Samples<Call> samples_;
  std::optional<std::uint64_t> mine_;
  const Call* current_ = nullptr;
};

}  // namespace middlemark::ros2_wire
