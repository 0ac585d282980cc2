// What Cyclone DDS needs of RouDi, iceoryx's daemon: its shared memory is iceoryx's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <cyclonedds/version.hpp>
#include <iceoryx/roudi.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::cyclonedds {

/// Messages read by one dds_takecdr at most: each keeps its chunk until all have been visited.
inline constexpr std::uint32_t chunks_taken_at_once = 8;

/// iceoryx's limit is 256 chunks held by a reader; one is kept for the message on its way into a full history.
inline constexpr std::uint32_t iceoryx_most_depth = 255;

/// iceoryx's ChunkHeader (40 bytes), Cyclone's own (some 70) and their alignment, with room for the next patch release.
inline constexpr std::uint64_t chunk_overhead_bytes = 256;

using iceoryx::data_segment;

/// Chunks that the ends of one topic can hold at once, when each reader keeps `depth` messages.
[[nodiscard]] constexpr std::uint64_t chunks_held(std::uint64_t publishers, std::uint64_t subscribers,
                                                  std::uint64_t depth) {
  const std::uint64_t writer = 2;  // the one being filled, and the one sent last
  const std::uint64_t reader =
      2 * depth + 1 + std::min<std::uint64_t>(depth, chunks_taken_at_once);  // queue, history, on the way, taken
  return publishers * writer + subscribers * reader;
}

[[nodiscard]] inline iceoryx::Pool pool_for(const Settings& settings) {
  constexpr std::uint64_t most_bytes = std::uint64_t{2} << 30;
  const auto chunks_at = [&settings](std::uint64_t depth) {
    std::uint64_t chunks = 0;
    for (const Topic& each : settings.endpoints) {
      chunks += chunks_held(each.publishers, each.subscribers, depth * each.publishers);
    }
    return chunks;
  };
  iceoryx::Pool pool;
  pool.chunk_bytes = iceoryx::aligned_chunk(settings.message_bytes + chunk_overhead_bytes);
  // Deep histories of large messages are seldom full: the memory is bounded, but never below what a depth of 1 needs.
  pool.chunks = std::max(chunks_at(1), std::min(chunks_at(settings.depth.value_or(1)), most_bytes / pool.chunk_bytes));
  return pool;
}

/// What RouDi and killed workers leave behind.
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
