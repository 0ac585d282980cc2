#include <middlemark/kit/rust_bridge.hpp>

#include <sys/statvfs.h>

#include <algorithm>
#include <list>

#include <middlemark/json.hpp>
#include <middlemark/kit/machine.hpp>
#include <middlemark/kit/native.hpp>
#include <middlemark/kit/socket.hpp>

extern "C" const middlemark::kit::rust::AdapterCalls* middlemark_rust_adapter();  // made by worker!(…) in the adapter

namespace middlemark::kit {
namespace {

using namespace rust;

std::string string_of(Text text) { return {text.items, text.count}; }

TopicView view_of(const Topic& topic) {
  return {.name = shown(topic.name),
          .message_bytes = topic.message_bytes,
          .publishers = topic.publishers,
          .subscribers = topic.subscribers,
          .publishers_here = topic.publishers_here,
          .subscribers_here = topic.subscribers_here,
          .depth = shown(topic.depth),
          .history = topic.history,
          .reliability = topic.reliability,
          .content = topic.content,
          .service = topic.service};
}

/// Returns the IPv4 address of the interface; empty if it has none.
std::string ipv4_or_nothing(const std::string& interface) {
  try {
    return ipv4_text(interface);
  } catch (const AdapterError&) {
    return {};
  }
}

/// The memory that a SettingsView points to.
struct Kept {
  Settings settings;
  std::string ipv4;
  std::vector<TopicView> endpoints;
  std::vector<NativeValue> native;
  SettingsView view;
};

/// Collects the texts that a call returns.
struct Answer {
  std::string text;
  std::string advice;
  std::vector<std::string> all;
  Reader reader() {
    return {this, [](void* object, Text its_text, Text its_advice) {
              auto& answer = *static_cast<Answer*>(object);
              answer.text = string_of(its_text);
              answer.advice = string_of(its_advice);
              answer.all.push_back(answer.text);
            }};
  }
};

[[noreturn]] void refuse(const Answer& error) { throw AdapterError(error.text, error.advice); }

/// Makes a call that returns JSON, and parses the JSON. Throws an AdapterError if the call reports an error.
template <class Value, class Call>
Value asked(Call call) {
  Answer answer;
  Answer error;
  if (!call(answer.reader(), error.reader())) refuse(error);
  return read_message<Value>(nlohmann::json::parse(answer.text));
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
    throw AdapterError("the adapter was built with another middlemark-adapter", "build it again");
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
  const NativeTable table = RustAdapter::describe().native;
  for (const auto& [key, text] : own.native) {
    const NativeSetting* const setting = find_native(table, key);
    if (setting == nullptr) continue;
    kept.native.push_back({shown(key), shown(text), native_number(*setting, text).value_or(0)});
  }
  kept.view = {.request = shown(static_cast<const RequestedSettings&>(own)),
               .endpoints = shown(kept.endpoints),
               .native = shown(kept.native),
               .ipv4 = shown(kept.ipv4),
               .shm_bytes = shm.f_blocks * shm.f_frsize,
               .shm_free_bytes = shm.f_bavail * shm.f_frsize};
  return kept.view;
}

Ends made(Make make, void* adapter, const Topic& topic, unsigned index) {
  Ends ends;
  Answer error;
  if (!make(adapter, kit::view_of(topic), index, ends, error.reader())) refuse(error);
  return ends;
}

std::string words_of(void (*call)(void*, Reader), void* object) {
  Answer words;
  call(object, words.reader());
  return words.text;
}

}  // namespace rust

void RustSubscriber::listen(Listener listener) {
  listener_ = listener;
  Answer error;
  if (!calls_.listen(subscriber_, heard_.visitor(), error.reader())) refuse(error);
}

RustAdapter::RustAdapter(const Settings& settings) {
  if (settings.pattern == Pattern::crowd) allow_many_descriptors();
  Answer error;
  adapter_ = calls().open(rust::view_of(settings), error.reader());
  if (adapter_ == nullptr) refuse(error);
}

Description RustAdapter::describe() {
  Description about = asked<Description>(calls().describe);
  about.language = WrittenIn::rust;
  return about;
}

void RustAdapter::check(const Settings& settings) {
  Answer error;
  if (!calls().check(rust::view_of(settings), error.reader())) refuse(error);
}

std::vector<Companion> RustAdapter::companions(const Settings& settings) {
  const SettingsView& view = rust::view_of(settings);
  return asked<std::vector<Companion>>(
      [&view](Reader into, Reader error) { return calls().companions(view, into, error); });
}

void RustAdapter::run_companion(const std::string& file) {
  Answer error;
  if (!calls().run_companion(shown(file), error.reader())) refuse(error);
}

std::vector<std::string> RustAdapter::notes() const {
  Answer notes;
  calls().notes(adapter_, notes.reader());
  return notes.all;
}

std::string RustAdapter::protected_by() const { return rust::words_of(calls().protected_by, adapter_); }

OwnSettings RustAdapter::own_settings() const {
  Answer answer;
  calls().own_settings(adapter_, answer.reader());
  if (answer.all.empty()) return {};
  constexpr const auto& languages = middlemark::words_of<Language>;
  const auto* const language = std::ranges::find(languages, answer.text);
  if (language == languages.end())
    throw AdapterError("the settings are in the language \"" + answer.text + "\", which the protocol does not have");
  return {static_cast<Language>(language - languages.begin()), answer.advice};
}

std::string RustAdapter::refusals() const { return rust::words_of(calls().refusals, adapter_); }

}  // namespace middlemark::kit
