#include "view/http_library.hpp"

#ifndef TARE_LINK_SERVER
#include <dlfcn.h>
#include <fmt/format.h>

#include "tare/error.hpp"
#endif

namespace tare::view {
namespace {

#ifdef TARE_LINK_SERVER

HttpLibrary load() {
  return {.start_daemon = MHD_start_daemon,
          .stop_daemon = MHD_stop_daemon,
          .get_connection_values = MHD_get_connection_values,
          .get_connection_info = MHD_get_connection_info,
          .suspend_connection = MHD_suspend_connection,
          .resume_connection = MHD_resume_connection,
          .create_response_from_buffer = MHD_create_response_from_buffer,
          .add_response_header = MHD_add_response_header,
          .queue_response = MHD_queue_response,
          .destroy_response = MHD_destroy_response};
}

#else

constexpr const char* kFile = "libmicrohttpd.so.12";

Error missing(const char* what) {
  return Error(ErrorKind::unsupported, "view.library",
               fmt::format("the server needs {} (Debian's package libmicrohttpd12): {}", kFile, what));
}

template <typename Function>
void look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr) throw missing(name);
}

HttpLibrary load() {
  void* const library = ::dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = ::dlerror();
    throw missing(why == nullptr ? "it cannot be loaded" : why);
  }
  HttpLibrary functions{};
  look_up(library, "MHD_start_daemon", functions.start_daemon);
  look_up(library, "MHD_stop_daemon", functions.stop_daemon);
  look_up(library, "MHD_get_connection_values", functions.get_connection_values);
  look_up(library, "MHD_get_connection_info", functions.get_connection_info);
  look_up(library, "MHD_suspend_connection", functions.suspend_connection);
  look_up(library, "MHD_resume_connection", functions.resume_connection);
  look_up(library, "MHD_create_response_from_buffer", functions.create_response_from_buffer);
  look_up(library, "MHD_add_response_header", functions.add_response_header);
  look_up(library, "MHD_queue_response", functions.queue_response);
  look_up(library, "MHD_destroy_response", functions.destroy_response);
  return functions;
}

#endif

}  // namespace

const HttpLibrary& http_library() {
  static const HttpLibrary kLibrary = load();
  return kLibrary;
}

}  // namespace tare::view
