// Fast DDS's return codes by name.
#pragma once

#include <cstdint>
#include <iterator>
#include <string>

#include <fastrtps/types/TypesBase.h>

namespace middlemark::fastdds {

using eprosima::fastrtps::types::ReturnCode_t;

[[nodiscard]] inline std::string text_of(std::uint32_t code) {
  static constexpr const char* names[] = {"OK",
                                          "ERROR",
                                          "UNSUPPORTED",
                                          "BAD_PARAMETER",
                                          "PRECONDITION_NOT_MET",
                                          "OUT_OF_RESOURCES",
                                          "NOT_ENABLED",
                                          "IMMUTABLE_POLICY",
                                          "INCONSISTENT_POLICY",
                                          "ALREADY_DELETED",
                                          "TIMEOUT",
                                          "NO_DATA",
                                          "ILLEGAL_OPERATION",
                                          "NOT_ALLOWED_BY_SECURITY"};
  return code < std::size(names) ? std::string("RETCODE_") + names[code] : "return code " + std::to_string(code);
}

}  // namespace middlemark::fastdds
