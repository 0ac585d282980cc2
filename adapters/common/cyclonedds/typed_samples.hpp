// Takes typed messages: dds_take() deserialises them into structs that idlc generated.
#pragma once

#include <dds/dds.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "copies.hpp"
#include "entity.hpp"
#include "messages.hpp"

namespace middlemark::cyclonedds {

class TypedSamples {
 public:
  TypedSamples(MessageType type, std::size_t bytes)
      : bytes_(bytes), samples_(copies_at_once(bytes)), infos_(samples_.size()) {
    for (void*& sample : samples_) sample = messages_.emplace_back(make_message(type, bytes))->to_fill();
  }

  [[nodiscard]] std::uint32_t batch() const noexcept { return static_cast<std::uint32_t>(samples_.size()); }

  template <class Visitor>
  std::int32_t take(dds_entity_t reader, Visitor& visitor, std::size_t& visits, LastFailure& failure) noexcept {
    const std::int32_t taken = dds_take(reader, samples_.data(), infos_.data(), batch(), batch());
    for (std::size_t i = 0; std::cmp_less(i, taken); ++i) {
      if (!infos_[i].valid_data) continue;  // not a message: a writer has ended
      const std::span<const std::byte> array = messages_[i]->received();
      if (array.size() != bytes_)
        failure.note("a message arrived whose constant fields differ from the sent ones", DDS_RETCODE_ERROR);
      visitor(array);
      ++visits;
    }
    return taken;
  }

 private:
  std::size_t bytes_;
  std::vector<void*> samples_;
  std::vector<dds_sample_info_t> infos_;
  std::vector<std::unique_ptr<kit::TypedMessage>> messages_;
};

}  // namespace middlemark::cyclonedds
