// Parses the header's JSON directly into tensors. read.cpp checks offsets and sizes against the data.
//
// simdjson finds the structure and checks UTF-8. Its on-demand front end is lazy, so unknown fields are walked here
// too: bad JSON inside them would go unnoticed otherwise.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/budget.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/safetensors/json.hpp"
#include "formats/safetensors/place.hpp"
#include "formats/safetensors/safetensors.hpp"
#include "wire/cbor.hpp"

namespace tare::safetensors {
namespace {

namespace od = simdjson::ondemand;

class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& file, Placer& placer, Map& metadata, Diagnostics& diagnostics)
      : json_(text, file, 8, "safetensors.header"),
        file_(file),
        placer_(placer),
        metadata_(metadata),
        diagnostics_(diagnostics) {}

  void run() {
    wire::KeyCheck names;
    json_.each_field(json_.root(), [&](std::string_view key, const char* at, od::value value) {
      // An escaped key is in the parser's buffer, which keeps all strings until the end.
      names.add(key);
      at_ = json_.offset_of(at);
      if (key == kMetadataKey)
        read_metadata(value);
      else
        read_entry(key, value);
    });
    json_.expect_end();
    if (const auto twice = names.find_duplicate(); twice.data() != nullptr)
      diagnostics_.error(Error(ErrorKind::corrupt, "safetensors.name.duplicate", "the name appears twice in the header")
                             .in(file_)
                             .at(json_.offset_of_key(twice).value_or(8))
                             .about("tensor " + quote(twice)));
  }

 private:
  [[noreturn]] void fail(std::string_view rule, std::string_view sentence, std::string_view name) const {
    throw Error(ErrorKind::corrupt, rule, sentence).in(file_).at(at_).about("tensor " + quote(name));
  }

  void read_metadata(od::value value) {
    const auto wrong = [&](std::string_view sentence) {
      throw Error(ErrorKind::corrupt, "safetensors.metadata.form", sentence).in(file_).at(at_).about(kMetadataKey);
    };
    const od::json_type type = json_.type_of(value);
    if (type == od::json_type::null) {
      json_.walk(value, 1);
      return;
    }
    if (type != od::json_type::object) wrong("expected an object of strings");
    wire::KeyCheck keys;
    json_.each_field(json_.object(value), [&](std::string_view key, const char* at, od::value entry) {
      at_ = json_.offset_of(at);
      if (json_.type_of(entry) != od::json_type::string)
        wrong(fmt::format("the value of \"{}\" is not a string", quote(key)));
      keys.add(key);
      charge_values(kKeyPrice + 1);
      metadata_.append(std::string(key), std::string(json_.string(entry)));
    });
    if (const auto twice = keys.find_duplicate(); twice.data() != nullptr)
      throw Error(ErrorKind::corrupt, "safetensors.metadata.duplicate",
                  fmt::format("the key \"{}\" appears twice", quote(twice)))
          .in(file_)
          .at(at_)
          .about(kMetadataKey);
  }

  void read_entry(std::string_view name, od::value value) {
    const od::json_type type = json_.type_of(value);
    if (type == od::json_type::array)
      fail("safetensors.entry.array", "expected an object with dtype, shape and data_offsets, found an array", name);
    if (type != od::json_type::object)
      fail("safetensors.entry.form", "expected an object with dtype, shape and data_offsets", name);
    Tensor& tensor = placer_.begin(name, at_);
    std::uint64_t begin = 0, end = 0;
    std::string_view dtype;
    unsigned seen = 0;
    std::size_t rank = 0;
    const auto meet = [&](unsigned bit, std::string_view key) {
      if ((seen & bit) != 0)
        fail("safetensors.entry.duplicate_field", fmt::format("the field \"{}\" appears twice", key), name);
      seen |= bit;
    };
    json_.each_field(json_.object(value), [&](std::string_view key, const char*, od::value field) {
      if (is(key, "dtype")) {
        meet(1, key);
        if (json_.type_of(field) != od::json_type::string)
          fail("safetensors.entry.dtype", "the dtype is not a string", name);
        dtype = json_.string(field);
      } else if (is(key, "shape")) {
        meet(2, key);
        read_numbers(field, "shape", name, [&](std::uint64_t number) {
          if (++rank <= placer_.max_rank()) tensor.shape.push_back(number);
        });
      } else if (is(key, "data_offsets")) {
        meet(4, key);
        read_offsets(field, name, begin, end);
      } else {
        json_.walk(field, 2);
        diagnostics_.warning(
            Error(ErrorKind::corrupt, "safetensors.entry.unknown",
                  fmt::format("the field \"{}\" is not one of the format's; it is ignored", quote(key)))
                .in(file_)
                .at(at_)
                .about("tensor " + quote(name)));
      }
    });
    if (seen != 7)
      fail("safetensors.entry.missing_field",
           fmt::format("no \"{}\"", (seen & 1) == 0   ? "dtype"
                                    : (seen & 2) == 0 ? "shape"
                                                      : "data_offsets"),
           name);
    // Drops a tensor for an error that concerns it alone.
    const auto drop = [&](ErrorKind kind, std::string_view rule, const std::string& sentence) {
      placer_.drop(Error(kind, rule, sentence).in(file_).at(at_).about("tensor " + quote(name)), begin, end);
    };
    const HeaderType* const known = find_type(dtype);
    if (known == nullptr)
      return drop(ErrorKind::unsupported, "safetensors.entry.dtype", fmt::format("unknown dtype \"{}\"", quote(dtype)));
    if (rank > placer_.max_rank())
      return drop(ErrorKind::limit, "safetensors.entry.rank",
                  fmt::format("expected at most {} dimensions, found {}", placer_.max_rank(), rank));
    if (name.find('\0') != std::string_view::npos)
      return drop(ErrorKind::corrupt, "safetensors.name.nul",
                  "a zero byte in a name: programs that end names there would read another one");
    placer_.finish(*known, begin, end);
  }

  template <typename Take>
  void read_numbers(od::value value, std::string_view key, std::string_view name, const Take& take) {
    const auto wrong = [&] {
      fail(is(key, "shape") ? "safetensors.entry.shape" : "safetensors.entry.offsets",
           fmt::format("\"{}\" is not an array of whole numbers from 0 to 2^64 - 1", key), name);
    };
    if (json_.type_of(value) != od::json_type::array) wrong();
    json_.each_item(json_.array(value), [&](od::value item) {
      std::uint64_t number = 0;
      if (item.get_uint64().get(number) != simdjson::SUCCESS) wrong();
      take(number);
    });
  }

  void read_offsets(od::value value, std::string_view name, std::uint64_t& begin, std::uint64_t& end) {
    unsigned count = 0;
    read_numbers(value, "data_offsets", name, [&](std::uint64_t number) {
      (count == 0 ? begin : end) = number;
      ++count;
    });
    if (count != 2)
      fail("safetensors.entry.offsets", fmt::format("expected two data_offsets, begin and end; found {}", count), name);
  }

  Json json_;
  const std::string& file_;
  Placer& placer_;
  Map& metadata_;
  Diagnostics& diagnostics_;
  std::uint64_t at_ = 8;
};

}  // namespace

void parse_header(std::string_view text, const std::string& file, Placer& placer, Map& metadata,
                  Diagnostics& diagnostics) {
  HeaderParser(text, file, placer, metadata, diagnostics).run();
}

}  // namespace tare::safetensors
