// The table of layouts. A new codec is one file, one declaration in rows.hpp and one entry here.
#include <fmt/format.h>

#include <vector>

#include "base/forever.hpp"
#include "base/process_mutex.hpp"
#include "codecs/rows.hpp"
#include "tare/error.hpp"

namespace tare {
namespace {

std::vector<Codec>& added_rows() {
  static Forever<std::vector<Codec>> rows;
  return *rows;
}

const BeforeFork kCodecsBeforeFork([] { static_cast<void>(codecs()); });

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

const Codec* find_codec(std::string_view layout) {
  for (const Codec& codec : codecs())
    if (codec.layout == layout) return &codec;
  return nullptr;
}

const Codec* find_codec_by_method(std::string_view method) {
  for (const Codec& codec : codecs()) {
    // A full method name begins with its codec's family: the "zt" of "zt.group".
    const std::string_view family = codec.name.substr(0, codec.name.find('.'));
    for (const std::string_view offered : codec.methods) {
      if (method == offered) return &codec;
      if (method.size() == family.size() + 1 + offered.size() && method.starts_with(family) &&
          method[family.size()] == '.' && method.ends_with(offered))
        return &codec;
    }
  }
  return nullptr;
}

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
