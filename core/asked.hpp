// What a worker is asked before a trial: what it is, which daemons a trial needs, and what of it it refuses. Nothing is opened.
#pragma once

#include <exception>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include <middlemark/configuration.hpp>
#include <middlemark/worker.hpp>

namespace middlemark {

inline constexpr int exit_failed = 1;

/// Empty when the line is no command.
[[nodiscard]] std::string command_name(const nlohmann::json& command);

/// What the adapter says of itself. Throws std::logic_error where its types say otherwise.
[[nodiscard]] Description described(const WorkerParts& parts);

/// The task of a configure command that the adapter takes. Throws ConfigurationError where it is none, AdapterError with all that
/// cannot be done.
[[nodiscard]] Configuration accepted(const nlohmann::json& command, const Description& about, const WorkerParts& parts);

[[nodiscard]] ErrorEvent error_event(ErrorCode code, const std::string& text, const std::string& advice = {});
/// What a worker that cannot go on says of `error`.
[[nodiscard]] ErrorEvent error_event(const std::exception_ptr& error);

// The modes of the executable; each returns its exit code.
int print_description(const WorkerParts& parts);
/// For settings in one line of stdin.
int print_companions(const WorkerParts& parts);
/// For each line of stdin, a configure command, one line: the error that a trial would begin with, or null.
int print_refusals(const WorkerParts& parts);

}  // namespace middlemark
