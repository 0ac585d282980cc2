// Which shared library is really loaded: its file, and the version the file's name carries.
#pragma once

#include <string>

namespace middlemark::kit {

struct LoadedLibrary {
  std::string path;     ///< real path, symbolic links resolved; empty when the address belongs to none
  std::string version;  ///< the digits behind ".so." of the real file's name ("0.10.2"); empty when it has none
};

/// The library that holds `address` (of one of its functions).
[[nodiscard]] LoadedLibrary loaded_library(const void* address);

}  // namespace middlemark::kit
