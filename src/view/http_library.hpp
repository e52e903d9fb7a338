// The functions of libmicrohttpd, which is loaded when it is first needed; TARE_LINK_SERVER (cmake/view.cmake) links it instead.
#pragma once

#include <microhttpd.h>

namespace tare::view {

struct HttpLibrary {
  decltype(&MHD_start_daemon) start_daemon;
  decltype(&MHD_stop_daemon) stop_daemon;
  decltype(&MHD_get_connection_values) get_connection_values;
  decltype(&MHD_get_connection_info) get_connection_info;
  decltype(&MHD_suspend_connection) suspend_connection;
  decltype(&MHD_resume_connection) resume_connection;
  decltype(&MHD_create_response_from_buffer) create_response_from_buffer;
  decltype(&MHD_add_response_header) add_response_header;
  decltype(&MHD_queue_response) queue_response;
  decltype(&MHD_destroy_response) destroy_response;
};

// Throws unsupported `view.library`, naming the package, if the library is not installed.
const HttpLibrary& http_library();

}  // namespace tare::view
