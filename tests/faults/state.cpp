#include <signal.h>
#include <unistd.h>
#include <unwind.h>

#include <cstdlib>
#include <cstring>
#include <optional>

#include "faults.hpp"

namespace faults {
namespace {

struct Plan {
  std::optional<Kind> kind;
  int signal = 0;
  std::uint64_t at = 0;
  bool and_later = false;
};

Plan plan;
std::atomic<State*> state{nullptr};

_Unwind_Reason_Code note_frame(_Unwind_Context* context, void* /*unused*/) {
  State* const to = state.load();
  const unsigned i = to->frame_count.load();
  if (i == kFrames) return _URC_END_OF_STACK;
  to->frames[i] = reinterpret_cast<void*>(_Unwind_GetIP(context));
  to->frame_count.store(i + 1);
  return _URC_NO_REASON;
}

}  // namespace

void start(State* where, const char* text) {
  plan = {};
  for (auto& count : where->counts) count = 0;
  where->fired = 0;
  where->frame_count = 0;
  const char* const colon = std::strchr(text, ':');
  if (colon != nullptr) {
    const auto is = [&](const char* word) {
      return std::strlen(word) == static_cast<std::size_t>(colon - text) &&
             std::strncmp(word, text, std::strlen(word)) == 0;
    };
    for (unsigned k = 0; k < kKinds; ++k)
      if (is(kNames[k])) plan.kind = static_cast<Kind>(k);
    constexpr struct {
      const char* word;
      int signal;
    } kSignals[] = {{"kill", SIGKILL}, {"term", SIGTERM}, {"int", SIGINT}, {"hup", SIGHUP}};
    for (const auto& [word, signal] : kSignals)
      if (is(word)) plan.kind = Kind::change, plan.signal = signal;
    char* end = nullptr;
    plan.at = std::strtoull(colon + 1, &end, 10);
    plan.and_later = *end == '+';
    if (!plan.kind || plan.at == 0) ::_exit(97);
  }
  state = where;
}

void note_frames() {
  if (state.load() == nullptr) return;
  state.load()->frame_count = 0;
  _Unwind_Backtrace(note_frame, nullptr);
}

bool fails(Kind kind) {
  State* const to = state.load(std::memory_order_relaxed);
  if (to == nullptr) return false;
  const std::uint64_t number = to->counts[static_cast<unsigned>(kind)].fetch_add(1) + 1;
  if (kind != plan.kind || (plan.and_later ? number < plan.at : number != plan.at)) return false;
  if (to->fired.fetch_add(1) == 0) note_frames();
  if (plan.signal == 0) return true;
  ::kill(::getpid(), plan.signal);
  return false;
}

bool fails_change(Kind kind) {
  const bool changed = fails(Kind::change);
  return fails(kind) || changed;
}

bool lacks(const char* what) {
  const char* const list = std::getenv("TARE_FAULTS_WITHOUT");
  return list != nullptr && std::strstr(list, what) != nullptr;
}

}  // namespace faults
