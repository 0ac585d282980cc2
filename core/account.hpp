// Counts of a worker's roles and the resources its process has used so far, as reported to the launcher.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include <middlemark/protocol.hpp>
#include <middlemark/resources.hpp>
#include <middlemark/session.hpp>

namespace middlemark {

/// Used by the control thread only.
class AccountReader {
 public:
  /// Blocked times count from the first call while a role measures.
  [[nodiscard]] Account read(const Session& session);

 private:
  struct Begin {
    std::uint64_t at_ns = 0;
    ThreadUse use;
    std::uint64_t sleeping_ns = 0;
  };

  [[nodiscard]] Counts counts(const Role& role, const Resources& resources, std::uint64_t now_ns);
  [[nodiscard]] std::optional<std::uint64_t> blocked_ns(const Role& role, const Resources& resources,
                                                        std::uint64_t now_ns);

  ResourceReader reader_;
  std::map<int, Begin> begins_;  // by thread id
};

}  // namespace middlemark
