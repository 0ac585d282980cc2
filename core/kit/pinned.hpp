// A base of what is neither copied nor moved: somebody has its address, or it owns what it must give back once.
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
