#include <middlemark/witness/occupancy.hpp>

#include <algorithm>
#include <utility>

namespace middlemark::witness {

Occupancy::Occupancy(int cpu, std::vector<pid_t> workers, std::size_t most)
    : cpu_(cpu), workers_(std::move(workers)), most_(most) {}

bool Occupancy::ours(pid_t pid) const noexcept { return std::ranges::find(workers_, pid) != workers_.end(); }

void Occupancy::follow(const Switch& found) {
  close(found.at_ns);
  if (ours(found.to)) return;
  // The idle task never preempts a process. If the kernel reports that it did, the next process is one of another
  // container, whose id the kernel hides.
  const bool hidden = found.to == idle && found.preempted;
  if (found.to == idle && !hidden) return;
  under_way_ = Spell{found.at_ns, found.at_ns, cpu_, hidden ? somebody : found.to};
}

void Occupancy::lose() noexcept {
  under_way_.reset();
  complete_ = false;
}

void Occupancy::end(std::uint64_t at_ns) { close(at_ns); }

void Occupancy::close(std::uint64_t at_ns) {
  if (!under_way_) return;
  Spell spell = *under_way_;
  under_way_.reset();
  spell.to_ns = std::max(spell.from_ns, at_ns);
  if (spells_.size() < most_) {
    spells_.push_back(spell);
  } else {
    complete_ = false;
  }
}

Seen summary_between(const std::vector<Spell>& spells, std::uint64_t from_ns, std::uint64_t to_ns, std::size_t most) {
  Seen seen;
  std::vector<Spell> within;
  for (Spell spell : spells) {
    spell.from_ns = std::max(spell.from_ns, from_ns);
    spell.to_ns = std::min(spell.to_ns, to_ns);
    if (spell.from_ns >= spell.to_ns) continue;
    const std::uint64_t ns = spell.to_ns - spell.from_ns;
    seen.others_ns[spell.cpu] += ns;
    seen.by_pid_ns[spell.pid] += ns;
    within.push_back(spell);
  }
  std::ranges::sort(
      within, [](const Spell& a, const Spell& b) { return std::pair(a.cpu, a.from_ns) < std::pair(b.cpu, b.from_ns); });
  for (const Spell& spell : within) {
    if (!seen.longest.empty() && seen.longest.back().cpu == spell.cpu && seen.longest.back().to_ns == spell.from_ns) {
      seen.longest.back().to_ns = spell.to_ns;
    } else {
      seen.longest.push_back(spell);
    }
  }
  const auto longer = [](const Spell& a, const Spell& b) { return a.to_ns - a.from_ns > b.to_ns - b.from_ns; };
  if (seen.longest.size() > most) {
    std::ranges::sort(seen.longest, longer);
    seen.shorter = seen.longest.size() - most;
    seen.longest_of_the_shorter_ns = seen.longest[most].to_ns - seen.longest[most].from_ns;
    seen.longest.resize(most);
  }
  std::ranges::sort(seen.longest, {}, &Spell::from_ns);
  return seen;
}

}  // namespace middlemark::witness
