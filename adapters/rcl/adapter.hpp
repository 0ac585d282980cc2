// rcl, the C library under ROS 2's client libraries, over each installed middleware (RMW). README.md lists the ROS 2
// option that each setting sets.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/kit/contract.hpp>
#include <middlemark/kit/library.hpp>
#include <rcl/rcl.h>
#include <rmw/rmw.h>
#if __has_include(<rcl/version.h>)
#include <rcl/version.h>
#endif

#include "installation.hpp"
#include "node.hpp"
#include "ros2/index.hpp"
#include "ros2/rmw.hpp"
#include "topics.hpp"
#if __has_include(<middlemark_interfaces/srv/bytes.h>)
#include "service.hpp"
#define MIDDLEMARK_RCL_SERVICES
#endif

namespace middlemark {

class RosC {
 public:
  explicit RosC(const Settings& settings) : settings_(settings), node_(settings) {}

  [[nodiscard]] static Description describe() {
    const std::vector<ros2::Rmw> rmws = rcl::usable_rmws();
    Description description;
    description.name = "rcl";
#ifdef RCL_VERSION_STR
    description.version = RCL_VERSION_STR;
#endif
    description.library = kit::loaded_library(reinterpret_cast<const void*>(&rcl_init)).path;
    description.licence = "Apache-2.0";
    if (rcl::wheels == nullptr) description.credentials = {Credential::x509, Credential::dds};
    description.own_threads = true;
    std::vector<std::string> words;
    for (const ros2::Rmw& rmw : rmws) {
      const std::string beneath = ros2::measures_nothing ? ros2::beneath(rmw.name) : "";
      Transport transport = ros2::network(rmw.name, beneath);
      transport.receive = {Reception::poll, Reception::block};
      transport.types = kit::all_types;
#ifdef MIDDLEMARK_RCL_NO_OWN_TYPES
      std::erase(transport.types, MessageType::tf);  // tf2_msgs is not in the wheels
#endif
      transport.varying_sizes = true;
      transport.max_history = std::nullopt;
#ifdef MIDDLEMARK_RCL_LOANS
      transport.loan = {false, true};
#endif
      if (rcl::wheels != nullptr) {
        transport.security = {Security::none};
        transport.permissions = false;
        transport.security_why = "the Fast DDS of these wheels was built without security";
      }
      description.transports.push_back(std::move(transport));
      words.push_back(ros2::words_of(rmw, beneath));
    }
    description.title = ros2::title(rcl::distribution(), "rcl", words);
    description.residue = ros2::residue();
    return description;
  }

  static void check(const Settings& settings) {
    const bool calls = settings.pattern == Pattern::request_reply;
    const bool octets = settings.type == MessageType::octets;
    if (calls && !octets) {
      throw AdapterError("rcl: services support only octets", "take type octets, or pattern ping-pong");
    }
    const bool plain = !calls && octets && std::ranges::none_of(settings.topics, [](const TopicRequest& topic) {
      return topic.type != MessageType::octets || !topic.sizes_path.empty();
    });
    if (!settings.loan || plain) return;
    throw AdapterError(
        "rcl: only plain types can be loaned; a service's messages, and types with strings, sequences or varying "
        "sizes, are not plain",
        "choose loan = false, or messages of octets of one size");
  }

  [[nodiscard]] rcl::Publisher publisher(const Topic& topic, unsigned /*index*/) { return {node_, topic, settings_}; }
  [[nodiscard]] rcl::Subscriber subscriber(const Topic& topic, unsigned /*index*/) { return {node_, topic, settings_}; }
#ifdef MIDDLEMARK_RCL_SERVICES
  [[nodiscard]] rcl::Client client(const Topic& service, unsigned /*index*/) { return {node_, service}; }
  [[nodiscard]] rcl::Server server(const Topic& service, unsigned /*index*/) { return {node_, service}; }
#endif

  [[nodiscard]] SharedSegment shared_segment() const { return ros2::shared_segment(loaded(), settings_); }
  [[nodiscard]] std::vector<std::string> notes() const { return ros2::notes(loaded(), words(), settings_); }
  [[nodiscard]] std::string protected_by() const { return ros2::protected_by(words()); }

 private:
  [[nodiscard]] static std::string loaded() { return rmw_get_implementation_identifier(); }
  [[nodiscard]] static std::string words() { return ros2::words_of_loaded(loaded(), rcl::usable_rmws()); }

  const Settings settings_;
  rcl::Node node_;
};

static_assert(fulfils_contract<RosC>);

}  // namespace middlemark
