#include "pieces.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>

#include "convert/adapt.hpp"
#include "convert/writable.hpp"
#include "formats/format.hpp"

namespace tare::py {
namespace {

// Thrown if a writer needs bytes that do not exist yet.
struct NoBytesYet {};
// Thrown if a writer places a tensor elsewhere than it did without its bytes.
struct PlacedElsewhere {};

class FutureBytes final : public Source {
 public:
  explicit FutureBytes(std::uint64_t size) : Source("pieces", size) {}

 protected:
  void do_read(std::uint64_t, std::span<std::byte> out) const override {
    if (!out.empty()) throw NoBytesYet();
  }
};

// Discards everything and records where promised bytes would be copied to.
class LayoutSink final : public Sink {
 public:
  explicit LayoutSink(const Source& promised) : promised_(promised) {}
  const std::string& name() const override { return promised_.name(); }
  bool positional() const override { return true; }
  void commit() override {}

  // The position of a run, if it is contiguous.
  std::optional<std::uint64_t> place_of(const Run& run) const {
    std::optional<std::uint64_t> place;
    for (std::uint64_t at = run.offset; at < run.offset + run.length;) {
      auto found = copies_.upper_bound(at);
      if (found == copies_.begin()) return std::nullopt;
      const auto& [from, copy] = *--found;
      if (at - from >= copy.length) return std::nullopt;
      if (!place) place = copy.offset + (at - from);
      if (copy.offset + (at - from) != *place + (at - run.offset)) return std::nullopt;
      at = from + copy.length;
    }
    return place.value_or(0);
  }

 protected:
  void do_write(std::uint64_t, std::span<const std::byte>) override {}
  void do_write_at(std::uint64_t, std::span<const std::byte>) override {}
  void do_skip(std::uint64_t) override {}
  void do_copy_at(std::uint64_t offset, const Source& from, std::uint64_t from_offset, std::uint64_t length) override {
    if (&from != &promised_ || length == 0) return;
    const std::scoped_lock lock(mutex_);
    auto next = copies_.insert_or_assign(from_offset, Run{offset, length}).first;
    if (next != copies_.begin()) next = join(std::prev(next), next);
    if (++next != copies_.end()) join(std::prev(next), next);
  }

 private:
  using Copies = std::map<std::uint64_t, Run>;

  // Makes one entry of two that continue each other, because a large tensor is copied in millions of pieces. Returns the
  // entry that has the bytes of the second.
  Copies::iterator join(Copies::iterator first, Copies::iterator second) {
    if (first->first + first->second.length != second->first) return second;
    if (first->second.offset + first->second.length != second->second.offset) return second;
    first->second.length += second->second.length;
    copies_.erase(second);
    return first;
  }

  const Source& promised_;
  std::mutex mutex_;
  Copies copies_;  // by offset in the promised source
};

// The file as a sink for a writer that copies tensors from it: bytes that are in place stay, all others are written.
class PlacedSink final : public Sink {
 public:
  PlacedSink(Sink& file, const std::vector<Run>& places, const Source& pieces)
      : file_(file), places_(places), pieces_(pieces) {}
  const std::string& name() const override { return file_.name(); }
  bool positional() const override { return true; }
  SourcePtr written() override {
    end_here();
    return file_.written();
  }
  void commit() override {
    end_here();
    file_.commit();
  }

 protected:
  void do_write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    reach(offset + bytes.size());
    do_write_at(offset, bytes);
  }
  void do_skip(std::uint64_t new_end) override { reach(new_end); }

  void do_copy_at(std::uint64_t offset, const Source& from, std::uint64_t from_offset, std::uint64_t length) override {
    if (&from != &pieces_) return Sink::do_copy_at(offset, from, from_offset, length);
    if (from_offset != offset) throw PlacedElsewhere();
  }

  // Bytes of a tensor that the writer read to hash them are not written again.
  void do_write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    auto place = std::ranges::upper_bound(places_, offset, {}, [](const Run& run) { return run.offset + run.length; });
    while (!bytes.empty()) {
      const std::uint64_t next = place == places_.end() ? UINT64_MAX : place->offset;
      const bool inside = next <= offset;
      const std::uint64_t end = inside ? next + place->length : next;
      const auto part = bytes.first(static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), end - offset)));
      if (inside) {
        require_there(offset, part);
        ++place;
      } else {
        file_.write_at(offset, part);
      }
      offset += part.size();
      bytes = bytes.subspan(part.size());
    }
  }

 private:
  void require_there(std::uint64_t offset, std::span<const std::byte> bytes) const {
    Bytes there(bytes.size());
    pieces_.read(offset, there);
    if (std::memcmp(there.data(), bytes.data(), bytes.size()) != 0) throw PlacedElsewhere();
  }

  void reach(std::uint64_t end) {
    if (end > file_.position()) file_.skip(end - file_.position());
  }
  void end_here() {
    if (position() < file_.position()) file_.rewind(position());
  }

  Sink& file_;
  const std::vector<Run>& places_;
  const Source& pieces_;
};

bool is_file_or_nothing(const std::string& path) {
  struct stat status {};
  return path != "-" && (::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode));
}

}  // namespace

SourcePtr promised_bytes(std::uint64_t size) { return std::make_shared<FutureBytes>(size); }

std::optional<std::vector<std::uint64_t>> places_of(Model model, const Source& promised, const std::vector<Run>& runs,
                                                    const std::string& path, SaveOptions options) {
  LayoutSink layout(promised);
  try {
    const Format* const format = is_file_or_nothing(path) ? format_of_file(path, options) : nullptr;
    if (format == nullptr) return std::nullopt;
    options.write.digest.reset();  // computed when the bytes exist
    format->write(adapt(std::move(model), *format, options.adapt, options.work).model, layout, options.write);
  } catch (const NoBytesYet&) {
    return std::nullopt;
  } catch (const Error&) {  // reported when all tensors have been declared
    return std::nullopt;
  }
  std::vector<std::uint64_t> places;
  for (const Run& run : runs) {
    const auto place = layout.place_of(run);
    if (!place) return std::nullopt;
    places.push_back(*place);
  }
  return places;
}

PlacedFile::PlacedFile(const std::string& path, bool overwrite) : file_(create_file(path, {.overwrite = overwrite})) {}

void PlacedFile::require_open() const {
  if (ended_) throw Error(ErrorKind::usage, "python.closed", "the writer has been closed");
}

void PlacedFile::put(std::uint64_t offset, std::span<const std::byte> bytes) {
  const std::shared_lock lock(mutex_);
  require_open();
  file_->write_at(offset, bytes);
}

SourcePtr PlacedFile::end() {
  const std::scoped_lock lock(mutex_);
  require_open();
  ended_ = true;
  return file_->written();
}

void PlacedFile::reserve(const Run& place) {
  const std::scoped_lock lock(mutex_);
  require_open();
  if (place.length == 0) return;
  places_.push_back(place);
  if (const std::uint64_t end = place.offset + place.length; end > file_->position())
    file_->skip(end - file_->position());
}

std::optional<Saved> PlacedFile::save(Model model, const SourcePtr& pieces, const std::string& path,
                                      const SaveOptions& options) {
  std::ranges::sort(places_, {}, &Run::offset);
  PlacedSink sink(*file_, places_, *pieces);
  try {
    return save_into(sink, std::move(model), path, options);
  } catch (const PlacedElsewhere&) {
    return std::nullopt;
  }
}

}  // namespace tare::py
