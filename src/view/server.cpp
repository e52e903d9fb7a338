#include "view/server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <list>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "view/door.hpp"
#include "view/http_library.hpp"

namespace tare::view {

using ServerClock = std::chrono::steady_clock;

// A connection.
struct Client {
  enum class Does : std::uint8_t { ask, wait, take };
  int descriptor = -1;
  Does does = Does::ask;
  ServerClock::time_point since = ServerClock::now();
};

// A request.
struct Exchange {
  std::string target;
  Admission admission;
  bool begun = false, asked = false, ready = false;
  Answer answer;
};

struct Socket {
  int descriptor = -1;
  std::uint16_t port = 0;
  std::string shown;  // "127.0.0.1", "[::1]"
};

namespace {

using Clock = ServerClock;
using std::chrono::seconds;

constexpr unsigned kMostClients = 256, kManyClients = 64;
constexpr std::size_t kClientMemory = 32 << 10;  // head of a request and the like
constexpr std::size_t kMostWaiting = 128;        // requests that no thread has begun
constexpr unsigned kWorkers = 2;
constexpr double kPerSecond = 200, kBurst = 400;
// How long a client may take to say what it wants, when there are few of them and when there are many, and to take the answer.
constexpr seconds kPatience{10}, kShortPatience{1}, kSendingPatience{60};

Error cannot_listen(const ServerOptions& options, std::string_view why) {
  return Error(ErrorKind::io, "view.listen",
               fmt::format("cannot listen on {} port {}: {}", options.address, options.port, why));
}

Socket listen_on(const ServerOptions& options) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_flags = AI_NUMERICHOST | AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  if (::getaddrinfo(options.address.c_str(), nullptr, &hints, &found) != 0 || found == nullptr)
    throw cannot_listen(options, "it is not a numeric address");
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> held(found, ::freeaddrinfo);
  Socket made;
  made.descriptor = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (made.descriptor < 0) throw cannot_listen(options, std::strerror(errno));
  const int yes = 1;
  ::setsockopt(made.descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  auto* const four = reinterpret_cast<sockaddr_in*>(found->ai_addr);
  auto* const six = reinterpret_cast<sockaddr_in6*>(found->ai_addr);
  const bool is_six = found->ai_family == AF_INET6;
  (is_six ? six->sin6_port : four->sin_port) = htons(options.port);
  if (::bind(made.descriptor, found->ai_addr, found->ai_addrlen) != 0 || ::listen(made.descriptor, 64) != 0) {
    const int problem = errno;
    ::close(made.descriptor);
    throw cannot_listen(options, std::strerror(problem));
  }
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  ::getsockname(made.descriptor, reinterpret_cast<sockaddr*>(&own), &length);
  made.port =
      ntohs(is_six ? reinterpret_cast<sockaddr_in6*>(&own)->sin6_port : reinterpret_cast<sockaddr_in*>(&own)->sin_port);
  made.shown = is_six ? "[" + options.address + "]" : options.address;
  return made;
}

// By these names a client may address the server; with the port, which only port 80 could do without.
std::vector<std::string> names_of(const Socket& socket, const ServerOptions& options) {
  std::vector<std::string> names = {socket.shown, "127.0.0.1", "localhost", "[::1]"};
  names.insert(names.end(), options.hosts.begin(), options.hosts.end());
  for (std::string& name : names)
    if (socket.port != 80) name += fmt::format(":{}", socket.port);
  return names;
}

std::string link_of(const Socket& socket, const std::string& token) {
  const bool any = socket.shown == "0.0.0.0" || socket.shown == "[::]";
  return fmt::format("http://{}:{}/{}/", any ? "127.0.0.1" : socket.shown, socket.port, token);
}

}  // namespace

struct Server::State {
  const HttpLibrary& http = http_library();
  const Service& service;
  const Page& page;
  const std::string token = random_token(), once = random_token();
  Socket socket;
  const std::string link, link_once;
  Door door;
  Rate rate{kPerSecond, kBurst};
  MHD_Daemon* daemon = nullptr;

  std::mutex mutex;  // of all that follows
  std::condition_variable wake;
  std::list<Client> clients;
  std::deque<std::pair<MHD_Connection*, Exchange*>> waiting;
  bool ending = false, used_once = false;
  std::vector<std::jthread> workers;
  std::jthread janitor;

  State(const Service& s, const Page& p, const ServerOptions& options)
      : service(s),
        page(p),
        socket(listen_on(options)),
        link(link_of(socket, token)),
        link_once(link_of(socket, once)),
        door(token, names_of(socket, options)) {}

  // Client of a connection; under the mutex.
  Client* client_of(MHD_Connection* connection) const {
    const auto* const info = http.get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == nullptr ? nullptr : static_cast<Client*>(info->socket_context);
  }

