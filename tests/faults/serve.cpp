// Runs the command many times without starting it anew: main is replaced by a loop that forks a child for each line of
// standard input, "WHAT<TAB>DIRECTORY", which runs the real main there. The reply is one line on standard output:
//     STATUS (as from waitpid) FIRED name=count...  MODULE+OFFSET...
// The child's output goes to DIRECTORY.out and .err. Without TARE_FAULTS_SERVE, the command runs once, with the fault
// in TARE_FAULTS.
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cinttypes>
#include <cstring>

#include "faults.hpp"

namespace {

using Main = int (*)(int, char**, char**);

Main real_main = nullptr;
faults::State* state = nullptr;

constexpr unsigned kSeconds = 60;  // longer than any run takes

void redirect(const char* directory, const char* suffix, int to) {
  char path[4096];
  ::snprintf(path, sizeof path, "%s.%s", directory, suffix);
  const int file = ::open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || ::dup2(file, to) < 0 || ::close(file) != 0) ::_exit(97);
}

int run_child(const char* text, const char* directory, int argc, char** argv, char** env) {
  if (::chdir(directory) != 0) ::_exit(97);
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing < 0 || ::dup2(nothing, 0) < 0 || ::close(nothing) != 0) ::_exit(97);
  redirect(directory, "out", 1);
  redirect(directory, "err", 2);
  ::alarm(kSeconds);
  faults::start(state, text);
  return real_main(argc, argv, env);
}

void answer(int status) {
  ::printf("%d %" PRIu64, status, state->fired.load());
  for (unsigned k = 0; k < faults::kKinds; ++k) ::printf(" %s=%" PRIu64, faults::kNames[k], state->counts[k].load());
  for (unsigned i = 0; i < state->frame_count.load(); ++i) {
    Dl_info where{};
    if (::dladdr(state->frames[i], &where) == 0) continue;
    const auto offset = static_cast<char*>(state->frames[i]) - static_cast<char*>(where.dli_fbase);
    ::printf(" %s+%td:%s", where.dli_fname, offset, where.dli_sname == nullptr ? "" : where.dli_sname);
  }
  ::printf("\n");
  ::fflush(stdout);
}

int serve(int argc, char** argv, char** env) {
  char line[8192];
  while (::fgets(line, sizeof line, stdin) != nullptr) {
    line[::strcspn(line, "\n")] = 0;
    char* const tab = ::strchr(line, '\t');
    if (tab == nullptr) return 97;
    *tab = 0;
    const pid_t child = ::fork();
    if (child == 0) ::exit(run_child(line, tab + 1, argc, argv, env));
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child) return 97;
    answer(status);
  }
  return 0;
}

int other_main(int argc, char** argv, char** env) {
  // By its number, because our own mmap would count it.
  void* const shared = reinterpret_cast<void*>(
      ::syscall(SYS_mmap, nullptr, sizeof(faults::State), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (shared == MAP_FAILED) return 97;
  state = static_cast<faults::State*>(shared);
  if (::getenv("TARE_FAULTS_SERVE") != nullptr) return serve(argc, argv, env);
  const char* const text = ::getenv("TARE_FAULTS");
  if (text != nullptr) faults::start(state, text);
  return real_main(argc, argv, env);
}

}  // namespace

extern "C" int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(), void (*rtld)(),
                                 void* stack) {
  using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  real_main = main;
  return reinterpret_cast<Start>(::dlsym(RTLD_NEXT, "__libc_start_main"))(other_main, argc, argv, init, fini, rtld,
                                                                          stack);
}
