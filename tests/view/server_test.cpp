// The server under load: requests answered from memory do not wait for requests that read data, however long those
// take, and no data is read for clients that have disconnected. Nothing here measures time: the test controls when a
// model's data becomes available.
#include "view/server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <list>
#include <thread>

#include "tare/elements.hpp"
#include "tare/error.hpp"
#include "view/jobs.hpp"
#include "view/service.hpp"

namespace tare::view {
namespace {

// Bytes that can be read only when the gate is open.
class GatedSource final : public Source {
 public:
  explicit GatedSource(std::uint64_t size) : Source("gated", size) {}

  void open() {
    const std::scoped_lock lock(mutex_);
    open_ = true;
    wake_.notify_all();
  }
  void wait_for_readers(std::size_t count) const {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return inside_ >= count; });
  }
  std::size_t reads() const {
    const std::scoped_lock lock(mutex_);
    return reads_;
  }

 protected:
  void do_read(std::uint64_t, std::span<std::byte> out) const override {
    std::unique_lock lock(mutex_);
    ++inside_, ++reads_;
    wake_.notify_all();
    wake_.wait(lock, [&] { return open_; });
    --inside_;
    std::memset(out.data(), 0, out.size());
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable wake_;
  mutable std::size_t inside_ = 0, reads_ = 0;
  bool open_ = false;
};

struct Setting {
  std::shared_ptr<GatedSource> gate = std::make_shared<GatedSource>(1024 * 64 * 4);
  OpenModelPtr model() const {
    Model made;
    made.tensors.push_back(dense("free.w", {4, 4}, std::vector<float>(16, 2)));
    Tensor gated = dense("gated.w", {1024, 64}, std::vector<float>(1024 * 64));
    gated.components[0].blob = Blob::range(gate, 0, gate->size());
    made.tensors.push_back(std::move(gated));
    return std::make_shared<const OpenModel>("a model", std::move(made));
  }
};

// Always opens the gate, because readers would otherwise wait forever.
struct OpensGate {
  GatedSource& gate;
  ~OpensGate() { gate.open(); }
};

// One connection.
class Caller {
 public:
  explicit Caller(const std::string& link) {
    const std::size_t colon = link.rfind(':'), slash = link.find('/', colon);
    std::uint16_t port = 0;
    std::from_chars(link.data() + colon + 1, link.data() + slash, port);
    host_ = link.substr(7, slash - 7);
    path_ = link.substr(slash);
    descriptor_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  ~Caller() { leave(); }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  void leave() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }
  void request(std::string_view target, std::string_view method = "GET", std::string_view host = {}) const {
    const std::string text =
        fmt::format("{} {}api/{} HTTP/1.1\r\nHost: {}\r\n\r\n", method, path_, target, host.empty() ? host_ : host);
    EXPECT_EQ(::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  // Sends a part of a request.
  void send(std::string_view text) const {
    EXPECT_EQ(::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  // The same, to a server that may close the connection early.
  void try_to_send(std::string_view text) const {
    static_cast<void>(::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL));
  }
  // Waits for an answer. Returns its status, and sets `body`.
  int receive() {
    std::string text;
    std::size_t head = 0, length = 0;
    for (;;) {
      if (head == 0 && (head = text.find("\r\n\r\n")) != std::string::npos) {
        head += 4;
        const std::size_t at = text.find("Content-Length: ");
        std::from_chars(text.data() + at + 16, text.data() + head, length);
      } else if (head == std::string::npos) {
        head = 0;
      }
      if (head > 0 && text.size() >= head + length) break;
      char piece[4096];
      const ssize_t got = ::recv(descriptor_, piece, sizeof piece, 0);
      if (got <= 0) return 0;
      text.append(piece, static_cast<std::size_t>(got));
    }
    body = text.substr(head, length);
    int status = 0;
    std::from_chars(text.data() + 9, text.data() + 12, status);
    return status;
  }
  int call(std::string_view target, std::string_view method = "GET", std::string_view host = {}) {
    request(target, method, host);
    return receive();
  }
  std::string body;

 private:
  int descriptor_ = -1;
  std::string host_, path_;
};

// Null if libmicrohttpd is not installed.
std::unique_ptr<Server> served(Service& service, const Page& page, const ServerOptions& options = {}) {
  try {
    return std::make_unique<Server>(service, page, options);
  } catch (const Error& error) {
    if (error.rule() != "view.library") throw;
    return nullptr;
  }
}

template <typename Holds>
void until(const Server& server, const Holds& holds) {
  while (!holds(server.load())) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

constexpr std::string_view kReadsData = "heat?tensor=gated.w";
constexpr std::string_view kCheap[] = {
    "overview", "tree",     "tensors?search=w", "tensor?tensor=gated.w", "treemap", "layers",
    "map",      "metadata", "attachments"};

TEST(ViewServer, WhatIsInMemoryDoesNotWaitForData) {
  const Setting setting;
  Service service(std::vector<OpenModelPtr>{setting.model()});
  const Page page = live_page("x");
  const auto server = served(service, page);
  if (server == nullptr) GTEST_SKIP() << "libmicrohttpd is not installed";
  const OpensGate opened{*setting.gate};
  // Many clients request data: it is read for two, the others wait.
  std::list<Caller> waiting;
  for (int i = 0; i < 20; ++i) waiting.emplace_back(server->urls()[0]).request(kReadsData);
  until(*server, [](const Load& load) { return load.data_running == 2 && load.data_waiting == 18; });
  setting.gate->wait_for_readers(2);
  // Requests from the same client, from another one, and from several at once.
  Caller own(server->urls()[0]);
  for (const std::string_view target : kCheap) EXPECT_EQ(own.call(target), 200) << target << own.body;
  std::list<Caller> others;
  for (int i = 0; i < 10; ++i) others.emplace_back(server->urls()[0]).request("tree");
  for (Caller& other : others) EXPECT_EQ(other.receive(), 200);
  EXPECT_EQ(server->load().data_running, 2U) << "they are still at it";
  setting.gate->open();
  for (Caller& caller : waiting) EXPECT_EQ(caller.receive(), 200) << caller.body;
  EXPECT_EQ(server->load().data_running + server->load().data_waiting, 0U);
}

// A client with the token is answered however many others hold connections: one without the token is disconnected at
// once, not at its time limit, which is unlimited here.
TEST(ViewServer, StrangersDoNotKeepTheOwnerOut) {
  const Setting setting;
  Service service(std::vector<OpenModelPtr>{setting.model()});
  const Page page = live_page("x");
  const auto server = served(service, page, {.short_patience = std::chrono::hours(10)});
  if (server == nullptr) GTEST_SKIP() << "libmicrohttpd is not installed";
  const OpensGate opened{*setting.gate};
  Caller known(server->urls()[0]);
  EXPECT_EQ(known.call("overview"), 200);
  std::list<Caller> strangers;
  for (int i = 0; i < 700; ++i) strangers.emplace_back(server->urls()[0]).send("GET /");
  EXPECT_EQ(strangers.front().receive(), 0) << "the first was sent away";
  Caller owner(server->urls()[0]);
  EXPECT_EQ(owner.call("overview"), 200);
  EXPECT_EQ(known.call("overview"), 200) << "whoever has shown the secret keeps the connection";
}

// The same for clients with the token: the one that has been idle longest is disconnected.
TEST(ViewServer, IdleOwnersDoNotKeepTheNextOneOut) {
  const Setting setting;
  Service service(std::vector<OpenModelPtr>{setting.model()});
  const Page page = live_page("x");
  const auto server = served(service, page, {.short_patience = std::chrono::hours(10)});
  if (server == nullptr) GTEST_SKIP() << "libmicrohttpd is not installed";
  const OpensGate opened{*setting.gate};
  std::list<Caller> owners;
  for (int i = 0; i < 300; ++i) {
    Caller& owner = owners.emplace_back(server->urls()[0]);
    // The request may exceed the rate limit; then it is repeated.
    int status = 0;
    while ((status = owner.call("overview")) == 429) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ASSERT_EQ(status, 200) << i;
  }
  EXPECT_EQ(owners.front().receive(), 0) << "the first was sent away";
}

// Nothing of a refused request is kept after its connection ends, however the library ends the request.
TEST(ViewServer, NothingIsKeptOfRequestsThatAreRefused) {
  const Setting setting;
  Service service(std::vector<OpenModelPtr>{setting.model()});
  const Page page = live_page("x");
  const auto server = served(service, page);
  if (server == nullptr) GTEST_SKIP() << "libmicrohttpd is not installed";
  const OpensGate opened{*setting.gate};
  const std::string path = "/" + std::string(15'000, 'b');
  std::string parameters, few;
  for (int i = 0; i < 3000; ++i) parameters += fmt::format("a={}&", i);
  for (int i = 0; i < 300; ++i) few += "a&";
  const std::string requests[] = {
      fmt::format("GET /?{} HTTP/1.1\r\nHost: evil.example\r\n\r\n", parameters),
      fmt::format("GET {}?{} HTTP/1.1\r\nHost: evil.example\r\n\r\n", path, few),
      fmt::format("GET {} HTTP/1.1\r\nHost: x\r\nX: {}\r\n\r\n", path, std::string(40'000, 'y')),
      fmt::format("GET {} HTTP/1.1\r\nHost x\r\n\r\n", path),
      fmt::format("GET {} HTTP/7\r\n\r\n", path),
      fmt::format("GET {} HTTP/1.1\r\nHost: x", path),
      fmt::format("POST {} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc", path),
  };
  for (int round = 0; round < 20; ++round)
    for (const std::string& request : requests) {
      Caller stranger(server->urls()[0]);
      stranger.try_to_send(request);
    }
  Caller owner(server->urls()[0]);
  EXPECT_EQ(owner.call("overview"), 200);
  owner.leave();
  // The library does not notice every disconnected client; such a connection ends at its time limit.
  for (int i = 0; i < 12000 && server->load().requests > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(server->load().requests, 0U);
}

TEST(ViewServer, LongWorkHoldsUpNeither) {
  const Setting a, b;
  Service service({a.model(), b.model()});
  const Page page = live_page("x");
  const auto server = served(service, page);
  if (server == nullptr) GTEST_SKIP() << "libmicrohttpd is not installed";
  const OpensGate opened_a{*a.gate}, opened_b{*b.gate};
  Caller caller(server->urls()[0]);
  EXPECT_EQ(caller.call("numbers/all?tensor=gated.w", "POST"), 200);
  EXPECT_EQ(caller.call("compare/all", "POST"), 200);
  EXPECT_EQ(caller.call("numbers/all?tensor=gated.w&of=b", "POST"), 200) << "waits its turn";
  EXPECT_NE(caller.body.find("\"waiting\":true"), std::string::npos) << caller.body;
  a.gate->wait_for_readers(2);
  for (const std::string_view target : kCheap) EXPECT_EQ(caller.call(target), 200) << target;
  for (const std::string_view target : {"heat?tensor=free.w", "numbers?tensor=free.w", "values?tensor=free.w"})
    EXPECT_EQ(caller.call(target), 200) << target << ": other data is not held up, either";
  // Progress is reported without reading.
  EXPECT_EQ(caller.call("numbers?tensor=gated.w&all=1"), 200);
  EXPECT_NE(caller.body.find("\"done\":false"), std::string::npos);
  EXPECT_EQ(caller.call("compare"), 200);
}

TEST(ViewServer, AsManyWaitForDataAsMay) {
  const Setting setting;
  Service service(std::vector<OpenModelPtr>{setting.model()});
  const Page page = live_page("x");
  const auto server = served(service, page);
  if (server == nullptr) GTEST_SKIP() << "libmicrohttpd is not installed";
  const OpensGate opened{*setting.gate};
  std::list<Caller> waiting;
  std::size_t asked = 0;
  for (Load load; load.data_waiting < 96; load = server->load()) {
    waiting.emplace_back(server->urls()[0]).request(kReadsData);
    ++asked;
    until(*server, [&](const Load& now) { return now.data_waiting + now.data_running == asked; });
  }
  Caller late(server->urls()[0]);
  EXPECT_EQ(late.call(kReadsData), 503);
  EXPECT_NE(late.body.find("view.busy"), std::string::npos);
  EXPECT_EQ(late.call("tree"), 200) << "on the same connection";
}

TEST(ViewServer, NothingIsReadForThoseWhoHaveGone) {
  const Setting setting;
  Service service(std::vector<OpenModelPtr>{setting.model()});
  const Page page = live_page("x");
  const auto server = served(service, page);
  if (server == nullptr) GTEST_SKIP() << "libmicrohttpd is not installed";
  const OpensGate opened{*setting.gate};
  std::list<Caller> waiting;
  for (int i = 0; i < 12; ++i) waiting.emplace_back(server->urls()[0]).request(kReadsData);
  until(*server, [](const Load& load) { return load.data_running == 2 && load.data_waiting == 10; });
  setting.gate->wait_for_readers(2);
  for (Caller& caller : waiting) caller.leave();
  until(*server, [](const Load& load) { return load.stopping == 2 && load.data_waiting == 0; });
  Caller there(server->urls()[0]);
  there.request(kReadsData);
  until(*server, [](const Load& load) { return load.data_waiting == 1; });
  const std::size_t before = setting.gate->reads();
  EXPECT_EQ(before, 2U);
  setting.gate->open();
  EXPECT_EQ(there.receive(), 200);
  // The stopped ones took one read each and no more: the picture took as many as the next one takes.
  const std::size_t of_picture = setting.gate->reads() - before;
  EXPECT_GT(of_picture, 0U);
  EXPECT_EQ(there.call(kReadsData), 200);
  EXPECT_EQ(setting.gate->reads(), before + 2 * of_picture);
}

TEST(ViewServer, EndsWhileDataIsRead) {
  const Setting setting;
  Service service(std::vector<OpenModelPtr>{setting.model()});
  const Page page = live_page("x");
  auto server = served(service, page);
  if (server == nullptr) GTEST_SKIP() << "libmicrohttpd is not installed";
  std::list<Caller> waiting;
  for (int i = 0; i < 6; ++i) waiting.emplace_back(server->urls()[0]).request(kReadsData);
  setting.gate->wait_for_readers(2);
  std::jthread opener([&] { setting.gate->open(); });
  server.reset();
  EXPECT_LE(setting.gate->reads(), 6 * 1024U);
  // Some have their answer; no client gets an empty one.
  for (Caller& caller : waiting) EXPECT_TRUE(caller.receive() != 200 || !caller.body.empty());
}

// While it exists, there is no address space for another stack.
class NoThreads {
 public:
  NoThreads() {
    unsigned long pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    ::getrlimit(RLIMIT_AS, &before_);
    struct rlimit small = before_;
    small.rlim_cur = pages * static_cast<unsigned long>(::sysconf(_SC_PAGESIZE)) + (4U << 20);
    EXPECT_EQ(::setrlimit(RLIMIT_AS, &small), 0);
  }
  ~NoThreads() { ::setrlimit(RLIMIT_AS, &before_); }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  struct rlimit before_ {};
};

// The queue of long work, without a server.
TEST(ViewJobs, WithoutThreadsTheCallerWorks) {
  Jobs jobs;
  JobPtr first, second;
  {
    const NoThreads none;
    first = jobs.start("first", [](Job&) { return "1"; });
    second = jobs.start("second", [](Job&) -> std::string { throw Error(ErrorKind::io, "a.rule", "a problem"); });
  }
  EXPECT_TRUE(first->done);
  EXPECT_EQ(first->result, "1");
  EXPECT_TRUE(second->done);
  ASSERT_NE(second->error, nullptr);
  EXPECT_EQ(second->error->rule(), "a.rule");
  // Later threads can be started again.
  const JobPtr third = jobs.start("third", [](Job&) { return "3"; });
  for (;;) {
    const std::scoped_lock lock(third->mutex);
    if (third->done) break;
  }
  EXPECT_EQ(third->result, "3");
}

class BlockedWork {
 public:
  std::string operator()() {
    std::unique_lock lock(mutex_);
    ++begun_;
    wake_.notify_all();
    wake_.wait(lock, [&] { return open_; });
    return "{\"done\":true}";
  }
  void open() {
    const std::scoped_lock lock(mutex_);
    open_ = true;
    wake_.notify_all();
  }
  void wait_for(int begun) {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return begun_ >= begun; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  int begun_ = 0;
  bool open_ = false;
};

bool done(const JobPtr& job) {
  const std::scoped_lock lock(job->mutex);
  return job->done;
}

void wait_until_done(const JobPtr& job) {
  while (!done(job)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST(ViewJobs, WaitInTurnAndNotWithoutEnd) {
  BlockedWork held;
  Jobs jobs({.running = 2, .waiting = 3});
  std::vector<JobPtr> started;
  for (int i = 0; i < 5; ++i) started.push_back(jobs.start(fmt::format("job {}", i), [&](Job&) { return held(); }));
  EXPECT_EQ(jobs.start("job 4", [](Job&) { return std::string(); }), started[4]) << "it is under way";
  held.wait_for(2);
  try {
    static_cast<void>(jobs.start("one more", [](Job&) { return std::string(); }));
    ADD_FAILURE() << "without end";
  } catch (const Error& error) {
    EXPECT_EQ(error.rule(), "view.busy");
    EXPECT_EQ(status_of(error), 503);
  }
  held.open();
  for (const JobPtr& job : started) wait_until_done(job);
  EXPECT_EQ(jobs.find("job 3"), started[3]);
  wait_until_done(jobs.start("one more", [](Job&) { return std::string(); }));
}

TEST(ViewJobs, WhatNobodyAsksAboutGivesWay) {
  BlockedWork held;
  // A job that is not asked about right now gives way.
  Jobs jobs({.running = 1, .waiting = 1, .patience = {}});
  std::atomic<bool> reached{false};
  const JobPtr first = jobs.start("first", [&](Job& job) {
    reached = true;
    while (!job.stop.asked()) std::this_thread::yield();
    throw Error(ErrorKind::usage, "work.stopped", "it was stopped");
    return std::string();
  });
  while (!reached) std::this_thread::yield();
  const JobPtr second = jobs.start("second", [](Job&) { return std::string("{}"); });
  wait_until_done(first);
  wait_until_done(second);
  const std::scoped_lock lock(first->mutex, second->mutex);
  ASSERT_NE(first->error, nullptr);
  EXPECT_EQ(first->error->rule(), "view.busy");
  EXPECT_NE(first->error->sentence().find("start it again"), std::string::npos);
  EXPECT_EQ(second->error, nullptr);
}

TEST(ViewJobs, WhatWaitsIsStoppedAtOnce) {
  BlockedWork held;
  Jobs jobs({.running = 1, .waiting = 4});
  const JobPtr first = jobs.start("first", [&](Job&) { return held(); });
  const JobPtr second = jobs.start("second", [&](Job&) { return held(); });
  held.wait_for(1);
  jobs.stop("second");
  jobs.stop("nothing of that name");
  EXPECT_TRUE(done(second)) << "without waiting for the first";
  EXPECT_FALSE(done(first));
  EXPECT_NE(jobs.start("second", [](Job&) { return std::string(); }), second) << "it may be begun again";
  held.open();
}

TEST(ViewJobs, ClearStopsWhatRunsAndWhatWaits) {
  Jobs jobs({.running = 1, .waiting = 4});
  std::vector<JobPtr> started;
  for (int i = 0; i < 4; ++i)
    started.push_back(jobs.start(fmt::format("job {}", i), [](Job& job) {
      while (!job.stop.asked()) std::this_thread::yield();
      return std::string();
    }));
  jobs.clear();
  for (const JobPtr& job : started) EXPECT_TRUE(done(job));
  EXPECT_THROW(static_cast<void>(jobs.start("later", [](Job&) { return std::string(); })), Error);
}

}  // namespace
}  // namespace tare::view
