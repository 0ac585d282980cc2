// What a worker tells its launcher of its roles, as JSON: docs/protocol.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include <middlemark/resources.hpp>
#include <middlemark/roles/progress.hpp>
#include <middlemark/session.hpp>

namespace middlemark {

[[nodiscard]] nlohmann::json error_event(const std::string& code, const std::string& text,
                                         const std::string& advice = {});
[[nodiscard]] nlohmann::json result_event(const RoleResult& result);
[[nodiscard]] const char* phase_name(Phase phase);

/// What a worker's roles have counted and its process has used so far: the part that measuring, tick and done have in common.
/// Used by the control thread alone.
class Account {
 public:
  /// `at_ns`, `roles` and `resources`. The first call while a role measures fixes what blocked times count from.
  [[nodiscard]] nlohmann::json read(const Session& session);

 private:
  struct Begin {
    std::uint64_t at_ns = 0;
    ThreadUse use;
    std::uint64_t sleeping_ns = 0;
  };

  [[nodiscard]] nlohmann::json counts(const Role& role, const Resources& resources, std::uint64_t now_ns);
  [[nodiscard]] nlohmann::json blocked_ns(const Role& role, const Resources& resources, std::uint64_t now_ns);

  ResourceReader reader_;
  std::map<int, Begin> begins_;  // by thread
};

}  // namespace middlemark
