// An adapter for eProsima Fast DDS. README.md lists which settings of Fast DDS each setting of a trial sets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/topic/Topic.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>

#include <dds_qos/policies.hpp>
#include <middlemark/adapter.hpp>

#include "discovery.hpp"
#include "ends.hpp"
#include "library.hpp"
#include "options.hpp"
#include "own_settings.hpp"
#include "qos.hpp"
#include "tcp.hpp"

namespace middlemark::fastdds {

class FastDds {
 public:
  static Description describe() {
    const kit::LoadedLibrary library = loaded_library();
    const std::string files = shm_files + std::string("*");
    Description description;
    description.name = "fastdds";
    description.title = "eProsima Fast DDS";
    description.version = library.version;
    description.library = library.path;
    description.licence = "Apache-2.0";
    description.own_threads = true;
    description.residue = {"/dev/shm/" + files, "/dev/shm/sem." + files, "/dev/shm/fast_datasharing_*"};
    description.transports = {
        {.name = "shm", .carrier = "shared-memory", .segments = {files}, .loan = {false, true}, .varying_sizes = true},
        {.name = "data-sharing",
         .carrier = "shared-memory",
         .segments = {"fast_datasharing_*"},
         .loan = {false, true},
         .hands_over = {true}},
        {.name = "intraprocess",
         .carrier = "process-memory",
         .processes = {1},
         .loan = {false, true},
         .hands_over = {true},
         .varying_sizes = true},
        {.name = "udp", .carrier = "udp", .loan = {false, true}, .varying_sizes = true, .wire = "rtps"},
        {.name = "tcp", .carrier = "tcp", .processes = {2}, .loan = {false, true}, .varying_sizes = true},
        {.name = default_configuration,
         .carrier = "any",
         .segments = {files, "fast_datasharing_*"},
         .loan = {false, true},
         .varying_sizes = true,
         .wire = "rtps"}};
    for (Transport& transport : description.transports) {
      transport.types = kit::all_types;
      if (transport.name == "udp" || transport.name == "shm" || transport.carrier == "any") {
        transport.patterns = every_pattern;
        transport.participants_per_process = most_participants;
      }
      transport.max_history = std::nullopt;
      list_security(transport);
      if (transport.name == "udp" || transport.carrier == "any") {
        transport.via = {Via::direct, Via::discovery_server};
        transport.via_why = "DDS has no router; a discovery server leaves the messages' way as it is";
      } else {
        transport.via_why = "fast-discovery-server listens on UDP, which this transport does not use for discovery";
      }
    }
    description.credentials = {Credential::x509, Credential::dds};
    description.native = kit::native_table<Native>();
    return description;
  }

  static void check(const Settings& settings) {
    const Options options{settings};
    if (!options.config.empty()) load_profiles_once(options);
    const bool typed =
        settings.type != MessageType::octets || std::ranges::any_of(settings.topics, [](const TopicRequest& topic) {
          return topic.type != MessageType::octets || !topic.sizes_path.empty();
        });
    if (!settings.loan || !typed) return;
    throw AdapterError(
        "fastdds: only plain types can be loaned, and types with strings, sequences or varying sizes are not plain",
        "choose loan = false, or type = octets of one size");
  }

  [[nodiscard]] static std::vector<Companion> companions(const Settings& settings) {
    const Options options{settings};
    if (!options.by_server) return {};
    if (options.config.empty()) return {discovery_server(settings, nullptr)};
    load_profiles_once(options);
    const auto& qos = factory().get_default_participant_qos();
    if (!names_a_server(qos)) return {discovery_server(settings, nullptr)};
    const Server own = own_server(qos, options);
    return {discovery_server(settings, &own)};
  }