  void now_does(MHD_Connection* connection, Client::Does what) {
    const std::scoped_lock lock(mutex);
    if (Client* const client = client_of(connection)) client->does = what, client->since = Clock::now();
  }

  void greet(MHD_Connection* connection, void** context, MHD_ConnectionNotificationCode code) {
    const std::scoped_lock lock(mutex);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
      const auto* const info = http.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
      clients.push_back({info == nullptr ? -1 : info->connect_fd});
      *context = &clients.back();
    } else {
      clients.remove_if([&](const Client& client) { return &client == *context; });
      *context = nullptr;
    }
  }

  // Sends away who takes too long. The descriptor is still the client's: it is closed after `greet` has been told.
  void send_away() {
    const std::scoped_lock lock(mutex);
    const Clock::time_point now = Clock::now();
    const seconds patience = clients.size() > kManyClients ? kShortPatience : kPatience;
    for (Client& client : clients) {
      const bool late = (client.does == Client::Does::ask && now - client.since > patience) ||
                        (client.does == Client::Does::take && now - client.since > kSendingPatience);
      if (late && client.descriptor >= 0) ::shutdown(client.descriptor, SHUT_RDWR);
    }
  }

  void work() {
    for (;;) {
      std::pair<MHD_Connection*, Exchange*> next;
      {
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return ending || !waiting.empty(); });
        if (waiting.empty()) return;
        next = waiting.front();
        waiting.pop_front();
      }
      Exchange& exchange = *next.second;
      exchange.answer = service.answer(exchange.admission.target, exchange.admission.change);
      if (exchange.answer.body.size() > kMostAnswer)
        exchange.answer = {
            500, error_json(Error(ErrorKind::limit, "view.answer", "the answer is larger than any should be"))};
      exchange.ready = true;
      http.resume_connection(next.first);
    }
  }

  // The page outlives the server; answers are copied.
  MHD_Result reply(MHD_Connection* connection, int status, const std::string& body, bool is_page = false) {
    now_does(connection, Client::Does::take);
    MHD_Response* const response = http.create_response_from_buffer(
        body.size(), const_cast<char*>(body.data()), is_page ? MHD_RESPMEM_PERSISTENT : MHD_RESPMEM_MUST_COPY);
    if (response == nullptr) return MHD_NO;
    const auto header = [&](const char* name, const char* value) { http.add_response_header(response, name, value); };
    header("Content-Type", is_page ? "text/html; charset=utf-8" : "application/json; charset=utf-8");
    header("Content-Security-Policy", is_page ? page.policy.c_str() : "default-src 'none'; frame-ancestors 'none'");
    header("X-Content-Type-Options", "nosniff");
    header("X-Frame-Options", "DENY");
    header("Referrer-Policy", "no-referrer");
    header("Cross-Origin-Resource-Policy", "same-origin");
    header("Cross-Origin-Opener-Policy", "same-origin");
    header("Cache-Control", "no-store");
    const MHD_Result result = http.queue_response(connection, static_cast<unsigned>(status), response);
    http.destroy_response(response);
    return result;
  }

  Head head_of(MHD_Connection* connection, const char* method, const Exchange& exchange) const {
    Head head;
    head.method = method;
    head.target = exchange.target;
    http.get_connection_values(
        connection, MHD_HEADER_KIND,
        [](void* to, MHD_ValueKind, const char* key, const char* value) {
          Head& out = *static_cast<Head*>(to);
          const std::string_view text = value == nullptr ? "" : value;
          if (::strcasecmp(key, "Host") == 0) out.hosts.push_back(text);
          if (::strcasecmp(key, "Origin") == 0) out.origins.push_back(text);
          if (::strcasecmp(key, "Sec-Fetch-Site") == 0) out.site = text;
          if (::strcasecmp(key, "Transfer-Encoding") == 0) out.body_bytes = 1;
          if (::strcasecmp(key, "Content-Length") == 0 && text != "0") out.body_bytes = 1;
          return MHD_YES;
        },
        &head);
    return head;
  }

  MHD_Result refuse(MHD_Connection* connection, const Refusal& refusal) {
    return reply(connection, refusal.status, error_json(Error(ErrorKind::usage, refusal.rule, refusal.sentence)));
  }

  // The link that works once: what holds of the other one must hold of it.
  bool redirects(Head head) {
    if (head.target != "/" + once + "/") return false;
    const std::string lasting = "/" + token + "/";
    head.target = lasting;
    Admission unused;
    const std::scoped_lock lock(mutex);
    return !door.refuse(head, unused) && !std::exchange(used_once, true);
  }

  MHD_Result redirect(MHD_Connection* connection) {
    now_does(connection, Client::Does::take);
    MHD_Response* const response = http.create_response_from_buffer(0, nullptr, MHD_RESPMEM_PERSISTENT);
    if (response == nullptr) return MHD_NO;
    http.add_response_header(response, "Location", ("/" + token + "/").c_str());
    http.add_response_header(response, "Referrer-Policy", "no-referrer");
    http.add_response_header(response, "Cache-Control", "no-store");
    const MHD_Result result = http.queue_response(connection, 303, response);
    http.destroy_response(response);
    return result;
  }

  MHD_Result access(MHD_Connection* connection, const char* method, Exchange& exchange) {
    if (!exchange.begun) {
      exchange.begun = true;
      now_does(connection, Client::Does::wait);
      Head head = head_of(connection, method, exchange);
      if (redirects(head)) return redirect(connection);
      if (const auto refusal = door.refuse(head, exchange.admission)) return refuse(connection, *refusal);
      if (!rate.admit(Clock::now())) return refuse(connection, {429, "view.rate", "too many requests in a second"});
      return MHD_YES;  // asked again when all of the request has come
    }
    if (exchange.admission.room == Room::page) return reply(connection, 200, page.html, true);
    if (exchange.ready) return reply(connection, exchange.answer.status, exchange.answer.body);
    if (exchange.asked) return MHD_YES;
    exchange.asked = true;
    {
      const std::scoped_lock lock(mutex);
      if (!ending && waiting.size() < kMostWaiting) {
        http.suspend_connection(connection);
        waiting.emplace_back(connection, &exchange);
        wake.notify_all();  // the janitor waits for it, too
        return MHD_YES;
      }
    }
    return reply(connection, 503, error_json(Error(ErrorKind::limit, "view.busy", "too many requests are waiting")));
  }
};

