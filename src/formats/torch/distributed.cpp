// Reads distributed checkpoints: directories that several processes of torch.distributed.checkpoint wrote together.
//
//   .metadata    a pickle: Metadata with state_dict_metadata (name -> TensorStorageMetadata with size and chunks, or
//                BytesStorageMetadata) and storage_data (MetadataIndex with name and offsets -> _StorageInfo with file,
//                offset and length)
//   *.distcp     files of torch.save, one after another: each is a chunk of a tensor, or an object
//
// A chunk is a box of its tensor, with offsets and sizes. The boxes of a tensor must form a grid without gaps.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/budget.hpp"
#include "base/checked.hpp"
#include "base/printable.hpp"
#include "formats/torch/torch.hpp"
#include "io/links.hpp"
#include "io/listing.hpp"
#include "io/places.hpp"

namespace tare::torch {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMetadataFile = ".metadata", kDataSuffix = ".distcp";

// A range of a file as a source of its own.
class PartSource final : public Source {
 public:
  PartSource(SourcePtr whole, std::uint64_t offset, std::uint64_t length)
      : Source(whole->name(), length), whole_(std::move(whole)), offset_(offset) {}
  void check() const override { whole_->check(); }

 protected:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override { whole_->read(offset_ + offset, out); }

 private:
  SourcePtr whole_;
  std::uint64_t offset_;
};

struct Item {
  std::string name, file;
  Shape offsets;
  std::uint64_t offset = 0, length = 0;
  bool used = false;
};

struct Chunk {
  Shape offsets, sizes;
  Tensor tensor;
};

class CheckpointReader {
 public:
  CheckpointReader(const std::string& directory, const ReadOptions& options)
      : directory_(directory),
        options_(options),
        diagnostics_(options.diagnostics == nullptr ? strict_ : *options.diagnostics),
        links_(directory),
        source_(open_inside(kMetadataFile)) {}

  Model run() {
    if (source_->size() > options_.limits.metadata_bytes)
      fail("torch.pickle.large",
           fmt::format("expected a pickle of at most {} bytes, found {}", options_.limits.metadata_bytes,
                       source_->size()),
           ErrorKind::limit);
    Loaded loaded(io::Metadata(*source_, 0, source_->size()), 0);
    loaded.run(*source_, diagnostics_);
    p_ = &*loaded;
    model_.file_bytes = source_->size();
    model_.sources.push_back(source_);
    const Ref names = field(p_->root(), "state_dict_metadata"), stored = field(p_->root(), "storage_data");
    read_items(stored);
    check_overlaps();
    p_->each_pair(names, [&](Ref key, Ref value) {
      if (p_->kind(key) != PickleKind::text) fail("torch.distributed.metadata", "the name of an entry is not text");
      guarded(std::string(p_->text(key)), value);
    });
    model_.version = "distributed";
    return std::move(model_);
  }

 private:
  [[noreturn]] void fail(std::string_view rule, const std::string& sentence,
                         ErrorKind kind = ErrorKind::corrupt) const {
    throw Error(kind, rule, sentence).in(source_->name());
  }

  // Returns an attribute of an object that was built from a dict.
  std::optional<Ref> find_field(Ref object, std::string_view name) const {
    std::optional<Ref> found;
    p_->each_state(object, [&](Ref state) {
      if (p_->kind(state) != PickleKind::dict) return;
      p_->each_pair(state, [&](Ref key, Ref value) {
        if (p_->kind(key) == PickleKind::text && p_->text(key) == name) found = value;
      });
    });
    return found;
  }
  Ref field(Ref object, std::string_view name) const {
    const auto found = find_field(object, name);
    if (!found) fail("torch.distributed.metadata", fmt::format("an object without \"{}\"", name));
    return *found;
  }
  std::uint64_t number(Ref ref) const {
    if (p_->kind(ref) != PickleKind::integer || p_->integer(ref) < 0)
      fail("torch.distributed.metadata", "an offset, a length or a size is not a number");
    return static_cast<std::uint64_t>(p_->integer(ref));
  }
  // Reads a shape like torch.Size((2, 3)).
  Shape shape(Ref ref) const {
    if (p_->kind(ref) == PickleKind::call && p_->tuple(p_->arguments(ref)).size() == 1)
      ref = p_->tuple(p_->arguments(ref))[0];
    if (p_->kind(ref) != PickleKind::tuple || p_->tuple(ref).size() > options_.limits.rank)
      fail("torch.distributed.metadata", "sizes or offsets are not a tuple");
    Shape shape;
    for (const Ref size : p_->tuple(ref)) shape.push_back(number(size));
    return shape;
  }