  explicit FastDds(const Settings& settings) : options_(settings) {
    options_.config.empty() ? isolate(options_) : load_profiles_once(options_);
    std::optional<TcpPlace> place;
    if (settings.transport == "tcp") place.emplace(settings);
    participant_.reset(
        created(factory().create_participant(static_cast<std::uint32_t>(settings.domain),
                                             participant_qos(factory().get_default_participant_qos(), options_, place)),
                "the participant of domain " + std::to_string(settings.domain) +
                    (options_.secure ? " with the certificates and documents in " + settings.certs : "")));
    std::set<std::tuple<MessageType, std::size_t, bool>> types;
    for (const Topic& topic : settings.endpoints) types.emplace(topic.type, topic.message_bytes, topic.varies);
    for (const auto& [type, bytes, varies] : types) {
      dds::TypeSupport(new BytesType(type, bytes, varies, options_.settings.paired)).register_type(participant_.get());
    }
    publisher_ = created(participant_->create_publisher(dds::PUBLISHER_QOS_DEFAULT), "the publisher");
    subscriber_ = created(participant_->create_subscriber(dds::SUBSCRIBER_QOS_DEFAULT), "the subscriber");
    if (place) place->open();
  }

  [[nodiscard]] Publisher publisher(const Topic& topic, unsigned /*index*/) {
    return {*publisher_, topic_of(topic), topic, options_};
  }
  [[nodiscard]] Subscriber subscriber(const Topic& topic, unsigned /*index*/) {
    return {*subscriber_, topic_of(topic), topic, options_, linger_};
  }

  [[nodiscard]] std::string protected_by() const { return dds_security::words(options_.settings, key_agreement); }
  [[nodiscard]] std::string refusals() const {
    std::string text = LoggedErrors::text();
    std::vector<dds::DataWriter*> writers;
    std::vector<dds::DataReader*> readers;
    static_cast<void>(publisher_->get_datawriters(writers));
    static_cast<void>(subscriber_->get_datareaders(readers));
    for (dds::DataWriter* writer : writers) {
      dds::OfferedIncompatibleQosStatus status;
      static_cast<void>(writer->get_offered_incompatible_qos_status(status));
      dds_policies::add(text, "offered incompatible QoS", static_cast<std::uint32_t>(status.last_policy_id),
                        status.total_count);
    }
    for (dds::DataReader* reader : readers) {
      dds::RequestedIncompatibleQosStatus status;
      static_cast<void>(reader->get_requested_incompatible_qos_status(status));
      dds_policies::add(text, "requested incompatible QoS", static_cast<std::uint32_t>(status.last_policy_id),
                        status.total_count);
    }
    if (options_.by_server && text.empty()) {
      text = "participants look for each other by the discovery server " + Server::of_the_trial().place();
    }
    return text;
  }
  [[nodiscard]] SharedSegment shared_segment() const { return options_.shared_segment(); }
  [[nodiscard]] OwnSettings own_settings() const {
    std::vector<dds::DataWriterQos> writers;
    std::vector<dds::DataReaderQos> readers;
    const auto add = [](auto& all, const auto& qos) {
      if (std::ranges::find(all, qos) == all.end()) all.push_back(qos);
    };
    for (const Topic& topic : options_.settings.endpoints) {
      add(writers, writer_qos(publisher_->get_default_datawriter_qos(), options_, topic));
      add(readers, reader_qos(subscriber_->get_default_datareader_qos(), options_, topic));
    }
    OwnSettings settings =
        fastdds::own_settings(participant_->get_qos(), writers, readers, delivers_within_process(options_));
    if (options_.by_server) settings.text += "<!-- " + std::string(Options::about_server) + " -->\n";
    return settings;
  }
  [[nodiscard]] std::vector<std::string> notes() const {
    std::vector<std::string> all = options_.notes();
    std::string left_out;
    visit_addresses(factory().get_default_participant_qos(), [&left_out](const char* name, const auto& locators) {
      if (!locators.empty()) left_out += (left_out.empty() ? "" : ", ") + std::string(name);
    });
    if (!left_out.empty()) all.push_back("config: left out of the participant's profile: " + left_out);
    return all;
  }

 private:
  static void list_security(Transport& transport) {
    if (!has_security()) {
      transport.security_why = "this Fast DDS was built without security";
      return;
    }
    if (transport.name == "intraprocess" || transport.carrier == "any") {
      transport.security_why = dds_security::why_not_within_a_process;
      return;
    }
    transport.permissions = true;
    transport.security = {Security::none, Security::authenticated};
    if (transport.name == "data-sharing") {
      transport.security_why = "Fast DDS does not use data-sharing for messages that it signs or encrypts";
    } else {
      transport.security.insert(transport.security.end(), {Security::signed_, Security::encrypted});
    }
  }

