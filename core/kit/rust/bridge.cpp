#include <middlemark/kit/rust_bridge.hpp>

#include <sys/statvfs.h>

#include <initializer_list>
#include <list>
#include <optional>

#include <nlohmann/json.hpp>

#include <middlemark/kit/native.hpp>
#include <middlemark/kit/socket.hpp>

extern "C" const middlemark::kit::rust::AdapterCalls* middlemark_rust_adapter();  // of worker!(…) in the adapter

namespace middlemark::kit {
namespace {

using Json = nlohmann::json;
using namespace rust;

template <class Enumeration>
constexpr bool counts_up(std::initializer_list<Enumeration> as_in_rust) {
  int number = 0;
  for (const Enumeration each : as_in_rust) {
    if (static_cast<int>(each) != number++) return false;
  }
  return true;
}

// The crate has the same enumerations, in this order: settings.rs and native.rs.
static_assert(counts_up({Pattern::ping_pong, Pattern::stream, Pattern::request_reply}));
static_assert(counts_up({Reliability::reliable, Reliability::best_effort}));
static_assert(counts_up({Reception::poll, Reception::block, Reception::listen}));
static_assert(counts_up({Security::none, Security::authenticated, Security::signed_, Security::encrypted}));
static_assert(counts_up({Identity::sender, Identity::receiver, Identity::broker, Identity::intruder,
                         Identity::stranger}));
static_assert(counts_up({NativeType::boolean, NativeType::integer, NativeType::bytes, NativeType::duration,
                         NativeType::choice, NativeType::text, NativeType::file}));

Text text_of(std::string_view text) { return {text.data(), text.size()}; }
std::string string_of(Text text) { return {text.items, text.count}; }

template <class T>
List<T> list_of(const std::vector<T>& items) {
  return {items.data(), items.size()};
}

TopicView view_of(const Topic& topic) {
  return {text_of(topic.name),    topic.message_bytes,     topic.publishers,  topic.subscribers, topic.publishers_here,
          topic.subscribers_here, topic.depth.value_or(0), topic.reliability, topic.service};
}

/// Empty: the interface has none.
std::string ipv4_or_nothing(const std::string& interface) {
  try {
    return ipv4_text(interface);
  } catch (const AdapterError&) {
    return {};
  }
}

/// What a view shows.
struct Kept {
  Settings settings;
  std::string ipv4;
  std::vector<TopicView> endpoints;
  std::vector<NativeValue> native;
  SettingsView view;
};

struct Telling {
  std::string text;
  std::string advice;
  std::vector<std::string> all;
  Reader reader() {
    return {this, [](void* object, Text its_text, Text its_advice) {
              auto& telling = *static_cast<Telling*>(object);
              telling.text = string_of(its_text);
              telling.advice = string_of(its_advice);
              telling.all.push_back(telling.text);
            }};
  }
};

[[noreturn]] void refuse(const Telling& told) { throw AdapterError(told.text, told.advice); }

/// What a cold call says in JSON.
template <class Call>
Json asked(Call call) {
  Telling answer;
  Telling error;
  if (!call(answer.reader(), error.reader())) refuse(error);
  return Json::parse(answer.text);
}

template <class T>
std::optional<T> optional_of(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<T>());
}

Transport transport_of(const Json& json) {
  Transport transport;
  json.at("name").get_to(transport.name);
  json.at("carrier").get_to(transport.carrier);
  json.at("segments").get_to(transport.segments);
  json.at("processes").get_to(transport.processes);
  json.at("receive").get_to(transport.receive);
  json.at("reliability").get_to(transport.reliability);
  json.at("loan").get_to(transport.loan);
  json.at("hands_over").get_to(transport.hands_over);
  json.at("max_bytes").get_to(transport.max_bytes);
  json.at("max_bytes_advice").get_to(transport.max_bytes_advice);
  transport.max_depth = optional_of<std::uint32_t>(json.at("max_depth"));
  json.at("keep_all").get_to(transport.keep_all);
  json.at("companions").get_to(transport.companions);
  json.at("varying_sizes").get_to(transport.varying_sizes);
  json.at("alone").get_to(transport.alone);
  transport.security.clear();
  for (const Json& level : json.at("security")) transport.security.push_back(static_cast<Security>(level.get<int>()));
  json.at("security_why").get_to(transport.security_why);
  json.at("permissions").get_to(transport.permissions);
  return transport;
}

NativeSetting native_of(const Json& json) {
  NativeSetting setting;
  json.at("key").get_to(setting.key);
  setting.type = static_cast<NativeType>(json.at("kind").get<int>());
  setting.least = optional_of<std::int64_t>(json.at("least"));
  setting.most = optional_of<std::int64_t>(json.at("most"));
  json.at("choices").get_to(setting.choices);
  json.at("otherwise").get_to(setting.otherwise);
  json.at("transports").get_to(setting.transports);
  for (const Json& pattern : json.at("patterns")) setting.patterns.push_back(static_cast<Pattern>(pattern.get<int>()));
  json.at("help").get_to(setting.help);
  return setting;
}

Companion companion_of(const Json& json) {
  return {json.at("name"), json.at("argv"), json.at("environment"), json.at("ready_pattern"),
          json.at("ready_timeout_s")};
}

}  // namespace

