// Takes octets or typed messages from a reader and passes them to a visitor.
#pragma once

#include <dds/dds.h>
#include <dds/ddsi/ddsi_serdata.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <cyclonedds/copies.hpp>
#include <cyclonedds/entity.hpp>
#include <cyclonedds/typed_samples.hpp>
#include <cyclonedds/version.hpp>

#include "roudi.hpp"

namespace middlemark::cyclonedds {

enum class Access {
  typed,     ///< dds_take() into structs that idlc generated: Cyclone DDS deserialises
  copied,    ///< dds_take() into the adapter's memory: Cyclone DDS deserialises octets with one memcpy
  varying,   ///< like `copied`, but each message is a sequence of its own length
  in_place,  ///< dds_takecdr(): a reference to the chunk in shared memory, as ROS 2's rmw takes it
};

/// Takes messages from a reader. Does not use dds_take() with null pointers (Cyclone DDS's "reader loan"): that call
/// copies as well, and it clears the memory when the memory is returned.
class Intake {
 public:
  Intake(MessageType type, std::size_t bytes, Access access)
      : bytes_(bytes),
        access_(access),
        batch_(access == Access::in_place ? chunks_taken_at_once : copies_at_once(bytes)),
        samples_(batch_),
        references_(batch_),
        infos_(batch_) {
    if (type != MessageType::octets) {
      access_ = Access::typed;
      typed_.emplace(type, bytes);
    }
    if (access_ != Access::copied && access_ != Access::varying) return;
    copies_.resize(bytes * batch_);
    for (std::uint32_t i = 0; i < batch_; ++i) samples_[i] = copies_.data() + bytes * i;
    if (access_ != Access::varying) return;
    sequences_.resize(batch_);
    // Cyclone DDS writes into each sequence's buffer, which is large enough, and does not free the buffer.
    for (std::uint32_t i = 0; i < batch_; ++i) {
      sequences_[i] = {static_cast<std::uint32_t>(bytes), 0, static_cast<std::uint8_t*>(samples_[i]), false};
      samples_[i] = &sequences_[i];
    }
  }

  [[nodiscard]] std::uint32_t batch() const noexcept { return batch_; }

  template <class Visitor>
  std::int32_t take(dds_entity_t reader, Visitor& visitor, std::size_t& visits, LastFailure& failure) noexcept {
    switch (access_) {
      case Access::copied:
        break;
      case Access::varying:
        return copies(reader, visitor, visits, [this](std::size_t i) noexcept {
          return std::span(reinterpret_cast<const std::byte*>(sequences_[i]._buffer), sequences_[i]._length);
        });
      case Access::typed:
        return typed_->take(reader, visitor, visits, failure);
      case Access::in_place:
        return in_place(reader, visitor, visits, failure);
    }
    return copies(reader, visitor, visits, [this](std::size_t i) noexcept {
      return std::span(static_cast<const std::byte*>(samples_[i]), bytes_);
    });
  }

 private:
  template <class Visitor, class Message>
  std::int32_t copies(dds_entity_t reader, Visitor& visitor, std::size_t& visits, const Message& message) noexcept {
    const std::int32_t taken = dds_take(reader, samples_.data(), infos_.data(), batch_, batch_);
    for (std::size_t i = 0; std::cmp_less(i, taken); ++i) {
      if (!infos_[i].valid_data) continue;  // not a message: a writer has ended
      visitor(message(i));
      ++visits;
    }
    return taken;
  }

  template <class Visitor>
  std::int32_t in_place(dds_entity_t reader, Visitor& visitor, std::size_t& visits, LastFailure& failure) noexcept {
    const std::int32_t taken = dds_takecdr(reader, references_.data(), batch_, infos_.data(), DDS_ANY_STATE);
    for (std::size_t i = 0; std::cmp_less(i, taken); ++i) {
      ddsi_serdata* reference = references_[i];
      if (infos_[i].valid_data) {
        if (const void* chunk = chunk_of(reference); chunk != nullptr) {
          visitor(std::span(static_cast<const std::byte*>(chunk), bytes_));
          ++visits;
        } else {  // do not deliver it: the latency of UDP would count as the latency of shared memory
          failure.note("a message came over the network instead of shared memory", DDS_RETCODE_ERROR);
        }
      }
      ddsi_serdata_unref(reference);
    }
    return taken;
  }

  std::size_t bytes_;
  Access access_;
  std::uint32_t batch_;
  std::vector<std::byte> copies_;
  std::optional<TypedSamples> typed_;
  std::vector<dds_sequence_t> sequences_;
  std::vector<void*> samples_;
  std::vector<ddsi_serdata*> references_;
  std::vector<dds_sample_info_t> infos_;
};

}  // namespace middlemark::cyclonedds
