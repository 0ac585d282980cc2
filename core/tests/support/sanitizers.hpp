// Constants for the sanitizers of this build. Tests use them to skip themselves or to repeat a computation less often.
#pragma once

namespace middlemark::test {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool under_address_sanitizer = true;
#else
inline constexpr bool under_address_sanitizer = false;
#endif

#if defined(__SANITIZE_THREAD__)
inline constexpr bool under_thread_sanitizer = true;
#else
inline constexpr bool under_thread_sanitizer = false;
#endif

inline constexpr bool under_a_sanitizer = under_address_sanitizer || under_thread_sanitizer;

}  // namespace middlemark::test