namespace rust {

const AdapterCalls& calls() {
  constexpr std::size_t layout = [] {
    std::size_t all = 0;
    for (const std::size_t size : {std::size_t{1}, sizeof(SettingsView), sizeof(TopicView), sizeof(NativeValue),
                                   sizeof(PublisherCalls), sizeof(SubscriberCalls), sizeof(AdapterCalls)}) {
      all = all * 512 + size;
    }
    return all;
  }();
  static const AdapterCalls& its = *middlemark_rust_adapter();
  if (its.layout != layout)
    throw AdapterError("the adapter was built with another middlemark-adapter", "build it anew");
  return its;
}

const SettingsView& view_of(const Settings& settings) {
  static std::list<Kept> all;
  Kept& kept = all.emplace_back();
  kept.settings = settings;
  kept.ipv4 = ipv4_or_nothing(settings.interface);
  const Settings& own = kept.settings;
  for (const Topic& each : own.endpoints) kept.endpoints.push_back(kit::view_of(each));
  struct statvfs shm{};
  if (statvfs("/dev/shm", &shm) != 0) shm = {};
  const std::vector<NativeSetting> table = RustAdapter::describe().native;
  for (const auto& [key, text] : own.native) {
    const NativeSetting* const setting = find_native(table, key);
    if (setting == nullptr) continue;
    kept.native.push_back({text_of(key), text_of(text), native_number(*setting, text).value_or(0)});
  }
  kept.view = {.pattern = own.pattern,
               .reliability = own.reliability,
               .reception = own.reception,
               .security = own.security,
               .identity = own.identity,
               .domain = own.domain,
               .transport = text_of(own.transport),
               .scope = text_of(own.scope),
               .scratch = text_of(own.scratch),
               .interface = text_of(own.interface),
               .keep_last = own.depth.value_or(0),
               .publishers = own.publishers,
               .subscribers = own.subscribers,
               .workers = own.workers,
               .loan = own.loan,
               .one_process = own.one_process,
               .message_bytes = own.message_bytes,
               .write_timeout_ns = static_cast<std::uint64_t>(own.write_timeout.count()),
               .endpoints = list_of(kept.endpoints),
               .native = list_of(kept.native),
               .ipv4 = text_of(kept.ipv4),
               .certs = text_of(own.certs),
               .shm_bytes = shm.f_blocks * shm.f_frsize,
               .shm_free_bytes = shm.f_bavail * shm.f_frsize};
  return kept.view;
}

Ends made(Make make, void* adapter, const Topic& topic, unsigned index) {
  Ends ends;
  Telling error;
  if (!make(adapter, kit::view_of(topic), index, ends, error.reader())) refuse(error);
  return ends;
}

std::string words_of(void (*tell)(void*, Reader), void* object) {
  Telling words;
  tell(object, words.reader());
  return words.text;
}

}  // namespace rust

void RustSubscriber::listen(Listener listener) {
  listener_ = listener;
  Telling error;
  if (!calls_.listen(subscriber_, heard_.visitor(), error.reader())) refuse(error);
}

RustAdapter::RustAdapter(const Settings& settings) {
  Telling error;
  adapter_ = calls().open(rust::view_of(settings), error.reader());
  if (adapter_ == nullptr) refuse(error);
}

Description RustAdapter::describe() {
  const Json json = asked(calls().describe);
  Description about;
  json.at("name").get_to(about.name);
  json.at("title").get_to(about.title);
  json.at("version").get_to(about.version);
  json.at("library").get_to(about.library);
  json.at("licence").get_to(about.licence);
  json.at("floor").get_to(about.floor);
  json.at("bench_only").get_to(about.bench_only);
  for (const Json& each : json.at("transports")) about.transports.push_back(transport_of(each));
  about.request_reply = calls().client != nullptr;
  json.at("credentials").get_to(about.credentials);
  json.at("own_threads").get_to(about.own_threads);
  json.at("residue").get_to(about.residue);
  for (const Json& each : json.at("native")) about.native.push_back(native_of(each));
  return about;
}

void RustAdapter::check(const Settings& settings) {
  Telling error;
  if (!calls().check(rust::view_of(settings), error.reader())) refuse(error);
}

std::vector<Companion> RustAdapter::companions(const Settings& settings) {
  const SettingsView& view = rust::view_of(settings);
  const Json json = asked([&view](Reader into, Reader error) { return calls().companions(view, into, error); });
  std::vector<Companion> companions;
  for (const Json& each : json) companions.push_back(companion_of(each));
  return companions;
}

std::vector<std::string> RustAdapter::notes() const {
  Telling notes;
  calls().notes(adapter_, notes.reader());
  return notes.all;
}

std::string RustAdapter::protected_by() const { return rust::words_of(calls().protected_by, adapter_); }

std::string RustAdapter::refusals() const { return rust::words_of(calls().refusals, adapter_); }

}  // namespace middlemark::kit
