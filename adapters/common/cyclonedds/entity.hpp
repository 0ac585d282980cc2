// Handles and errors of Cyclone DDS's C API.
#pragma once

#include <dds/dds.h>

#include <string>
#include <utility>

#include <middlemark/kit/last_failure.hpp>
#include <middlemark/settings.hpp>

namespace middlemark::cyclonedds {

/// Returns `result`, or throws an AdapterError with `what` and the error of Cyclone DDS.
inline std::int32_t checked(std::int32_t result, const std::string& what) {
  if (result < 0) {
    throw AdapterError("Cyclone DDS: " + what + ": " + dds_strretcode(result),
                       "the worker's stderr may contain Cyclone DDS's reason");
  }
  return result;
}

/// Owns an entity. Destroying it also deletes the entities that were created in it.
class Entity {
 public:
  Entity() = default;
  Entity(dds_entity_t entity, const std::string& what) : entity_(checked(entity, what)) {}
  Entity(Entity&& other) noexcept : entity_(std::exchange(other.entity_, 0)) {}
  Entity& operator=(Entity&& other) noexcept {
    std::swap(entity_, other.entity_);
    return *this;
  }
  Entity(const Entity&) = delete;
  Entity& operator=(const Entity&) = delete;
  ~Entity() {
    if (entity_ > 0) dds_delete(entity_);
  }

  [[nodiscard]] dds_entity_t get() const noexcept { return entity_; }

 private:
  dds_entity_t entity_ = 0;
};

using LastFailure = kit::LastFailure<&dds_strretcode>;

}  // namespace middlemark::cyclonedds
