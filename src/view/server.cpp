#include "view/server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
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

#include "tare/stop.hpp"
#include "view/door.hpp"
#include "view/http_library.hpp"
#include "view/request.hpp"

namespace tare::view {

using ServerClock = std::chrono::steady_clock;

// A request.
struct Exchange {
  explicit Exchange(std::atomic<std::size_t>& counter) : living(counter) { ++living; }
  ~Exchange() { --living; }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  std::atomic<std::size_t>& living;  // number of live exchanges of the server
  std::string target;
  Admission admission;
  bool begun = false, asked = false, ready = false, dear = false;
  Stop stop;      // requested if the client disconnects, for requests that read data
  Answer answer;  // lives until the client has received it
};

// A connection. It owns its request, because the library does not report the end of every request: a request whose head
// needs more memory than kClientMemory ends silently. The end of a connection is always reported.
struct Client {
  enum class Does : std::uint8_t { ask, wait, take };
  int descriptor = -1;
  Does does = Does::ask;
  ServerClock::time_point since = ServerClock::now();
  std::size_t held = 0;  // bytes of an answer that the client has not received yet
  bool known = false;    // it has sent the token
  std::unique_ptr<Exchange> exchange = {};
};

// A suspended connection, which the library does not touch until it is resumed, and its request.
struct Asked {
  MHD_Connection* connection = nullptr;
  Exchange* exchange = nullptr;
  int descriptor = -1;
};

// Threads that answer one kind of request, and the requests that wait for them.
struct Lane {
  unsigned threads = 2;
  std::size_t most = 128;  // limit of the queue
  int behind = 0;          // how much lower the priority of its threads is (nice value)
  std::condition_variable wake = {};
  std::deque<Asked> waiting = {};
  std::vector<Asked> running = {};
};

struct Socket {
  int descriptor = -1;
  std::uint16_t port = 0;
  std::string shown;  // "127.0.0.1", "[::1]"
};

namespace {

using Clock = ServerClock;
using std::chrono::seconds;

constexpr unsigned kMostClients = 256, kManyClients = 64, kFewestClients = 4;
// There may be twice as many connections as clients, so that newcomers can connect while others are being disconnected.
// They take at most half of the files that the process may open; the model and its temporary files need the others.
unsigned most_clients() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return kMostClients;
  return static_cast<unsigned>(std::clamp<rlim_t>(files.rlim_cur / 4, kFewestClients, kMostClients));
}
constexpr int kBacklog = 4096;                   // connections that the kernel queues for us; it may allow fewer
constexpr std::size_t kClientMemory = 32 << 10;  // for the head of a request
// Bytes of a request's target that are kept: enough to see that it is too long.
constexpr std::size_t kMostKept = kMostTarget + 256;
constexpr std::size_t kMostWaiting = 128;    // requests that no thread has begun
constexpr std::size_t kMostDear = 96;        // the same, for requests that read data
constexpr std::size_t kMostHeld = 64 << 20;  // bytes of answers that clients have not received yet
constexpr unsigned kWorkers = 2;             // per kind of request
constexpr int kDearBehind = 3;               // lists take priority over pictures
// How often to check whether clients that wait for data are still connected.
constexpr std::chrono::milliseconds kLook{50};
constexpr double kPerSecond = 200, kBurst = 400;
// How long a client may take to send its request, and to receive the answer. ServerOptions::short_patience replaces the
// first if there are many clients.
constexpr seconds kPatience{10}, kSendingPatience{60};

Error cannot_listen(const ServerOptions& options, std::string_view why) {
  return Error(ErrorKind::io, "view.listen",
               fmt::format("cannot listen on {} port {}: {}", options.address, options.port, why));
}

Socket listen_on(ServerOptions options) {
  // Throws if the name is invalid.
  for (const std::string& host : options.hosts) static_cast<void>(spelled_host(host, options.port));
  if (options.address == "localhost") options.address = "127.0.0.1";
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
  if (::bind(made.descriptor, found->ai_addr, found->ai_addrlen) != 0 || ::listen(made.descriptor, kBacklog) != 0) {
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

bool is_any(const Socket& socket) { return socket.shown == "0.0.0.0" || socket.shown == "[::]"; }

// The machine's own addresses, as links spell them. Accepting them is safe: DNS rebinding can forge a name but not an
// address.
std::vector<std::string> own_addresses() {
  std::vector<std::string> found;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return found;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> held(all, ::freeifaddrs);
  for (const ifaddrs* at = all; at != nullptr; at = at->ifa_next) {
    const int family = at->ifa_addr == nullptr ? AF_UNSPEC : at->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    char text[NI_MAXHOST];
    const socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    if (::getnameinfo(at->ifa_addr, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) continue;
    const std::string_view name = text;
    if (name.find('%') != std::string_view::npos) continue;  // link-local with a scope, which browsers do not accept
    found.push_back(family == AF_INET6 ? fmt::format("[{}]", name) : std::string(name));
  }
  return found;
}

// The names by which a client may address the server.
std::vector<std::string> names_of(const Socket& socket, const ServerOptions& options) {
  std::vector<std::string> names = {socket.shown, "127.0.0.1", "localhost", "[::1]"};
  if (is_any(socket))
    for (std::string& address : own_addresses()) names.push_back(std::move(address));
  names.insert(names.end(), options.hosts.begin(), options.hosts.end());
  for (std::string& name : names) name = spelled_host(name, socket.port);
  return names;
}

std::vector<std::string> links_to(const Socket& socket, const std::string& token) {
  std::vector<std::string> links;
  const auto add = [&](std::string_view host) {
    links.push_back(fmt::format("http://{}:{}/{}/", host, socket.port, token));
  };
  if (!is_any(socket)) {
    add(socket.shown);
    return links;
  }
  add("127.0.0.1");
  for (const std::string& address : own_addresses())
    if (address != "127.0.0.1" && address != "[::1]" && (socket.shown == "[::]" || address.front() != '['))
      add(address);
  return links;
}

}  // namespace

struct Server::State {
  const HttpLibrary& http = http_library();
  const Service& service;
  const Page& page;
  const ServerOptions options;
  const std::string token = random_token();
  Socket socket;
  const std::vector<std::string> links;
  Door door;
  Rate rate{kPerSecond, kBurst};
  MHD_Daemon* daemon = nullptr;
  std::atomic<bool> shown = false;
  std::atomic<std::size_t> exchanges = 0;  // total, over all clients
  const unsigned places = most_clients();

  std::mutex mutex;  // guards the members below
  std::condition_variable janitor_wake;
  std::list<Client> clients;
  Lane cheap{.threads = kWorkers, .most = kMostWaiting};
  Lane dear{.threads = kWorkers, .most = kMostDear, .behind = kDearBehind};
  bool ending = false;
  std::vector<std::jthread> workers;
  std::jthread janitor;
  std::vector<Asked> gone;  // used only by the janitor thread

  State(const Service& s, const Page& p, const ServerOptions& asked)
      : service(s),
        page(p),
        options(asked),
        socket(listen_on(options)),
        links(links_to(socket, token)),
        door(token, names_of(socket, options), options.other_host) {
    for (Lane* const lane : {&cheap, &dear}) lane->running.reserve(lane->threads);
    gone.reserve(dear.most);
    service.expect_requests();
  }

  // Also runs if the server could only be started partly.
  ~State() {
    {
      const std::scoped_lock lock(mutex);
      ending = true;
      for (const Asked& asked : dear.waiting) asked.exchange->stop.ask();
      for (const Asked& asked : dear.running) asked.exchange->stop.ask();
    }
    for (std::condition_variable* const sleeper : {&cheap.wake, &dear.wake, &janitor_wake}) sleeper->notify_all();
    // First answer the waiting requests: a suspended connection cannot be closed.
    workers.clear();
    janitor = {};
    if (daemon != nullptr)
      http.stop_daemon(daemon);
    else
      ::close(socket.descriptor);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // The client of a connection. Needs the mutex.
  Client* client_of(MHD_Connection* connection) const {
    const auto* const info = http.get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == nullptr ? nullptr : static_cast<Client*>(info->socket_context);
  }

  void now_does(MHD_Connection* connection, Client::Does what) {
    const std::scoped_lock lock(mutex);
    Client* const client = client_of(connection);
    if (client == nullptr) return;
    client->does = what;
    client->since = Clock::now();
    if (what == Client::Does::ask) client->held = 0;
  }

  void now_known(MHD_Connection* connection) {
    const std::scoped_lock lock(mutex);
    if (Client* const client = client_of(connection)) client->known = true;
  }

  // The library calls this at the beginning of a request. Returns null if the client is gone.
  Exchange* begin(MHD_Connection* connection, std::string_view target) {
    auto made = std::make_unique<Exchange>(exchanges);
    made->target = target.substr(0, kMostKept);
    const std::scoped_lock lock(mutex);
    Client* const client = client_of(connection);
    if (client == nullptr) return nullptr;
    client->exchange.swap(made);
    return client->exchange.get();
  }

  void end(MHD_Connection* connection) {
    now_does(connection, Client::Does::ask);
    std::unique_ptr<Exchange> over;
    const std::scoped_lock lock(mutex);
    if (Client* const client = client_of(connection)) over = std::move(client->exchange);
  }

  void greet(MHD_Connection* connection, void** context, MHD_ConnectionNotificationCode code) {
    const std::scoped_lock lock(mutex);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
      const auto* const info = http.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
      clients.emplace_back().descriptor = info == nullptr ? -1 : info->connect_fd;
      *context = &clients.back();
      make_room(clients.back());
    } else {
      clients.remove_if([&](const Client& client) { return &client == *context; });
      *context = nullptr;
    }
  }

  // If all places are taken, disconnects the client that has been idle longest, preferring clients that have not sent
  // the token. The newcomer is refused only if all others wait for an answer. Needs the mutex.
  void make_room(const Client& newcomer) {
    const auto is_there = [](const Client& client) { return client.descriptor >= 0; };
    if (static_cast<std::size_t>(std::ranges::count_if(clients, is_there)) <= places) return;
    const auto oldest = [&](const auto& is_meant) {
      Client* found = nullptr;
      for (Client& client : clients)
        if (is_there(client) && &client != &newcomer && client.does != Client::Does::wait && is_meant(client) &&
            (found == nullptr || client.since < found->since))
          found = &client;
      return found;
    };
    Client* goes = oldest([](const Client& client) { return !client.known && client.does == Client::Does::ask; });
    if (goes == nullptr) goes = oldest([](const Client& client) { return client.does == Client::Does::take; });
    if (goes == nullptr) goes = oldest([](const Client&) { return true; });
    if (goes == nullptr) goes = &clients.back();
    ::shutdown(goes->descriptor, SHUT_RDWR);
    goes->descriptor = -1;
  }

  // Disconnects clients that take too long. The descriptor still belongs to the client: the library closes it only
  // after it has reported the end of the connection.
  void send_away() {
    const std::scoped_lock lock(mutex);
    const Clock::time_point now = Clock::now();
    const bool many = clients.size() > kManyClients;
    for (Client& client : clients) {
      const seconds patience = many && !client.known ? options.short_patience : kPatience;
      const bool late = (client.does == Client::Does::ask && now - client.since > patience) ||
                        (client.does == Client::Does::take && now - client.since > kSendingPatience);
      if (late && client.descriptor >= 0) ::shutdown(client.descriptor, SHUT_RDWR);
    }
  }

  void work(Lane& lane) {
    if (lane.behind > 0) stay_behind_others(lane.behind);
    for (;;) {
      Asked next;
      {
        std::unique_lock lock(mutex);
        lane.wake.wait(lock, [&] { return ending || !lane.waiting.empty(); });
        if (lane.waiting.empty()) return;
        next = lane.waiting.front();
        lane.waiting.pop_front();
        lane.running.push_back(next);  // its capacity is reserved
      }
      Exchange& exchange = *next.exchange;
      if (exchange.stop.asked()) {
        exchange.answer.status = 503;
      } else {
        const Stoppable stoppable(exchange.stop);
        exchange.answer = service.answer(exchange.admission.target, exchange.admission.change);
      }
      if (exchange.answer.body.size() > kMostAnswer)
        exchange.answer = refusal_of(500, ErrorKind::limit, "view.answer", "the answer is larger than any should be");
      {
        const std::scoped_lock lock(mutex);
        std::erase_if(lane.running, [&](const Asked& asked) { return asked.exchange == &exchange; });
      }
      resume(next);
    }
  }

  // Lets the library send the answer. Afterwards it may close the connection, which destroys the exchange.
  void resume(const Asked& asked) const {
    asked.exchange->ready = true;
    http.resume_connection(asked.connection);
  }

  // Stops reading data for clients that have disconnected. The descriptor of a suspended connection stays valid, and no
  // other thread polls it.
  void forget_the_gone() {
    const auto has_gone = [](const Asked& asked) {
      pollfd look{asked.descriptor, POLLRDHUP, 0};
      return ::poll(&look, 1, 0) > 0 && (look.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0;
    };
    gone.clear();
    {
      const std::scoped_lock lock(mutex);
      for (const Asked& asked : dear.running)
        if (has_gone(asked)) asked.exchange->stop.ask();
      std::erase_if(dear.waiting, [&](const Asked& asked) {
        if (!has_gone(asked)) return false;
        gone.push_back(asked);  // its capacity is reserved
        return true;
      });
    }
    for (const Asked& asked : gone) {
      asked.exchange->answer.status = 503;
      resume(asked);
    }
  }

  // Queues the request and suspends its connection. Returns false if the queue is full.
  bool queue(MHD_Connection* connection, Exchange& exchange) {
    exchange.dear = service.is_dear(exchange.admission.target);
    const auto* const info = http.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    const std::scoped_lock lock(mutex);
    Lane& lane = exchange.dear ? dear : cheap;
    if (ending || lane.waiting.size() >= lane.most) return false;
    lane.waiting.push_back({connection, &exchange, info == nullptr ? -1 : info->connect_fd});
    http.suspend_connection(connection);
    lane.wake.notify_one();
    if (exchange.dear) janitor_wake.notify_one();  // without such requests it sleeps longer
    return true;
  }

  void clean() {
    std::unique_lock lock(mutex);
    Clock::time_point looked = Clock::now();
    const auto watched = [&] { return !dear.waiting.empty() || !dear.running.empty(); };
    while (!ending) {
      if (watched())
        janitor_wake.wait_for(lock, kLook, [&] { return ending; });
      else
        janitor_wake.wait_for(lock, seconds(1), [&] { return ending || watched(); });
      lock.unlock();
      forget_the_gone();
      if (Clock::now() - looked >= seconds(1)) {
        send_away();
        looked = Clock::now();
      }
      lock.lock();
    }
  }

  // `body` must outlive the exchange.
  MHD_Result reply(MHD_Connection* connection, int status, const std::string& body, bool is_page = false,
                   const char* allowed = "POST") {
    now_does(connection, Client::Does::take);
    MHD_Response* const response =
        http.create_response_from_buffer(body.size(), const_cast<char*>(body.data()), MHD_RESPMEM_PERSISTENT);
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
    if (status == 405) header("Allow", allowed);
    const MHD_Result result = http.queue_response(connection, static_cast<unsigned>(status), response);
    http.destroy_response(response);
    return result;
  }

  // Throws std::bad_alloc.
  Head head_of(MHD_Connection* connection, const char* method, const Exchange& exchange) const {
    struct Gathered {
      Head head;
      bool failed = false;
    } gathered;
    gathered.head.method = method;
    gathered.head.target = exchange.target;
    http.get_connection_values(
        connection, MHD_HEADER_KIND,
        [](void* to, MHD_ValueKind, const char* key, const char* value) {
          Head& out = static_cast<Gathered*>(to)->head;
          const std::string_view text = value == nullptr ? "" : value;
          try {  // no exception may pass through the library
            if (::strcasecmp(key, "Host") == 0) out.hosts.push_back(text);
            if (::strcasecmp(key, "Origin") == 0) out.origins.push_back(text);
          } catch (...) {
            static_cast<Gathered*>(to)->failed = true;
            return MHD_NO;
          }
          if (::strcasecmp(key, "Sec-Fetch-Site") == 0) out.site = text;
          if (::strcasecmp(key, "Transfer-Encoding") == 0) out.body_bytes = 1;
          if (::strcasecmp(key, "Content-Length") == 0 && text != "0") out.body_bytes = 1;
          return MHD_YES;
        },
        &gathered);
    if (gathered.failed) throw std::bad_alloc();
    return std::move(gathered.head);
  }

  // An error as an answer; its body is empty if there is no memory for it.
  static Answer refusal_of(int status, ErrorKind kind, std::string_view rule, std::string_view sentence) noexcept {
    try {
      return {status, error_json(Error(kind, rule, sentence))};
    } catch (...) {
      return {status, {}};
    }
  }

  MHD_Result refuse(MHD_Connection* connection, Exchange& exchange, const Refusal& refusal) {
    exchange.answer = refusal_of(refusal.status, refusal.kind, refusal.rule, refusal.sentence);
    return reply(connection, exchange.answer.status, exchange.answer.body, false, "GET, HEAD, POST");
  }

  // Records an answer that the client has not received yet. If all of these take too much memory, disconnects the
  // clients that have held theirs longest.
  void hold(MHD_Connection* connection, std::size_t bytes) {
    const std::scoped_lock lock(mutex);
    Client* const own = client_of(connection);
    if (own != nullptr) own->held = bytes;
    std::size_t all = 0;
    for (const Client& client : clients) all += client.descriptor < 0 ? 0 : client.held;
    while (all > kMostHeld) {
      Client* slowest = nullptr;
      for (Client& client : clients)
        if (&client != own && client.descriptor >= 0 && client.held > 0 &&
            (slowest == nullptr || client.since < slowest->since))
          slowest = &client;
      if (slowest == nullptr) return;
      ::shutdown(slowest->descriptor, SHUT_RDWR);
      all -= slowest->held;
      slowest->descriptor = -1;
    }
  }

  MHD_Result redirect(MHD_Connection* connection) {
    now_does(connection, Client::Does::take);
    MHD_Response* const response = http.create_response_from_buffer(0, nullptr, MHD_RESPMEM_PERSISTENT);
    if (response == nullptr) return MHD_NO;
    http.add_response_header(response, "Location", ("/" + token + "/").c_str());
    http.add_response_header(response, "Referrer-Policy", "no-referrer");
    http.add_response_header(response, "Cache-Control", "no-store");
    const MHD_Result result = http.queue_response(connection, 308, response);
    http.destroy_response(response);
    return result;
  }

  MHD_Result access(MHD_Connection* connection, const char* method, Exchange& exchange) {
    if (!exchange.begun) {
      exchange.begun = true;
      now_does(connection, Client::Does::wait);
      if (const auto refusal = door.refuse(head_of(connection, method, exchange), exchange.admission))
        return refusal->status == 308 ? redirect(connection) : refuse(connection, exchange, *refusal);
      now_known(connection);
      if (!rate.admit(Clock::now()))
        return refuse(connection, exchange, {429, "view.rate", "too many requests in a second"});
      return MHD_YES;  // the library calls again when the request is complete
    }
    if (exchange.admission.room == Room::page) {
      shown.store(true, std::memory_order_relaxed);
      return reply(connection, 200, page.html, true);
    }
    if (exchange.ready) {
      hold(connection, exchange.answer.body.size());
      return reply(connection, exchange.answer.status, exchange.answer.body);
    }
    if (exchange.asked) return MHD_YES;
    exchange.asked = true;
    if (queue(connection, exchange)) return MHD_YES;
    return refuse(connection, exchange, {503, "view.busy", "too many requests are waiting", ErrorKind::limit});
  }
};

Server::Server(const Service& service, const Page& page, const ServerOptions& options)
    : state_(std::make_unique<State>(service, page, options)) {
  State& state = *state_;
  const auto access = [](void* self, MHD_Connection* connection, const char*, const char* method, const char*,
                         const char*, std::size_t* upload, void** context) -> MHD_Result {
    auto* const exchange = static_cast<Exchange*>(*context);
    if (exchange == nullptr) return MHD_NO;
    if (*upload != 0) return MHD_NO;  // the request has a body after all
    try {
      return static_cast<State*>(self)->access(connection, method, *exchange);
    } catch (...) {
      return MHD_NO;
    }
  };
  const auto begins = [](void* self, const char* target, MHD_Connection* connection) -> void* {
    try {
      return static_cast<State*>(self)->begin(connection, target);
    } catch (...) {
      return nullptr;
    }
  };
  const auto ends = [](void* self, MHD_Connection* connection, void** context, MHD_RequestTerminationCode) {
    *context = nullptr;
    static_cast<State*>(self)->end(connection);
  };
  const auto greets = [](void* self, MHD_Connection* connection, void** context, MHD_ConnectionNotificationCode code) {
    try {
      static_cast<State*>(self)->greet(connection, context, code);
    } catch (...) {
      *context = nullptr;  // only the library's own idle limit still watches this connection
    }
  };
  state.daemon = state.http.start_daemon(
      MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, nullptr, nullptr,
      static_cast<MHD_AccessHandlerCallback>(access), &state, MHD_OPTION_LISTEN_SOCKET, state.socket.descriptor,
      MHD_OPTION_CONNECTION_LIMIT, 2 * state.places, MHD_OPTION_CONNECTION_MEMORY_LIMIT, kClientMemory,
      MHD_OPTION_CONNECTION_TIMEOUT, static_cast<unsigned>(kSendingPatience.count()), MHD_OPTION_URI_LOG_CALLBACK,
      static_cast<void* (*)(void*, const char*, MHD_Connection*)>(begins), &state, MHD_OPTION_NOTIFY_COMPLETED,
      static_cast<MHD_RequestCompletedCallback>(ends), &state, MHD_OPTION_NOTIFY_CONNECTION,
      static_cast<MHD_NotifyConnectionCallback>(greets), &state, MHD_OPTION_END);
  if (state.daemon == nullptr) throw cannot_listen(options, "the server did not start");
  for (Lane* const lane : {&state.cheap, &state.dear})
    for (unsigned i = 0; i < lane->threads; ++i) state.workers.emplace_back([&state, lane] { state.work(*lane); });
  state.janitor = std::jthread([&state] { state.clean(); });
}

Server::~Server() = default;

const std::vector<std::string>& Server::urls() const { return state_->links; }
Load Server::load() const {
  const std::scoped_lock lock(state_->mutex);
  const Lane &cheap = state_->cheap, &dear = state_->dear;
  const auto stopping = std::count_if(dear.running.begin(), dear.running.end(),
                                      [](const Asked& asked) { return asked.exchange->stop.asked(); });
  return {cheap.waiting.size(),
          cheap.running.size(),
          dear.waiting.size(),
          dear.running.size(),
          static_cast<std::size_t>(stopping),
          state_->exchanges.load()};
}

bool Server::was_shown() const { return state_->shown.load(std::memory_order_relaxed); }

}  // namespace tare::view
