#include <middlemark/events.hpp>

#include <algorithm>
#include <optional>

#include <nlohmann/json.hpp>

#include <middlemark/clock.hpp>

namespace middlemark {
namespace {

using Json = nlohmann::json;

Json or_null(const std::optional<std::uint64_t>& figure) { return figure ? Json(*figure) : Json(nullptr); }

Json sender_of_a_stream(const RoleResult& result) {
  return {{"topic", result.topic},
          {"scheduled", or_null(result.scheduled)},
          {"sent", result.sent},
          {"timed_out", result.timed_out},
          {"publish_failed", result.publish_failed},
          {"late_sends", or_null(result.late_sends)},
          {"unsent", or_null(result.unsent)},
          {"blocked_ns", or_null(result.blocked_ns)},
          {"pacing_ns", result.pacing_ns},
          {"writing_ns", or_null(result.writing_ns)},
          {"stamped_every", result.stamped_every},
          {"first_sent_ns", result.first_ns},
          {"last_sent_ns", result.last_ns},
          {"measured_s", result.measured_s},
          {"samples", result.samples},
          {"in_histogram", result.in_histogram},
          {"warmup_samples", result.warmup_samples}};
}

Json receiver_of_a_stream(const RoleResult& result) {
  return {{"topic", result.topic},
          {"received", result.received},
          {"duplicated", result.duplicated},
          {"reordered", result.reordered},
          {"damaged", result.damaged},
          {"by_source", result.by_source},
          {"first_received_ns", result.first_ns},
          {"last_received_ns", result.last_ns},
          {"samples", result.samples},
          {"in_histogram", result.in_histogram},
          {"one_way_p50_ns", or_null(result.one_way_p50_ns)},
          {"one_way_p99_ns", or_null(result.one_way_p99_ns)},
          {"one_way_max_ns", or_null(result.one_way_max_ns)}};
}

Json caller(const RoleResult& result) {
  return {{"samples", result.samples},
          {"warmup_samples", result.warmup_samples},
          {"measured_s", result.measured_s},
          {"first_begin_ns", result.first_begin_ns},
          {"start_ticks", result.start_ticks},
          {"ticks_per_second", result.ticks_per_second},
          {"sent", result.sent},
          {"received", result.received},
          {"lost", result.lost},
          {"late", result.late},
          {"duplicated", result.duplicated},
          {"reordered", result.reordered},
          {"damaged", result.damaged},
          {"publish_failed", result.publish_failed},
          {"scheduled", or_null(result.scheduled)},
          {"late_sends", or_null(result.late_sends)},
          {"unsent", or_null(result.unsent)},
          {"pacing_ns", result.pacing_ns}};
}

Json answerer(const RoleResult& result) {
  return {{"received", result.received},     {"echoed", result.echoed},
          {"stamped", result.stamped},       {"lost", result.lost},
          {"duplicated", result.duplicated}, {"reordered", result.reordered},
          {"damaged", result.damaged},       {"publish_failed", result.publish_failed}};
}

}  // namespace

Json error_event(const std::string& code, const std::string& text, const std::string& advice) {
  return {{"event", "error"}, {"code", code}, {"text", text}, {"advice", advice}};
}

Json result_event(const RoleResult& result) {
  Json event{{"event", "result"}, {"role", result.role}, {"index", result.index}};
  if (result.role == "publisher") {
    event.update(sender_of_a_stream(result));
  } else if (result.role == "subscriber") {
    event.update(receiver_of_a_stream(result));
  } else if (result.role == "ping" || result.role == "client") {
    event.update(caller(result));
  } else {
    event.update(answerer(result));
  }
  if (result.role == "client" || result.role == "server") event["native"] = result.native;
  event["ended"] = result.ended;
  event["last_error"] = result.last_error;
  return event;
}

const char* phase_name(Phase phase) {
  switch (phase) {
    case Phase::waiting:
      return "waiting";
    case Phase::warm_up:
      return "warm-up";
    case Phase::measuring:
      return "measuring";
    case Phase::echoing:
      return "echoing";
    case Phase::ended:
      break;
  }
  return "ended";
}

Json Account::read(const Session& session) {
  const std::uint64_t now_ns = monotonic_ns();
  const Resources resources = reader_.read();
  Json roles = Json::array();
  std::size_t kept_bytes = 0;
  for (const auto& role : session.roles()) {
    roles.push_back(counts(*role, resources, now_ns));
    kept_bytes += role->kept_bytes();
  }
  Json used = to_json(resources);
  used["bench_bytes"] = kept_bytes;
  return {{"at_ns", now_ns}, {"roles", std::move(roles)}, {"resources", std::move(used)}};
}

Json Account::counts(const Role& role, const Resources& resources, std::uint64_t now_ns) {
  const Progress& progress = role.progress;
  const auto figure = [](const std::atomic<std::uint64_t>& count) { return count.load(std::memory_order_relaxed); };
  Json counts{{"role", role.kind}, {"index", role.index}};
  if (role.sends()) {
    counts["sent"] = figure(progress.sent);
    counts["publish_failed"] = figure(progress.publish_failed);
  }
  if (role.kind == "publisher") counts["blocked_ns"] = blocked_ns(role, resources, now_ns);
  if (role.kind != "publisher") counts["received"] = figure(progress.received);
  if (role.kind == "subscriber") {
    counts["duplicated"] = figure(progress.duplicated);
    counts["reordered"] = figure(progress.reordered);
    counts["damaged"] = figure(progress.damaged);
  }
  return counts;
}

Json Account::blocked_ns(const Role& role, const Resources& resources, std::uint64_t now_ns) {
  const int tid = role.progress.thread_id.load(std::memory_order_relaxed);
  const auto now = std::ranges::find(resources.threads, tid, &ThreadUse::tid);
  if (now == resources.threads.end() || !now->waiting_ns || !role.progress.measures.load(std::memory_order_acquire)) {
    return nullptr;
  }
  const std::uint64_t sleeping_ns = role.progress.sleeping_ns.load(std::memory_order_relaxed);
  const auto [found, first] = begins_.try_emplace(tid, Begin{now_ns, *now, sleeping_ns});
  const Begin& begin = found->second;
  const std::uint64_t accounted = (now->cpu_ns - begin.use.cpu_ns) + (*now->waiting_ns - *begin.use.waiting_ns) +
                                  (sleeping_ns - std::min(sleeping_ns, begin.sleeping_ns));
  const std::uint64_t wall = now_ns - begin.at_ns;
  return wall - std::min(wall, accounted);
}

}  // namespace middlemark
