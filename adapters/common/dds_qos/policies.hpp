// Names DDS's qualities of service by their numbers. The numbers are the same in every implementation.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace middlemark::dds_policies {

inline constexpr std::array<const char*, 25> names{"none",
                                                   "USERDATA",
                                                   "DURABILITY",
                                                   "PRESENTATION",
                                                   "DEADLINE",
                                                   "LATENCYBUDGET",
                                                   "OWNERSHIP",
                                                   "OWNERSHIPSTRENGTH",
                                                   "LIVELINESS",
                                                   "TIMEBASEDFILTER",
                                                   "PARTITION",
                                                   "RELIABILITY",
                                                   "DESTINATIONORDER",
                                                   "HISTORY",
                                                   "RESOURCELIMITS",
                                                   "ENTITYFACTORY",
                                                   "WRITERDATALIFECYCLE",
                                                   "READERDATALIFECYCLE",
                                                   "TOPICDATA",
                                                   "GROUPDATA",
                                                   "TRANSPORTPRIORITY",
                                                   "LIFESPAN",
                                                   "DURABILITYSERVICE",
                                                   "DATAREPRESENTATION",
                                                   "TYPECONSISTENCY"};

/// Appends to `text` that `count` peers do not match because of the quality of service `policy`. Appends nothing if
/// `count` is 0. `status`: the name of the DDS status that reports this.
inline void add(std::string& text, const char* status, std::uint32_t policy, std::int64_t count) {
  if (count == 0) return;
  text += (text.empty() ? "" : "; ") + std::string(status) + ": " +
          (policy < names.size() ? names[policy] : "policy " + std::to_string(policy));
}

}  // namespace middlemark::dds_policies
