// A library that is loaded before the C library (LD_PRELOAD) and makes the n-th call of a kind fail, to test the
// command when memory, disk, descriptors or threads run out at any moment. See run.py for the checks.
//
// The fault is given as text:
//     alloc:7     the 7th allocation fails
//     alloc:7+    the 7th and every later one fail
//     kill:3      SIGKILL just before the 3rd call that changes files (also term, int, hup)
//     count       nothing fails; calls are counted
#pragma once

#include <atomic>
#include <cstdint>

namespace faults {

// The kinds of calls. `change` is everything that changes files, in addition to its other kind.
enum class Kind : unsigned { alloc, write, cut, sync, name, mode, open, read, map, thread, change };
constexpr const char* kNames[] = {"alloc", "write", "short", "sync",   "name",  "mode",
                                  "open",  "read",  "map",   "thread", "change"};

constexpr unsigned kKinds = sizeof kNames / sizeof kNames[0];
constexpr unsigned kFrames = 24;

// Shared with the process that started the run, which can read it however the run ends.
struct State {
  std::atomic<std::uint64_t> counts[kKinds];
  std::atomic<std::uint64_t> fired;  // number of calls that failed
  void* frames[kFrames];             // stack of the first call that failed, or of the call of abort()
  std::atomic<unsigned> frame_count;
};

// Counts a call; returns true if it must fail. Sends the signal if one is due.
bool fails(Kind kind);
// Counts a call of this kind that also changes files.
bool fails_change(Kind kind);

// Records the caller's stack, replacing an earlier one.
void note_frames();

// Starts counting.
void start(State* state, const char* text);

// What the machine lacks: "tmpfile", "proc", "exchange".
bool lacks(const char* what);

}  // namespace faults
