// Fast DDS's return codes: numbers that mean the same in all its versions, and their names.
#pragma once

#include <cstdint>
#include <iterator>
#include <string>

#include "version.hpp"

namespace middlemark::fastdds {

inline constexpr std::uint32_t code_ok = 0;
inline constexpr std::uint32_t code_timeout = 10;
inline constexpr std::uint32_t code_no_data = 11;

[[nodiscard]] inline bool succeeded(const ReturnCode& code) { return number_of(code) == code_ok; }

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