  static std::string key_of(std::string_view name, const Shape& offsets) {
    return fmt::format("{}@{}", name, offsets.text());
  }

  void read_items(Ref stored) {
    p_->each_pair(stored, [&](Ref index, Ref info) {
      Item item;
      const Ref name = field(index, "fqn"), file = field(info, "relative_path");
      if (p_->kind(name) != PickleKind::text || p_->kind(file) != PickleKind::text)
        fail("torch.distributed.metadata", "a name or a file is not text");
      charge_bytes(2 * p_->text(name).size() + p_->text(file).size());  // all items may refer to the same long name
      charge_values(kTensorPrice);
      item.name = p_->text(name);
      item.file = p_->text(file);
      if (item.file.empty() || item.file.starts_with('.') ||
          item.file.find_first_of(std::string_view("/\\:\0", 4)) != std::string::npos)
        fail("torch.distributed.file",
             fmt::format("\"{}\" is not the name of a file next to the metadata", quote(item.file)));
      if (const auto changed = find_field(info, "transform_descriptors");
          changed && p_->kind(*changed) != PickleKind::none)
        fail("torch.distributed.transform",
             fmt::format("\"{}\" is stored compressed or changed otherwise", quote(item.name)), ErrorKind::unsupported);
      const auto offsets = find_field(index, "offset");
      if (offsets && p_->kind(*offsets) != PickleKind::none) item.offsets = shape(*offsets);
      item.offset = number(field(info, "offset"));
      item.length = number(field(info, "length"));
      const std::string key = key_of(item.name, item.offsets);
      if (!items_.try_emplace(key, std::move(item)).second)
        fail("torch.distributed.metadata", fmt::format("\"{}\" appears twice", quote(key)));
    });
  }

  // Each item is parsed on its own. If none overlaps another, no bytes are parsed twice, and the time is linear in the
  // files.
  void check_overlaps() const {
    std::vector<const Item*> order;
    for (const auto& [key, item] : items_) order.push_back(&item);
    std::ranges::sort(order, [](const Item* a, const Item* b) {
      // Items at the same place are sorted by name, so that the error always names the same two.
      return std::tie(a->file, a->offset, a->length, a->name) < std::tie(b->file, b->offset, b->length, b->name);
    });
    for (std::size_t i = 1; i < order.size(); ++i)
      if (order[i]->file == order[i - 1]->file && order[i]->offset - order[i - 1]->offset < order[i - 1]->length)
        fail("torch.distributed.overlap", fmt::format("\"{}\" and \"{}\" overlap in {}", quote(order[i - 1]->name),
                                                      quote(order[i]->name), order[i]->file));
  }

  // Opens a file of the directory; refuses a link that leads out of it.
  SourcePtr open_inside(std::string_view name) const {
    const std::string path = fmt::format("{}/{}", directory_, name);
    const auto refuse = [&](const std::string& why) {
      throw Error(ErrorKind::corrupt, "torch.distributed.file", why).in(path);
    };
    if (const auto outside = links_.outside(path)) refuse(*outside);
    SourcePtr source = open_file(path, options_.access);
    if (!links_.allow(*source)) refuse("the file was exchanged when it was opened");
    return source;
  }

  SourcePtr file(const std::string& name) {
    SourcePtr& source = files_[name];
    if (source != nullptr) return source;
    source = open_inside(name);
    model_.file_bytes += source->size();
    model_.sources.push_back(source);
    return source;
  }

  Model read_item(const std::string& key) {
    const auto found = items_.find(key);
    if (found == items_.end())
      fail("torch.distributed.missing", fmt::format("nothing says where \"{}\" is stored", quote(key)));
    const Item& item = found->second;
    if (std::exchange(found->second.used, true))
      fail("torch.distributed.chunks", fmt::format("\"{}\" is used twice", quote(key)));
    const SourcePtr whole = file(item.file);
    if (!fits(item.offset, item.length, whole->size()))
      throw Error(ErrorKind::corrupt, "torch.distributed.bounds",
                  fmt::format("{} bytes at {} extend beyond the end at {}", item.length, item.offset, whole->size()))
          .in(whole->name());
    const auto part = std::make_shared<const PartSource>(whole, item.offset, item.length);
    Model model = read_archive(part, options_, true);
    // Replaces the part by the file itself, which can be mapped.
    for (Tensor& tensor : model.tensors)
      for (Component& component : tensor.components)
        if (component.blob.source() == part && component.blob.is_plain())
          component.blob = Blob::range(whole, item.offset + component.blob.offset(), component.blob.size())
                               .guarded(component.blob.guard());
    return model;
  }

