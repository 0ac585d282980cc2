#include <middlemark/describe.hpp>

#include <nlohmann/json.hpp>

#include <middlemark/kit/native.hpp>

namespace middlemark {
namespace {

using Json = nlohmann::json;

Json transport_json(const Transport& transport) {
  Json types = Json::array();
  for (const MessageType type : transport.types) types.push_back(word(type));
  Json security = Json::array();
  for (const Security level : transport.security) security.push_back(word(level));
  return {{"name", transport.name},
          {"carrier", transport.carrier},
          {"segments", transport.segments},
          {"processes", transport.processes},
          {"receive", transport.receive},
          {"reliability", transport.reliability},
          {"loan", transport.loan},
          {"hands_over", transport.hands_over},
          {"max_bytes", transport.max_bytes},
          {"max_bytes_advice", transport.max_bytes_advice},
          {"max_depth", transport.max_depth ? Json(*transport.max_depth) : Json()},
          {"keep_all", transport.keep_all},
          {"companions", transport.companions},
          {"own_network", transport.own_network},
          {"alone", transport.alone},
          {"best_effort_carrier", transport.best_effort_carrier},
          {"types", types},
          {"varying_sizes", transport.varying_sizes},
          {"services", transport.services},
          {"max_history", transport.max_history ? Json(*transport.max_history) : Json()},
          {"security", security},
          {"security_why", transport.security_why},
          {"permissions", transport.permissions}};
}

const char* name_of(NativeType type) {
  switch (type) {
    case NativeType::boolean:
      return "boolean";
    case NativeType::integer:
      return "integer";
    case NativeType::bytes:
      return "bytes";
    case NativeType::duration:
      return "duration";
    case NativeType::choice:
      return "choice";
    case NativeType::file:
      return "file";
    case NativeType::text:
      break;
  }
  return "text";
}

Json native_json(const std::vector<NativeSetting>& table) {
  Json all = Json::object();
  for (const NativeSetting& each : table) {
    Json patterns = Json::array();
    for (const Pattern pattern : each.patterns) patterns.push_back(kit::name_of(pattern));
    all[each.key] = {{"type", name_of(each.type)},
                     {"least", each.least ? Json(*each.least) : Json()},
                     {"most", each.most ? Json(*each.most) : Json()},
                     {"choices", each.choices},
                     {"allowed", kit::native_domain(each)},
                     {"default", each.otherwise},
                     {"transports", each.transports},
                     {"patterns", patterns},
                     {"help", each.help}};
  }
  return all;
}

}  // namespace

Json describe_json(const Description& about) {
  Json transports = Json::array();
  for (const Transport& transport : about.transports) transports.push_back(transport_json(transport));
  return {{"protocol", protocol_version},
          {"name", about.name},
          {"title", about.title},
          {"version", about.version},
          {"library", about.library},
          {"licence", about.licence},
          {"floor", about.floor},
          {"bench_only", about.bench_only},
          {"transports", transports},
          {"request_reply", about.request_reply},
          {"credentials", about.credentials},
          {"own_threads", about.own_threads},
          {"residue", about.residue},
          {"native", native_json(about.native)}};
}

Json companions_json(const std::vector<Companion>& companions) {
  Json list = Json::array();
  for (const Companion& companion : companions) {
    list.push_back({{"name", companion.name},
                    {"argv", companion.argv},
                    {"environment", companion.environment},
                    {"ready_pattern", companion.ready_pattern},
                    {"ready_timeout_s", companion.ready_timeout_s}});
  }
  return {{"companions", list}};
}

}  // namespace middlemark
