// The table of layouts. A new codec is one file, one declaration in rows.hpp and one entry here.
#include <fmt/format.h>

#include <vector>

#include "base/forever.hpp"
#include "base/name_map.hpp"
#include "base/process_mutex.hpp"
#include "codecs/rows.hpp"
#include "tare/error.hpp"

namespace tare {
namespace {

std::vector<Codec>& added_rows() {
  static Forever<std::vector<Codec>> rows;
  return *rows;
}

// Each tensor of a model asks for its codec several times.
const NameMap<const Codec*>& codecs_by_layout() {
  static Forever<NameMap<const Codec*>> index([] {
    NameMap<const Codec*> by_layout;
    for (const Codec& codec : codecs()) by_layout.emplace(codec.layout, &codec);
    return by_layout;
  }());
  return *index;
}

// By the short name of a method and by its full name, which begins with its codec's family: the "zt" of "zt.group".
const NameMap<const Codec*>& codecs_by_method() {
  static Forever<NameMap<const Codec*>> index([] {
    NameMap<const Codec*> by_method;
    for (const Codec& codec : codecs())
      for (const std::string_view method : codec.methods) {
        by_method.emplace(method, &codec);
        by_method.emplace(fmt::format("{}.{}", codec.name.substr(0, codec.name.find('.')), method), &codec);
      }
    return by_method;
  }());
  return *index;
}

const Codec* found_in(const NameMap<const Codec*>& index, std::string_view name) {
  const auto found = index.find(name);
  return found == index.end() ? nullptr : found->second;
}

const BeforeFork kCodecsBeforeFork([] {
  static_cast<void>(codecs_by_layout());
  static_cast<void>(codecs_by_method());
});

}  // namespace

void codec::add_row(const Codec& row) { added_rows().push_back(row); }

std::span<const Codec> codecs() {
  // Built on first use, so that the initialisation order of translation units does not matter.
  static Forever<std::vector<Codec>> table([] {
    using namespace codec;
    std::vector<Codec> rows = {kDense,
                               sparse::kCsr,
                               sparse::kCoo,
                               group::kCodec,
                               small_floats::kF4,
                               small_floats::kF6Fine,
                               small_floats::kF6Wide,
                               alt::kQint8,
                               alt::kQint4,
                               zt2::kNarrowCsr,
                               zt2::kNarrowCoo,
                               zt2::kQuantGroup,
                               zt2::kMx,
                               zt2::kOddFloats};
    rows.insert(rows.end(), mcf::kCodecs.begin(), mcf::kCodecs.end());
    rows.insert(rows.end(), ggml::codecs().begin(), ggml::codecs().end());
    const std::vector<Codec> packed_by_others = packs::codecs();
    rows.insert(rows.end(), packed_by_others.begin(), packed_by_others.end());
    rows.insert(rows.end(), added_rows().begin(), added_rows().end());
    return rows;
  }());
  return *table;
}

const Codec* find_codec(std::string_view layout) { return found_in(codecs_by_layout(), layout); }

const Codec* find_codec_by_method(std::string_view method) { return found_in(codecs_by_method(), method); }

std::string dtype_name(const Tensor& tensor) {
  const Codec* const codec = find_codec(tensor.layout);
  if (codec == nullptr) return tensor.layout;
  if (!codec->name.empty()) return std::string(codec->name);
  // Dense and sparse: the first role holds the values.
  const Component* const values = tensor.component(codec->roles.front());
  return values == nullptr ? tensor.layout : std::string(values->type_name());
}

Tensor to_dense(const Tensor& tensor) {
  const Codec* const codec = find_codec(tensor.layout);
  if (codec == nullptr || (codec->decode == nullptr && !tensor.is_dense()))
    throw Error(ErrorKind::unsupported, "codec.unknown",
                fmt::format("the layout \"{}\" cannot be decoded", tensor.layout))
        .about(tensor.name);
  if (const auto problem = codec->check(tensor))
    throw Error(ErrorKind::corrupt, problem->rule, problem->sentence).about(tensor.name);
  return codec->decode == nullptr ? tensor : codec->decode(tensor);
}

}  // namespace tare