  void guarded(const std::string& name, Ref entry) {
    try {
      add(name, entry);
    } catch (Error& error) {
      if (error.kind() == ErrorKind::io || error.kind() == ErrorKind::not_found) throw;
      error.in(source_->name()).about("tensor " + quote(name));
      diagnostics_.tensor_error(error);
      model_.broken.push_back({Tensor(), error});
      model_.broken.back().tensor.name = name;
    }
  }

  void add(const std::string& name, Ref entry) {
    const auto chunks = find_field(entry, "chunks");
    if (!chunks) return add_object(name);
    const Shape size = shape(field(entry, "size"));
    std::vector<Chunk> parts;
    p_->each_item(*chunks, [&](Ref chunk) {
      charge_values(kTensorPrice);
      parts.push_back({shape(field(chunk, "offsets")), shape(field(chunk, "sizes")), {}});
    });
    for (Chunk& part : parts) {
      Model model = read_item(key_of(name, part.offsets));
      if (model.tensors.size() != 1 || !model.tensors[0].is_dense() || model.tensors[0].shape != part.sizes)
        fail("torch.distributed.chunk",
             fmt::format("the file does not hold one dense tensor {} there", part.sizes.text()));
      part.tensor = std::move(model.tensors[0]);
    }
    if (parts.empty()) fail("torch.distributed.chunks", "a tensor without chunks");
    for (const Chunk& part : parts) {
      const Component &first = parts[0].tensor.components[0], &data = part.tensor.components[0];
      if (part.offsets.rank() != size.rank() || part.sizes.rank() != size.rank() ||
          data.type_name() != first.type_name())
        fail("torch.distributed.chunks", "chunks of different ranks or types");
    }
    const Component data = parts[0].tensor.components[0];
    check_type(entry, data);
    std::vector<Box> boxes;
    for (Chunk& part : parts) boxes.push_back({part.offsets, part.sizes, part.tensor.components[0].blob});
    Blob blob = join_boxes(size, std::move(boxes));
    model_.tensors.push_back(dense(name, size, data.dtype, std::move(blob), data.type));
  }

  // Checks the element type against the metadata, if that states one: the state of TensorProperties is (dtype, layout,
  // ...).
  void check_type(Ref entry, const Component& data) const {
    const auto properties = find_field(entry, "properties");
    if (!properties) return;
    p_->each_state(*properties, [&](Ref state) {
      std::optional<Ref> type;
      if (p_->kind(state) == PickleKind::tuple && !p_->tuple(state).empty()) type = p_->tuple(state)[0];
      if (p_->kind(state) == PickleKind::dict) type = find_field(*properties, "dtype");
      if (!type || p_->kind(*type) != PickleKind::global || p_->module_of(*type) != "torch") return;
      const ElementType* const stated = find_element(p_->name_of(*type));
      if (stated == nullptr || !stated->layout.empty() || stated->quantized) return;
      if (stated->dtype != data.dtype || stated->type != data.type)
        fail("torch.distributed.type",
             fmt::format("the metadata says {}, the chunks are {}", stated->name, data.type_name()));
    });
  }

  // Adds an object that is not a tensor, but may contain tensors.
  void add_object(const std::string& name) {
    Model model = read_item(key_of(name, {}));
    for (Tensor& tensor : model.tensors) {
      charge_bytes(name.size() + 1);  // the object may refer to one tensor many times, with two bytes each
      tensor.name = fmt::format("{}.{}", name, tensor.name);
      model_.tensors.push_back(std::move(tensor));
    }
    const Value* const value = model.metadata.find(kLoneValue);
    if (value != nullptr)
      model_.metadata.set(name, *value);
    else if (!model.metadata.empty())
      model_.metadata.set(name, std::move(model.metadata));
  }

  std::string directory_;
  const ReadOptions& options_;
  Diagnostics strict_;
  Diagnostics& diagnostics_;
  Links links_;
  SourcePtr source_;
  const Pickle* p_ = nullptr;
  NameMap<Item> items_;
  NameMap<SourcePtr> files_;
  Model model_;
};

}  // namespace

bool is_distributed(const std::string& path) {
  std::error_code failed;
  if (!io::is_file(fmt::format("{}/{}", path, kMetadataFile))) return false;
  return std::ranges::any_of(io::names_in(path, failed),
                             [](const std::string& name) { return fs::path(name).extension() == kDataSuffix; });
}

Model read_distributed(const std::string& path, const ReadOptions& options) {
  return CheckpointReader(path, options).run();
}

}  // namespace tare::torch
