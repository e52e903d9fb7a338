#include "tare/append.hpp"

#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "base/stopping.hpp"
#include "formats/registry_limits.hpp"
#include "io/input_files.hpp"

namespace tare {
namespace {

std::vector<std::string_view> appendable() {
  std::vector<std::string_view> titles;
  for (const Format& format : formats())
    if (format.append != nullptr) titles.push_back(format.title);
  return titles;
}

}  // namespace

std::vector<Change> append(const std::string& path, const Model& extra, const WriteOptions& options) {
  const StopScope stop(options.work);
  try {
    const SourcePtr file = open_file(path, Access::pread);
    const Format& format = detect(*file);
    if (format.append == nullptr)
      throw Error(ErrorKind::unsupported, "append.format",
                  fmt::format("only {} files can be appended to", fmt::join(appendable(), " and ")));
    // One of several files that grows is no longer the one that their index lists.
    const io::FileIds read = io::ids_of(extra.sources), grows = io::ids_of({&file, 1});
    if (read.size() > 1 && !grows.empty() && read.contains(*grows.begin())) throw io::is_read_here(path);
    refuse_listed(path, "append.files", "appended to");
    {
      // Like `open`: the manifest of the file that grows is read, too.
      const Spending spending(allowance_of(Limits()));
      grant_source(*file);
      format.append(path, extra, options);
    }
    std::vector<Change> changes;
    report_expansion(path, changes);
    return changes;
  } catch (Error& error) {
    throw error.in(path);
  }
}

}  // namespace tare