Server::Server(const Service& service, const Page& page, const ServerOptions& options)
    : state_(std::make_unique<State>(service, page, options)) {
  State& state = *state_;
  const auto access = [](void* self, MHD_Connection* connection, const char*, const char* method, const char*,
                         const char*, std::size_t* upload, void** context) -> MHD_Result {
    auto* const exchange = static_cast<Exchange*>(*context);
    if (exchange == nullptr) return MHD_NO;
    if (*upload != 0) return MHD_NO;  // a body after all
    try {
      return static_cast<State*>(self)->access(connection, method, *exchange);
    } catch (const std::bad_alloc&) {
      return MHD_NO;
    }
  };
  const auto begins = [](void*, const char* target, MHD_Connection*) -> void* {
    try {
      auto made = std::make_unique<Exchange>();
      made->target = target;
      return made.release();
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  };
  const auto ends = [](void* self, MHD_Connection* connection, void** context, MHD_RequestTerminationCode) {
    delete static_cast<Exchange*>(*context);
    *context = nullptr;
    static_cast<State*>(self)->now_does(connection, Client::Does::ask);
  };
  const auto greets = [](void* self, MHD_Connection* connection, void** context, MHD_ConnectionNotificationCode code) {
    try {
      static_cast<State*>(self)->greet(connection, context, code);
    } catch (const std::bad_alloc&) {
      *context = nullptr;  // nobody watches it but the library's own limit on idle time
    }
  };
  state.daemon = state.http.start_daemon(
      MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, nullptr, nullptr,
      static_cast<MHD_AccessHandlerCallback>(access), &state, MHD_OPTION_LISTEN_SOCKET, state.socket.descriptor,
      MHD_OPTION_CONNECTION_LIMIT, kMostClients, MHD_OPTION_CONNECTION_MEMORY_LIMIT, kClientMemory,
      MHD_OPTION_CONNECTION_TIMEOUT, static_cast<unsigned>(kSendingPatience.count()), MHD_OPTION_URI_LOG_CALLBACK,
      static_cast<void* (*)(void*, const char*, MHD_Connection*)>(begins), &state, MHD_OPTION_NOTIFY_COMPLETED,
      static_cast<MHD_RequestCompletedCallback>(ends), &state, MHD_OPTION_NOTIFY_CONNECTION,
      static_cast<MHD_NotifyConnectionCallback>(greets), &state, MHD_OPTION_END);
  if (state.daemon == nullptr) {
    ::close(state.socket.descriptor);
    throw cannot_listen(options, "the server did not start");
  }
  for (unsigned i = 0; i < kWorkers; ++i) state.workers.emplace_back([&state] { state.work(); });
  state.janitor = std::jthread([&state] {
    std::unique_lock lock(state.mutex);
    while (!state.wake.wait_for(lock, seconds(1), [&] { return state.ending; })) {
      lock.unlock();
      state.send_away();
      lock.lock();
    }
  });
}

Server::~Server() {
  State& state = *state_;
  {
    const std::scoped_lock lock(state.mutex);
    state.ending = true;
  }
  state.wake.notify_all();
  // Requests that wait are answered first: a connection that is suspended cannot be closed.
  state.workers.clear();
  state.janitor = {};
  state.http.stop_daemon(state.daemon);
}

const std::string& Server::url() const { return state_->link; }
const std::string& Server::url_once() const { return state_->link_once; }

}  // namespace tare::view
