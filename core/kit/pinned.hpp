// A base for types that must not be copied or moved: their address is stored in other objects, or they own a resource.
#pragma once

namespace middlemark::kit {

class Pinned {
 public:
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

 protected:
  Pinned() = default;
  ~Pinned() = default;
};

}  // namespace middlemark::kit
