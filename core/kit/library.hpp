// Finds the file of a loaded shared library, and the version in the file's name.
#pragma once

#include <string>

namespace middlemark::kit {

struct LoadedLibrary {
  std::string path;  ///< real path, symbolic links resolved; empty if no library contains the address
  std::string
      version;  ///< the part after ".so." of the real file's name ("0.10.2"), or of its copy with a longer name;
                ///< empty if there is none
};

/// The library that contains `address`, such as one of its functions.
[[nodiscard]] LoadedLibrary loaded_library(const void* address);

}  // namespace middlemark::kit
