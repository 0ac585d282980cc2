// The modes in which a worker answers a question before a trial: what it supports, which daemons a trial needs, and
// which trials it refuses. No mode opens the middleware.
#pragma once

#include <exception>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include <middlemark/configuration.hpp>
#include <middlemark/worker.hpp>

namespace middlemark {

inline constexpr int exit_failed = 1;

/// Returns the command's name, or an empty string if the line is not a command.
[[nodiscard]] std::string command_name(const nlohmann::json& command);

/// Returns the adapter's description. Throws std::logic_error if it contradicts the adapter's types.
[[nodiscard]] Description described(const WorkerParts& parts);

/// Parses a configure command and checks that the adapter accepts it. Throws ConfigurationError if the command is
/// invalid, and an AdapterError that names every setting that the adapter does not support.
[[nodiscard]] Configuration accepted(const nlohmann::json& command, const Description& about, const WorkerParts& parts);

[[nodiscard]] ErrorEvent error_event(ErrorCode code, const std::string& text, const std::string& advice = {});
/// Returns the event with which a worker reports `error` before it ends.
[[nodiscard]] ErrorEvent error_event(const std::exception_ptr& error);

// The modes of the executable. Each returns its exit code.
int print_description(const WorkerParts& parts);
/// Prints the daemons that a trial needs. Reads the trial's settings as one line from stdin.
int print_companions(const WorkerParts& parts);
/// For each configure command on stdin, prints one line: the error with which the trial would be refused, or null.
int print_refusals(const WorkerParts& parts);

}  // namespace middlemark
