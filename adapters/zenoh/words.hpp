// zenoh's own words for what went wrong.
#pragma once

#include <array>
#include <string>

#include "zenoh_c.hpp"

namespace middlemark::zenoh {

class Words {
 public:
  [[nodiscard]] MmzText into() noexcept { return {text_.data(), text_.size()}; }
  [[nodiscard]] std::string said() const { return text_.data(); }

 private:
  std::array<char, 1024> text_{};
};

}  // namespace middlemark::zenoh