  /// Deletes the participant, because otherwise its files in shared memory would remain.
  struct Delete {
    void operator()(dds::DomainParticipant* participant) const {
      if (tcp_exit)
        return;  // over TCP: leave(), called at the end of main(), ends the process without deleting the participant
      participant->delete_contained_entities();
      factory().delete_participant(participant);
    }
  };

  static dds::DomainParticipantFactory& factory() { return *dds::DomainParticipantFactory::get_instance(); }

  /// Makes Fast DDS ignore the user's profiles and environment. Must run before the first use of Fast DDS in the
  /// process.
  static void isolate(const Options& options) {
    for (const char* name : {"FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE",
                             "FASTDDS_ENVIRONMENT_FILE", "FASTDDS_STATISTICS", "FASTDDS_BUILTIN_TRANSPORTS",
                             "ROS_DISCOVERY_SERVER", "ROS_SUPER_CLIENT", "ROS2_EASY_MODE"}) {
      unsetenv(name);
    }
    // Ignore DEFAULT_FASTRTPS_PROFILES.xml (version 3: DEFAULT_FASTDDS_PROFILES.xml) in the working directory.
    setenv("SKIP_DEFAULT_XML_FILE", "1", 1);
    deliver_within_the_process(delivers_within_process(options));
    // With security, log warnings as well, because Fast DDS reports the rejection of a peer as a warning.
    dds::Log::SetVerbosity(options.secure ? dds::Log::Kind::Warning : dds::Log::Kind::Error);
    dds::Log::RegisterConsumer(std::make_unique<LoggedErrors>());
  }

  [[nodiscard]] static bool delivers_within_process(const Options& options) {
    return options.over("intraprocess") || options.is_default || (options.composed && !options.secure);
  }

  /// Loads the profiles that the user passed as `config`. Library settings in these profiles replace ours. If they name
  /// a file, such as a log, by a relative path, it is written to the trial's folder.
  static void load_profiles(const Options& options) {
    if (options.config.empty()) return;
    const std::filesystem::path file = std::filesystem::absolute(options.config);
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(options.settings.scratch);
    const bool loaded = succeeded(factory().load_XML_profiles_file(file)) && succeeded(factory().load_profiles());
    std::filesystem::current_path(before);
    const std::string reported = LoggedErrors::text();
    if (loaded && reported.empty()) return;
    throw AdapterError("fastdds: config: " + options.config + ": " + LoggedErrors::reason(),
                       "correct the file: it must contain Fast DDS's profiles in XML");
  }

  /// Loads the user's profiles unless this process has loaded them, because Fast DDS cannot unload profiles. Before the
  /// first trial this checks the file: throws an AdapterError if Fast DDS refuses it.
  static void load_profiles_once(const Options& options) {
    static const std::optional<AdapterError> refusal = [&options]() -> std::optional<AdapterError> {
      try {
        isolate(options);
        load_profiles(options);
        refuse_profiles(factory().get_default_participant_qos(), options);
      } catch (const AdapterError& error) {
        return error;
      }
      return std::nullopt;
    }();
    if (refusal) throw *refusal;
  }

  dds::Topic& topic_of(const Topic& requested) {
    dds::Topic*& topic = topics_[requested.name];
    if (topic == nullptr) {
      topic = created(participant_->create_topic(requested.name,
                                                 BytesType::name_of(requested.type, requested.message_bytes,
                                                                    requested.varies, requested.paired),
                                                 dds::TOPIC_QOS_DEFAULT),
                      "the topic " + requested.name);
    }
    return *topic;
  }

  const Options options_;
  std::chrono::milliseconds linger_ = options_.linger;
  std::unique_ptr<dds::DomainParticipant, Delete> participant_;
  dds::Publisher* publisher_ = nullptr;
  dds::Subscriber* subscriber_ = nullptr;
  std::map<std::string, dds::Topic*> topics_;
};

static_assert(CountsPublishers<Subscriber> && HasNotes<FastDds>);

}  // namespace middlemark::fastdds
