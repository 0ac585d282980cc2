// Tests the compiler's errors for an adapter that does not fulfil the contract.
#include <array>
#include <cstdio>
#include <string>

#include <gtest/gtest.h>

namespace middlemark::contract_test {
namespace {

/// Runs MIDDLEMARK_COMPILE, which compiles contract_broken.cpp, and returns its output.
std::string compiler_output() {
  std::string text;
  FILE* const compiler = popen(MIDDLEMARK_COMPILE, "r");
  if (compiler == nullptr) return text;
  std::array<char, 4096> some{};
  for (std::size_t got = 0; (got = fread(some.data(), 1, some.size(), compiler)) > 0;) text.append(some.data(), got);
  pclose(compiler);
  return text;
}

TEST(Contract, the_compiler_names_everything_that_is_missing) {
  const std::string errors = compiler_output();
  for (const char* missing :
       {"the adapter lacks a public constructor that takes a const middlemark::Settings&",
        "the adapter lacks: static middlemark::Description describe()", "the publisher's loan() must be noexcept",
        "the publisher's publish() must return middlemark::Published", "the publisher lacks matched()",
        "misspelt: the optional hook is called last_error()", "the subscriber's take() must be noexcept",
        "the subscriber's wait() must return bool", "listen() and silence() come together",
        "misspelt: the optional hook is called publishers_found()",
        "arrived_ns() must be const and noexcept and return std::uint64_t",
        "most_per_take must be public: static constexpr std::size_t most_per_take",
        "deserializing() must be noexcept and return middlemark::CodingTimes*",
        ": serializing() must be noexcept and return middlemark::CodingTimes*",
        "last_error() must be callable on a const object",
        "client() and server() come together: one of them is missing",
        "notes() must be const and return std::vector<std::string>",
        "own_settings() must be const and return middlemark::OwnSettings",
        "companions() must be: static std::vector<middlemark::Companion>"}) {
    EXPECT_NE(errors.find(missing), std::string::npos) << missing << "\n" << errors;
  }
}

}  // namespace
}  // namespace middlemark::contract_test
