// The participants of a crowd in one worker. Each has an adapter of its own.
//
// The workers' main() must not contain this code: the compiler generates different code for an adapter's hot functions
// if two roles call them. So the build compiles register_crowd<A>() in its own source file (cmake/crowd.cpp.in).
// worker.cpp finds the function through crowd_opener().
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <middlemark/adapter.hpp>
#include <middlemark/endpoints.hpp>
#include <middlemark/recorder.hpp>
#include <middlemark/roles/participant.hpp>
#include <middlemark/session.hpp>

namespace middlemark {

using OpenCrowd = std::unique_ptr<Session> (*)(const Configuration& configuration, const Clock& clock);

/// Returns the function that opens a crowd in this worker; null if the worker was built without one.
[[nodiscard]] OpenCrowd crowd_opener() noexcept;
void set_crowd_opener(OpenCrowd opener) noexcept;

template <Adapter A>
class ParticipantRole final : public Role {
 public:
  ParticipantRole(const Settings& settings, const ParticipantRequest& request, const Clock& clock)
      : Role(RoleKind::participant, request.index, Part::sends, request.cpu),
        path_(request.samples_path),
        participant_(settings, request, clock, progress) {}

  std::size_t matched() override { return 0; }
  std::size_t expected() const override { return 0; }
  Found publishers() override { return participant_.publishers(); }
  [[nodiscard]] bool runs_before_start() const noexcept override { return true; }
  void start() noexcept override { participant_.start(); }
  void enter(const CrowdCommand& command) noexcept override { participant_.enter(command); }
  std::size_t peers() const override { return participant_.peers(); }
  void run() override { participant_.run(); }
  std::size_t kept_bytes() const override { return participant_.kept_bytes(); }
  void keep() const override {
    if (path_.empty()) return;
    const auto arrivals = participant_.arrivals();
    write_npy_records(path_, Arrival::npy_descr, arrivals.data(), sizeof(Arrival), arrivals.size());
  }
  AnyRoleResult result() const override { return participant_.result(); }
  [[nodiscard]] const A& adapter() const noexcept { return participant_.adapter(); }

 private:
  std::string path_;
  Participant<A> participant_;
};

/// A session in which each participant has its own adapter. The adapter of the first participant reports notes and
/// settings.
template <Adapter A>
class CrowdSession final : public Session {
 public:
  CrowdSession(const Configuration& configuration, const Clock& clock) : Session(configuration) {
    for (const AnyRoleRequest& request : configuration.roles) {
      const auto& participant = std::get<ParticipantRequest>(request);
      Settings settings = configuration.settings;
      settings.endpoints = participant_endpoints(configuration.settings, participant.index);
      auto role = std::make_unique<ParticipantRole<A>>(settings, participant, clock);
      if (first_ == nullptr) first_ = role.get();
      roles_.push_back(std::move(role));
    }
  }
  ~CrowdSession() override { finish(); }

  std::vector<std::string> notes() const override {
    if constexpr (HasNotes<A>) return first_->adapter().notes();
    return {};
  }
  SharedSegment shared_segment() const override {
    if constexpr (HasSharedSegment<A>) return first_->adapter().shared_segment();
    return {};
  }
  std::optional<OwnSettings> own_settings() const override {
    if constexpr (ReportsSettings<A>) {
      if (OwnSettings settings = first_->adapter().own_settings(); !settings.text.empty()) return settings;
    }
    return std::nullopt;
  }
  std::string refusals() const override {
    if constexpr (ReportsRefusals<A>) return first_->adapter().refusals();
    return {};
  }

 protected:
  std::string protection() const override {
    if constexpr (ReportsProtection<A>) return first_->adapter().protected_by();
    return {};
  }

 private:
  const ParticipantRole<A>* first_ = nullptr;
};

/// Makes crowds of this adapter available to worker_main(). Returns true, for the initialiser of a global constant.
template <Adapter A>
bool register_crowd() noexcept {
  set_crowd_opener([](const Configuration& configuration, const Clock& clock) -> std::unique_ptr<Session> {
    return std::make_unique<CrowdSession<A>>(configuration, clock);
  });
  return true;
}

}  // namespace middlemark
