// Stops a child before its k-th change to the file system, with ptrace, to test every state that a kill can leave.
#pragma once

#include <sys/ptrace.h>
#include <sys/syscall.h>

#include <csignal>
#include <set>

#include "conformance/scratch.hpp"

namespace tare::testing {

inline bool changes_files(std::uint64_t call) {
  static const std::set<std::uint64_t> kCalls = {
      SYS_pwrite64,  SYS_write,    SYS_ftruncate, SYS_copy_file_range, SYS_linkat,
      SYS_renameat2, SYS_unlinkat, SYS_openat,    SYS_fchmod,          SYS_mkdirat,
#ifdef SYS_rename  // the calls without "at", which ARM64 never had
      SYS_rename,    SYS_link,     SYS_unlink,
#endif
#ifdef SYS_renameat
      SYS_renameat,
#endif
  };
  return kCalls.contains(call);
}

enum class Stopped { killed, finished, not_allowed };

// Runs `body` in a child and kills it just before its system call number `step` (from 0) that changes files.
// `finished`: it made fewer such calls and ended by itself.
template <typename Body>
Stopped kill_before_step(int step, const Body& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(98);
    ::raise(SIGSTOP);
    int code = 99;
    try {
      code = body();
    } catch (...) {
    }
    ::_exit(code);
  }
  int status = end_of(child);
  if (WIFEXITED(status)) return Stopped::not_allowed;
  ::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  for (int signal = 0;;) {
    if (::ptrace(PTRACE_SYSCALL, child, nullptr, signal) != 0) return Stopped::not_allowed;
    signal = 0;
    status = end_of(child);
    if (WIFEXITED(status)) {
      EXPECT_EQ(WEXITSTATUS(status), 0);
      return Stopped::finished;
    }
    if (!WIFSTOPPED(status)) return Stopped::not_allowed;
    if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
      signal = WSTOPSIG(status);
      continue;
    }
    __ptrace_syscall_info info{};
    if (::ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info) <= 0) {
      ::kill(child, SIGKILL);
      end_of(child);
      return Stopped::not_allowed;
    }
    if (info.op != PTRACE_SYSCALL_INFO_ENTRY || !changes_files(info.entry.nr) || step-- > 0) continue;
    ::kill(child, SIGKILL);
    end_of(child);
    return Stopped::killed;
  }
}

// Waits this long, then kills the child.
inline int kill_after(pid_t child, unsigned microseconds) {
  if (microseconds > 0) ::usleep(microseconds);
  ::kill(child, SIGKILL);
  return end_of(child);
}

}  // namespace tare::testing
