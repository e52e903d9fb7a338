#include "io/remote/hub.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "base/forever.hpp"
#include "base/path_parts.hpp"
#include "base/printable.hpp"
#include "base/process_mutex.hpp"
#include "base/simdjson.hpp"
#include "base/text.hpp"
#include "io/descriptor.hpp"
#include "io/listing.hpp"
#include "io/remote/settings.hpp"
#include "tare/source.hpp"

namespace tare::io::remote {
namespace {

constexpr std::uint64_t kLongestListing = std::uint64_t{32} << 20;
constexpr std::size_t kLongestPath = 1024, kMostFiles = 200'000;

Error bad_address(std::string_view address, std::string_view why) {
  return Error(ErrorKind::usage, "remote.url", why).in(address);
}

bool is_hex(std::string_view text, std::size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 96 && text != "." && text != ".." && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  });
}

Url endpoint() {
  std::string text = variable("HF_ENDPOINT");
  while (text.ends_with('/')) text.pop_back();
  Url url = parse_url(text.empty() ? "https://huggingface.co" : text);
  if (url.path == "/") url.path.clear();
  return url;
}

// The first line of a small file; empty if it cannot be read.
std::string first_line(const std::string& path) {
  constexpr std::size_t kLongest = 4096;
  try {
    const SourcePtr file = open_file(path, Access::pread);
    if (file->size() > kLongest) return {};
    Bytes bytes(static_cast<std::size_t>(file->size()));
    file->read(0, bytes);
    std::string text(as_text(bytes));
    text.resize(std::min(text.find_first_of("\r\n"), text.size()));
    return text;
  } catch (const Error&) {
    return {};
  }
}

std::string hub_home() {
  if (std::string folder = variable("HF_HOME"); !folder.empty()) return folder;
  const std::string base = variable("XDG_CACHE_HOME");
  return path_in(base.empty() ? path_in(home(), ".cache") : base, "huggingface");
}

std::string find_token() {
  std::string token = variable("HF_TOKEN");
  if (token.empty()) token = variable("HUGGING_FACE_HUB_TOKEN");
  if (token.empty()) {
    const std::string named = variable("HF_TOKEN_PATH");
    token = first_line(named.empty() ? path_in(hub_home(), "token") : named);
  }
  const auto is_visible = [](char c) { return c > ' ' && c < 0x7f; };
  if (!std::ranges::all_of(token, is_visible))
    throw Error(ErrorKind::usage, "remote.token",
                "the token of HF_TOKEN, or of its file, has characters that no token has; it is not used");
  return token;
}

// The text of a key; empty if there is none.
std::string_view text_at(simdjson::dom::object object, std::string_view key) {
  std::string_view text;
  return object.at_key(key).get_string().get(text) == simdjson::SUCCESS ? text : std::string_view();
}

bool is_plain_path(std::string_view path) {
  return path.size() <= kLongestPath && stays_below(path) && path.find('\\') == std::string_view::npos &&
         std::ranges::all_of(path, [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != 0x7f; });
}

// Nothing if the size is not stated.
std::optional<HubFile> file_of(simdjson::dom::object entry) {
  HubFile file;
  simdjson::dom::object large;
  std::uint64_t size = 0;
  if (entry.at_key("size").get_uint64().get(size) != simdjson::SUCCESS || size > static_cast<std::uint64_t>(INT64_MAX))
    return std::nullopt;
  file.size = size;
  if (const std::string_view blob = text_at(entry, "blobId"); is_hex(blob, 40))
    file.content = fmt::format("git:{}", blob);
  if (entry.at_key("lfs").get_object().get(large) != simdjson::SUCCESS) return file;
  const std::string_view digest = text_at(large, "sha256");
  file.content = is_hex(digest, 64) ? fmt::format("sha256:{}", digest) : std::string();
  return file;
}

struct Listed {
  std::string commit;
  std::map<std::string, HubFile, std::less<>> files;
};

Listed parse_listing(const Bytes& bytes) {
  const SimdjsonCall call;
  const auto wrong = [](std::string_view why) {
    return Error(ErrorKind::corrupt, "remote.listing",
                 fmt::format("the server's list of the repository's files {}", why));
  };
  simdjson::dom::parser parser;
  simdjson::dom::document document;
  simdjson::dom::element root;
  const simdjson::padded_string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.data() == nullptr) throw std::bad_alloc();
  const auto error = parser.parse_into_document(document, text).get(root);
  if (error == simdjson::MEMALLOC) throw std::bad_alloc();
  simdjson::dom::object object;
  if (error != simdjson::SUCCESS || root.get_object().get(object) != simdjson::SUCCESS)
    throw wrong("is not a JSON object");
  Listed listed;
  listed.commit = text_at(object, "sha");
  if (!is_hex(listed.commit, 40)) throw wrong("does not name the commit");
  simdjson::dom::array entries;
  if (object.at_key("siblings").get_array().get(entries) != simdjson::SUCCESS) throw wrong("has no files");
  for (const simdjson::dom::element entry : entries) {
    simdjson::dom::object fields;
    if (entry.get_object().get(fields) != simdjson::SUCCESS) throw wrong("has an entry that is not an object");
    const std::string_view path = text_at(fields, "rfilename");
    if (!is_plain_path(path)) throw wrong(fmt::format("has a file with the name {}", quote(path)));
    if (listed.files.size() == kMostFiles) throw wrong(fmt::format("has more than {} files", kMostFiles));
    const auto file = file_of(fields);
    if (!file) throw wrong(fmt::format("does not state the size of {}", quote(path)));
    listed.files.emplace(path, *file);
  }
  return listed;
}

