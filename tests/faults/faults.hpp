// A library that is loaded in front of the C library (LD_PRELOAD) and fails the n-th call of a kind: how the command
// behaves when memory, disk, descriptors or threads run out at any one moment. See run.py for what is checked.
//
// What is to happen is a text:
//     alloc:7     the 7th allocation fails
//     alloc:7+    the 7th and every later one
//     kill:3      SIGKILL right before the 3rd call that changes files (also term, int, hup)
//     count       nothing fails; calls are counted
#pragma once

#include <atomic>
#include <cstdint>

namespace faults {

// What a call is counted as. `change` is everything that changes files, whatever else it is.
enum class Kind : unsigned { alloc, write, cut, sync, name, mode, open, read, map, thread, change };
constexpr const char* kNames[] = {"alloc", "write", "short", "sync",   "name",  "mode",
                                  "open",  "read",  "map",   "thread", "change"};

constexpr unsigned kKinds = sizeof kNames / sizeof kNames[0];
constexpr unsigned kFrames = 24;

// Shared with the process that started the run, so that it can be read whatever end the run comes to.
struct State {
  std::atomic<std::uint64_t> counts[kKinds];
  std::atomic<std::uint64_t> fired;  // how many calls failed
  void* frames[kFrames];             // who made the first one that did, or who ended the process by abort()
  std::atomic<unsigned> frame_count;
};

// Counts a call; true when it is to fail. Sends the signal when one is to be sent.
bool fails(Kind kind);
// Counts a call that changes files, and as what else.
bool fails_change(Kind kind);

// Notes who calls, instead of who did before.
void note_frames();

// Nothing is counted before this.
void start(State* state, const char* text);

// What the machine is to lack: "tmpfile", "proc", "exchange".
bool lacks(const char* what);

}  // namespace faults
