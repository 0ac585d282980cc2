#include <middlemark/json.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace middlemark {

void JsonReader::read(const Json& json, std::string& value, const std::string& place, const Range& /*range*/) {
  if (expect(json.is_string(), json, place)) value = json.get<std::string>();
}

void JsonReader::read(const Json& json, bool& value, const std::string& place, const Range& /*range*/) {
  if (expect(json.is_boolean(), json, place)) value = json.get<bool>();
}

void JsonReader::read(const Json& json, double& value, const std::string& place, const Range& range) {
  if (expect(json.is_number(), json, place) && within(range, json.get<double>(), place)) value = json.get<double>();
}

void JsonReader::read(const Json& json, std::chrono::nanoseconds& value, const std::string& place, const Range& range) {
  double seconds = static_cast<double>(value.count()) / 1e9;
  read(json, seconds, place, range);
  value = std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

void JsonReader::add_problem(const std::string& place, const std::string& problem) {
  problems_.emplace_back(place, problem);
}

bool JsonReader::is_valid(const std::string& place) const {
  return std::ranges::find(problems_, place, &std::pair<std::string, std::string>::first) == problems_.end();
}

void JsonReader::throw_problems() const {
  std::vector<std::string> lines;
  for (const auto& [place, problem] : problems_) {
    lines.push_back(place.empty() ? problem : fmt::format("{}: {}", place, problem));
  }
  if (!lines.empty()) throw ConfigurationError(fmt::format("{}", fmt::join(lines, "; ")));
}

std::string JsonReader::inside(const std::string& place, std::string_view name) {
  return place.empty() ? std::string(name) : fmt::format("{}.{}", place, name);
}

bool JsonReader::expect(bool fits, const Json& json, const std::string& place) {
  if (!fits) add_problem(place, fmt::format("{} is of the wrong {}", json.dump(), json.is_number() ? "range" : "type"));
  return fits;
}

bool JsonReader::expect_object(const Json& json, const std::string& place) {
  if (!json.is_object()) add_problem(place, "must be an object");
  return json.is_object();
}

bool JsonReader::expect_list(const Json& json, std::size_t least_items, const std::string& place) {
  const bool fits = json.is_array() && json.size() >= least_items;
  if (!fits)
    add_problem(place, least_items == 0 ? "must be a list" : fmt::format("must be a list of at least {}", least_items));
  return fits;
}

bool JsonReader::within(const Range& range, double value, const std::string& place) {
  const auto demand = [&](bool fulfilled, const char* rule, double bound) {
    if (!fulfilled) add_problem(place, fmt::format("must be {} {}, and is {}", rule, bound, value));
    return fulfilled;
  };
  return demand(value >= range.least, "at least", range.least) &&
         demand(value > range.above, "more than", range.above) && demand(value <= range.most, "at most", range.most);
}

std::size_t JsonReader::choose(const Json& json, std::span<const std::string_view> words, const std::string& place) {
  if (!expect(json.is_string(), json, place)) return words.size();
  const auto found = std::ranges::find(words, json.get<std::string>());
  if (found == words.end()) add_problem(place, fmt::format("{} is none of {}", json.dump(), fmt::join(words, ", ")));
  return static_cast<std::size_t>(found - words.begin());
}

}  // namespace middlemark
