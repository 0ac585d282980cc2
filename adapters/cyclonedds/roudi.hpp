// Configures RouDi, iceoryx's daemon, for Cyclone DDS, whose shared memory is iceoryx's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <cyclonedds/version.hpp>
#include <iceoryx/roudi.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::cyclonedds {

/// The most messages that one dds_takecdr() reads. Their chunks stay in use until all of these messages have been
/// visited.
inline constexpr std::uint32_t chunks_taken_at_once = 8;

/// The largest depth: iceoryx lets a reader use 256 chunks, and one of them is for a message that arrives when the
/// history is full.
inline constexpr std::uint32_t iceoryx_most_depth = 255;

/// The bytes that a chunk needs in addition to the message: iceoryx's ChunkHeader (40), Cyclone DDS's header (about
/// 70), their alignment, and a reserve for patch releases.
inline constexpr std::uint64_t chunk_overhead_bytes = 256;

using iceoryx::data_segment;

/// The most chunks that writers and readers of one topic use at once if each reader keeps `depth` messages.
[[nodiscard]] constexpr std::uint64_t chunks_held(std::uint64_t publishers, std::uint64_t subscribers,
                                                  std::uint64_t depth) {
  const std::uint64_t writer = 2;  // the chunk that it fills, and the chunk that it sent last
  // The chunks in the reader's queue and history, one chunk that arrives, and the chunks that the role visits.
  const std::uint64_t reader = 2 * depth + 1 + std::min<std::uint64_t>(depth, chunks_taken_at_once);
  return publishers * writer + subscribers * reader;
}

[[nodiscard]] inline iceoryx::Pool pool_for(const Settings& settings) {
  constexpr std::uint64_t most_bytes = std::uint64_t{2} << 30;
  const auto chunks_at = [&settings](std::uint64_t depth) {
    std::uint64_t chunks = 0;
    for (const Topic& topic : settings.endpoints) {
      chunks += chunks_held(topic.publishers, topic.subscribers, depth * topic.publishers);
    }
    return chunks;
  };
  iceoryx::Pool pool;
  pool.chunk_bytes = iceoryx::aligned_chunk(settings.message_bytes + chunk_overhead_bytes);
  // The pool has at most `most_bytes`, because deep histories of large messages are rarely full. It always has the
  // chunks that a depth of 1 needs.
  pool.chunks = std::max(chunks_at(1), std::min(chunks_at(settings.depth.value_or(1)), most_bytes / pool.chunk_bytes));
  return pool;
}

/// The files that RouDi and killed workers leave.
[[nodiscard]] inline std::vector<std::string> roudi_residue() {
  std::vector<std::string> all = iceoryx::roudi_residue();
  all.emplace_back(runtime_residue);
  return all;
}

[[nodiscard]] inline Companion roudi(const Settings& settings, const std::string& library) {
  return iceoryx::roudi(settings, "cyclonedds", {pool_for(settings)}, library);
}

inline void check_roudi(const Settings& settings) {
  iceoryx::check_roudi(settings, "cyclonedds", pool_for(settings).chunk_bytes);
}

}  // namespace middlemark::cyclonedds
