#include "io/remote/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <optional>

#include "base/process_mutex.hpp"
#include "tare/error.hpp"

namespace tare::io::remote {
namespace {

// The name is that of the interface, which has not changed since 2006. Debian builds it with two TLS libraries.
constexpr const char* kFiles[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
constexpr long kInitAll = 3;

Error missing(std::string_view why) {
  return Error(ErrorKind::unsupported, "remote.library",
               fmt::format("reading from servers needs {} (Debian's package libcurl4): {}", kFiles[0], why))
      .blame(Subject::machine);
}

template <typename Function>
void look_up(void* opened, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(opened, name));
  if (function == nullptr) throw missing(fmt::format("it has no function {}", name));
}

Library load() {
#ifdef TARE_STATIC
  throw Error(ErrorKind::unsupported, "remote.library",
              "this static build cannot load libcurl, which reads from servers; the builds for glibc can")
      .blame(Subject::machine);
#else
  void* opened = nullptr;
  for (const char* const file : kFiles)
    if (opened == nullptr) opened = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) throw missing("it is not installed");
  Library found{};
  look_up(opened, "curl_global_init", found.global_init);
  look_up(opened, "curl_easy_init", found.easy_init);
  look_up(opened, "curl_easy_reset", found.easy_reset);
  look_up(opened, "curl_easy_cleanup", found.easy_cleanup);
  look_up(opened, "curl_easy_setopt", found.easy_setopt);
  look_up(opened, "curl_easy_perform", found.easy_perform);
  look_up(opened, "curl_easy_getinfo", found.easy_getinfo);
  look_up(opened, "curl_easy_strerror", found.easy_strerror);
  look_up(opened, "curl_slist_append", found.slist_append);
  look_up(opened, "curl_slist_free_all", found.slist_free_all);
  if (found.global_init(kInitAll) != 0) throw missing("it cannot start");
  return found;
#endif
}

ProcessMutex library_mutex(LockOrder::table);
std::optional<Library> loaded;  // trivial to destroy

}  // namespace

const Library& library() {
  const std::scoped_lock lock(library_mutex);
  if (!loaded) loaded = load();
  return *loaded;
}

}  // namespace tare::io::remote
