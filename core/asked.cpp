#include <middlemark/asked.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <iostream>
#include <system_error>

#include <fmt/format.h>

#include <middlemark/crowd.hpp>
#include <middlemark/endpoints.hpp>
#include <middlemark/honour.hpp>
#include <middlemark/json.hpp>
#include <middlemark/kit/native.hpp>

namespace middlemark {
namespace {

using Json = nlohmann::json;

/// Returns whether the user can fix this error at the path of the samples: permissions, space, a wrong path.
bool concerns_the_disk(const std::error_code& code) {
  constexpr std::array errors{EACCES,       EDQUOT, EFBIG,  EIO,     EISDIR, ELOOP,
                              ENAMETOOLONG, ENOENT, ENOSPC, ENOTDIR, EPERM,  EROFS};
  return code.category() == std::generic_category() && std::ranges::find(errors, code.value()) != errors.end();
}

std::string text_of(const Json& answer) { return answer.dump(-1, ' ', false, Json::error_handler_t::replace); }

void print(const Json& answer) { std::cout << text_of(answer) << '\n'; }

}  // namespace

std::string command_name(const Json& command) {
  const bool named = command.is_object() && command.contains("command") && command["command"].is_string();
  return named ? command["command"].get<std::string>() : std::string();
}

Description described(const WorkerParts& parts) {
  Description about = parts.describe();
  about.request_reply = parts.request_reply;
  if (parts.most_per_take) about.most_per_take = parts.most_per_take;
  for (auto& [key, setting] : about.native) setting.allowed = kit::native_domain(setting);
  const auto contradicts = [&about](const std::string& what) {
    throw std::logic_error(fmt::format("{}: describe() {}", about.name, what));
  };
  for (const Transport& transport : about.transports) {
    if (!parts.listens && std::ranges::find(transport.receive, Reception::listen) != transport.receive.end()) {
      contradicts(
          fmt::format("lists listen for {}, but not every subscriber has listen() and silence()", transport.name));
    }
    const bool crowds = std::ranges::find(transport.patterns, Pattern::crowd) != transport.patterns.end();
    if (crowds && crowd_opener() == nullptr) {
      contradicts(fmt::format("lists crowd for {}, but middlemark_adapter() has no CROWD", transport.name));
    }
    const bool protects = std::ranges::any_of(transport.security, [](Security each) { return each != Security::none; });
    if (protects && !parts.protects) {
      contradicts(fmt::format("lists security for {}, but there is no protected_by()", transport.name));
    }
    const bool routed = std::ranges::any_of(transport.via, [](Via each) { return each != Via::direct; });
    if ((transport.companions || routed) && !parts.companions) {
      contradicts(fmt::format("says that {} needs companions, but there is no companions()", transport.name));
    }
  }
  return about;
}

Configuration accepted(const Json& command, const Description& about, const WorkerParts& parts) {
  if (command_name(command) != ConfigureCommand::tag) throw ConfigurationError("expected a configure command");
  Configuration configuration = parse_configuration(command);
  configuration.settings.endpoints = endpoints_of(configuration, parts.request_reply);
  refuse_what_is_not_listed(about, configuration.settings);
  if (parts.check) parts.check(configuration.settings);
  return configuration;
}

ErrorEvent error_event(ErrorCode code, const std::string& text, const std::string& advice) {
  return {.code = code, .text = text, .advice = advice};
}

ErrorEvent error_event(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const ConfigurationError& wrong) {
    return error_event(ErrorCode::configure, wrong.what(),
                       "launcher and worker are of different versions: build both again");
  } catch (const AdapterError& refused) {
    return error_event(ErrorCode::refused, refused.what(), refused.advice());
  } catch (const std::system_error& failed) {
    return error_event(concerns_the_disk(failed.code()) ? ErrorCode::disk : ErrorCode::internal, failed.what());
  } catch (const std::exception& failed) {
    return error_event(ErrorCode::internal, failed.what());
  }
}

int print_description(const WorkerParts& parts) {
  try {
    std::cout << json_of(described(parts)).dump() << '\n';
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return exit_failed;
  }
  return 0;
}

int print_companions(const WorkerParts& parts) {
  std::string line;
  std::getline(std::cin, line);
  const Json request = Json::parse(line, nullptr, false);
  Json answer;
  try {
    Configuration whole;
    whole.settings = parse_settings(request);
    whole.settings.endpoints = endpoints_of(whole, parts.request_reply);
    const Settings& settings = whole.settings;
    // Do not call parts.check(): it may need to know which pongs echo, and only the configure commands contain that.
    refuse_what_is_not_listed(parts.describe(), settings);
    answer["companions"] = json_of(parts.companions ? parts.companions(settings) : std::vector<Companion>{});
  } catch (const std::exception& /*error*/) {
    answer = json_of(error_event(std::current_exception()));
  }
  print(answer);
  return answer.contains("companions") ? 0 : exit_failed;
}

int print_refusals(const WorkerParts& parts) {
  // A middleware may print to stdout, for example why it rejects a file. Stdout may contain only the answers.
  const int own = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  std::FILE* const answers = own < 0 ? nullptr : fdopen(own, "w");
  if (answers == nullptr || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return exit_failed;
  const Description about = parts.describe();
  std::string line;
  while (std::getline(std::cin, line)) {
    Json refusal;
    try {
      const Configuration configuration = accepted(Json::parse(line, nullptr, false), about, parts);
    } catch (const std::exception& /*error*/) {
      refusal = json_of(error_event(std::current_exception()));
    }
    std::fputs((text_of(refusal) + "\n").c_str(), answers);
    std::fflush(answers);
  }
  return std::fclose(answers) == 0 ? 0 : exit_failed;
}

}  // namespace middlemark