struct KeptListing {
  std::shared_ptr<const HubRepository> repository;
  std::chrono::steady_clock::time_point asked;
};

constexpr std::size_t kMostKept = 16;
constexpr auto kFresh = std::chrono::minutes(1);

ProcessMutex listings_mutex(LockOrder::table);
Forever<std::map<std::string, KeptListing>> listings;

}  // namespace

bool is_hub(std::string_view address) { return address.starts_with("hf:"); }

HubPath parse_hub(std::string_view address) {
  std::string_view rest = address.substr(3);
  if (rest.starts_with("//")) rest.remove_prefix(2);
  while (rest.ends_with('/')) rest.remove_suffix(1);
  const auto next = [&](std::string_view until) {
    const std::size_t end = std::min(rest.find_first_of(until), rest.size());
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(end);
    return part;
  };
  const std::string_view owner = next("/");
  if (!rest.empty()) rest.remove_prefix(1);
  const std::string_view name = next("/@");
  if (!is_name(owner) || !is_name(name) || owner == "datasets" || owner == "spaces")
    throw bad_address(address,
                      "expected the address of a model: hf://ORGANIZATION/NAME, with @REVISION or /FILE after it");
  HubPath path{fmt::format("{}/{}", owner, name), "main", {}};
  if (rest.starts_with('@')) {
    rest.remove_prefix(1);
    std::string revision;
    for (const std::string_view references : {"refs/pr/", "refs/convert/"})
      if (rest.starts_with(references)) {
        revision = references;
        rest.remove_prefix(references.size());
      }
    revision += next("/");
    for (std::size_t at; (at = std::min(revision.find("%2F"), revision.find("%2f"))) != std::string::npos;)
      revision.replace(at, 3, "/");
    if (!is_plain_path(revision) || revision.size() > 255)
      throw bad_address(address, "expected a revision after the @");
    path.revision = revision;
  }
  if (!rest.empty()) rest.remove_prefix(1);
  path.path = rest;
  return path;
}

const HubFile* HubRepository::file(const std::string& path) const {
  const auto found = files_.find(path);
  return found == files_.end() ? nullptr : &found->second;
}

bool HubRepository::has_folder(const std::string& path) const {
  if (path.empty()) return true;
  const auto after = files_.lower_bound(path + "/");
  return after != files_.end() && after->first.starts_with(path + "/");
}

std::vector<std::string> HubRepository::names(const std::string& folder) const {
  const std::string prefix = folder.empty() ? folder : folder + "/";
  std::set<std::string> names;
  for (auto i = files_.lower_bound(prefix); i != files_.end() && i->first.starts_with(prefix); ++i) {
    const std::string_view rest = std::string_view(i->first).substr(prefix.size());
    names.emplace(rest.substr(0, rest.find('/')));
  }
  return {names.begin(), names.end()};
}

Url HubRepository::url_of(const std::string& path) const {
  Url url = endpoint_;
  url.path = fmt::format("{}/{}/resolve/{}/{}", endpoint_.path, repository_, commit_, escape_path(path));
  return url;
}

std::string HubRepository::downloaded(const HubFile& file) const {
  const std::size_t colon = file.content.find(':');
  if (colon == std::string::npos || (variable("HF_HUB_CACHE").empty() && home().empty())) return {};
  std::string folder = repository_;
  folder.replace(folder.find('/'), 1, "--");
  const std::string cache = variable("HF_HUB_CACHE").empty() ? path_in(hub_home(), "hub") : variable("HF_HUB_CACHE");
  std::string path = fmt::format("{}/models--{}/blobs/{}", cache, folder, file.content.substr(colon + 1));
  struct stat status {};
  const bool whole = ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
                     static_cast<std::uint64_t>(status.st_size) == file.size;
  return whole ? path : std::string();
}

std::shared_ptr<const HubRepository> open_repository(const HubPath& path) {
  auto fresh = std::make_shared<HubRepository>();
  fresh->endpoint_ = endpoint();
  fresh->repository_ = path.repository;
  const std::string key = fmt::format("{}\n{}\n{}", fresh->endpoint_.shown(), path.repository, path.revision);
  const auto now = std::chrono::steady_clock::now();
  {
    const std::scoped_lock lock(listings_mutex);
    const auto kept = (*listings).find(key);
    if (kept != (*listings).end() && now - kept->second.asked < kFresh) return kept->second.repository;
  }
  fresh->credential_ = {.origin = fresh->endpoint_.origin(), .token = find_token()};
  std::string revision = escape_path(path.revision);
  for (std::size_t at; (at = revision.find('/')) != std::string::npos;) revision.replace(at, 1, "%2F");
  Url url = fresh->endpoint_;
  url.path = fmt::format("{}/api/models/{}/revision/{}", fresh->endpoint_.path, path.repository, revision);
  url.query = "?blobs=true";
  const std::string address =
      fmt::format("hf://{}{}", path.repository, path.revision == "main" ? "" : "@" + path.revision);
  try {
    Listed listed = parse_listing(fetch_text(url, fresh->credential_, kLongestListing));
    fresh->commit_ = std::move(listed.commit);
    fresh->files_ = std::move(listed.files);
  } catch (const Error& error) {
    // Names the address that the user typed, not that of the list.
    throw Error(error.kind(), error.rule(), error.sentence()).in(address);
  }
  const std::scoped_lock lock(listings_mutex);
  if ((*listings).size() >= kMostKept) (*listings).clear();
  (*listings)[key] = {fresh, now};
  return fresh;
}

}  // namespace tare::io::remote
