// libcurl, opened when the first address is read. Tare is built without its headers: these are the few functions and
// numbers of its stable interface that are used.
#pragma once

#include <cstddef>

struct sockaddr;

namespace tare::io::remote {

using Handle = void;  // CURL
struct HeaderList;    // struct curl_slist

// What libcurl hands to the function that opens sockets.
struct CurlAddress {
  int family, type, protocol;
  unsigned length;
  unsigned char address[128];  // struct sockaddr, of `length` bytes
};

struct Library {
  int (*global_init)(long flags);
  Handle* (*easy_init)();
  void (*easy_reset)(Handle*);
  void (*easy_cleanup)(Handle*);
  int (*easy_setopt)(Handle*, int option, ...);
  int (*easy_perform)(Handle*);
  int (*easy_getinfo)(Handle*, int info, ...);
  const char* (*easy_strerror)(int code);
  HeaderList* (*slist_append)(HeaderList*, const char*);
  void (*slist_free_all)(HeaderList*);
};

enum class CurlOption : int {
  low_speed_limit = 19,
  low_speed_time = 20,
  no_progress = 43,
  netrc = 51,
  fresh_connect = 74,
  http_get = 80,
  http_version = 84,
  buffer_size = 98,
  no_signal = 99,
  timeout_ms = 155,
  connect_timeout_ms = 156,
  http_content_decoding = 158,
  protocols = 181,
  tcp_keepalive = 213,
  path_as_is = 234,
  http09_allowed = 285,
  write_data = 10001,
  url = 10002,
  proxy = 10004,
  error_buffer = 10010,
  user_agent = 10018,
  http_header = 10023,
  header_data = 10029,
  progress_data = 10057,
  ca_info = 10065,
  netrc_file = 10118,
  open_socket_data = 10164,
  write_function = 20011,
  header_function = 20079,
  open_socket_function = 20163,
  progress_function = 20219,
};

// Throws `remote.library`, which names the package to install.
const Library& library();

}  // namespace tare::io::remote
