#include "cli/plan_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "base/budget.hpp"
#include "io/descriptor_source.hpp"
#include "io/directory.hpp"
#include "io/listing.hpp"
#include "io/owner.hpp"
#include "io/staging_directory.hpp"
#include "io/unfinished.hpp"
#include "tare/digest.hpp"
#include "tare/sink.hpp"
#include "wire/value_json.hpp"

namespace tare::cli {
namespace {

Map content_of(const PlanFile& plan) {
  Map map;
  map.append("tare_plan", 1);
  map.append("directory", plan.directory);
  List words, counts;
  for (const std::string& word : plan.words) words.emplace_back(word);
  for (const Part& part : plan.parts) counts.emplace_back(std::uint64_t{part.count});
  map.append("convert", std::move(words));
  map.append("tasks", std::move(counts));
  return map;
}

std::string id_of(const PlanFile& plan) {
  const std::string text = wire::write_value_json(content_of(plan));
  return digest_of(DigestAlgorithm::sha256, std::as_bytes(std::span(text))).hex();
}

[[noreturn]] void refuse(const std::string& path, std::string_view why) {
  throw Error(ErrorKind::corrupt, "cli.plan.file", fmt::format("is not a plan: {}", why)).in(path);
}

template <typename T>
const T& need(const Map& map, std::string_view key, const std::string& path) {
  const Value* const value = map.find(key);
  const T* const found = value == nullptr ? nullptr : value->get<T>();
  if (found == nullptr) refuse(path, fmt::format("\"{}\" is missing or of the wrong kind", key));
  return *found;
}

}  // namespace

std::string PlanFile::part_path(std::size_t number) const { return fmt::format("{}.{:05}.part", path, number); }

std::vector<Part> divide(const std::vector<PlannedTensor>& tensors, std::size_t tasks) {
  double total = 0, have = 0;
  for (const PlannedTensor& tensor : tensors) total += static_cast<double>(tensor.bytes);
  std::vector<Part> parts(1);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const double size = static_cast<double>(tensors[i].bytes);
    const double full = total / static_cast<double>(tasks) * static_cast<double>(parts.size());
    if (parts.back().count > 0 && have + size / 2 > full && parts.size() < tasks) parts.push_back({i, 0, {}});
    ++parts.back().count;
    have += size;
  }
  return parts;
}

void require_other_name(const std::string& output, const PlanFile& plan) {
  const std::string name = io::base_of(output), own = io::base_of(plan.path);
  std::error_code none;
  if (!name.starts_with(own) ||
      !std::filesystem::equivalent(io::directory_of(output), io::directory_of(plan.path), none))
    return;
  bool taken = name == own;
  for (std::size_t i = 0; i < plan.parts.size() && !taken; ++i) taken = name == io::base_of(plan.part_path(i));
  if (taken)
    throw UsageError(fmt::format("{}: the plan or one of its parts gets this name; the output needs another", output));
}

void write_plan_file(PlanFile& plan, bool overwrite) {
  plan.directory = std::filesystem::current_path().string();
  const std::string id = id_of(plan);
  for (Part& part : plan.parts) part.plan = id;
  Map map = content_of(plan);
  map.append("id", id);
  const std::string text = wire::write_value_json(map) + "\n";
  const std::unique_ptr<Sink> sink = create_file(plan.path, {.overwrite = overwrite});
  sink->write(std::as_bytes(std::span(text)));
  sink->commit();
}

namespace {

// Returns the directory of a file as a path that is valid in any current directory. The system resolves it, because
// "link/.." is the parent of the directory that the link leads to.
std::filesystem::path directory_itself(const std::string& path) {
  std::error_code failed;
  std::filesystem::path found = std::filesystem::canonical(io::directory_of(path), failed);
  if (failed) throw io::system_error("io.open.refused", "cannot find its directory", path, failed.value());
  return found;
}

}  // namespace

PlanFile enter_plan_file(const std::string& path, Owners owners) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;
  // Follows no link: another user could plant one that leads to a plan which this user wrote for another purpose.
  const io::Directory parent = io::Directory::open(io::directory_of(path).c_str());
  io::Descriptor file = parent ? parent.read(io::base_of(path)) : io::Descriptor();
  if (!file && parent && errno == ELOOP)
    throw Error(ErrorKind::io, "cli.plan.link", "is a link, which is not followed; name the file it leads to").in(path);
  if (!file)
    throw io::system_error(errno == ENOENT ? "io.open.missing" : "io.open.refused", "cannot open", path, errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw io::system_error("io.open.refused", "cannot look at", path, errno);
  if (owners == Owners::trusted && !io::is_trusted(status.st_uid))
    throw Error(
        ErrorKind::io, "cli.plan.owner",
        fmt::format("belongs to user {}, not to the user of this process, and decides what is read and overwritten",
                    status.st_uid))
        .in(path)
        .remedy(Remedy::accept_owners);
  const SourcePtr source = io::descriptor_source(std::move(file), path);
  if (source->size() > kMostBytes) refuse(path, "it has more than 64 MiB");
  std::string text(source->size(), '\0');
  source->read(0, std::as_writable_bytes(std::span(text)));
  Value root;
  try {
    const Spending spending;
    current_budget()->grant(text.size());
    root = wire::parse_value_json(text, {.depth = 4});
  } catch (const Error& error) {
    refuse(path, error.sentence());
  }
  const Map* const map = root.get<Map>();
  if (map == nullptr || need<std::int64_t>(*map, "tare_plan", path) != 1) refuse(path, "it is of another version");
  PlanFile plan;
  plan.path = io::path_in(directory_itself(path).string(), io::base_of(path));
  plan.directory = need<std::string>(*map, "directory", path);
  for (const Value& word : need<List>(*map, "convert", path)) {
    if (word.text() == nullptr) refuse(path, "a word of the command is not text");
    plan.words.push_back(*word.text());
  }
  std::size_t first = 0;
  for (const Value& value : need<List>(*map, "tasks", path)) {
    const auto* const count = value.get<std::int64_t>();
    if (count == nullptr || *count < 0 || *count > INT32_MAX) refuse(path, "a task has no number of tensors");
    plan.parts.push_back({first, static_cast<std::size_t>(*count), {}});
    first += plan.parts.back().count;
  }
  const std::string& id = need<std::string>(*map, "id", path);
  if (plan.parts.empty() || id != id_of(plan)) refuse(path, "it was changed after it was made");
  for (Part& part : plan.parts) part.plan = id;
  std::error_code failed;
  std::filesystem::current_path(plan.directory, failed);
  if (failed)
    throw Error(ErrorKind::io, "cli.plan.directory", fmt::format("cannot go there: {}", failed.message()))
        .in(plan.directory);
  return plan;
}

std::vector<std::string> remove_parts(const PlanFile& plan) {
  const std::filesystem::path beside = plan.path;
  const io::Directory folder = io::Directory::open(beside.parent_path().c_str());
  std::vector<std::string> left;
  const io::Changing changing;  // a signal waits until all are gone
  for (std::size_t i = 0; i < plan.parts.size(); ++i) {
    // Removes the name itself, not the target of a link, which is not ours.
    const std::string name = std::filesystem::path(plan.part_path(i)).filename();
    if (!folder || !folder.remove_file(name.c_str())) left.push_back(name);
  }
  if (folder) io::sweep_staging_directories(folder, false);  // what killed tasks left
  return left;
}

}  // namespace tare::cli
