// JSON written straight into text: a listing of 100,000 tensors builds no tree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tare {

// Puts the commas. The caller keeps brackets balanced. Whatever is put in, the JSON that comes out has nothing in it that
// steers a terminal: such characters are spelled \uNNNN.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  JsonWriter& key(std::string_view name);
  JsonWriter& text(std::string_view value);
  JsonWriter& number(std::uint64_t value);
  JsonWriter& number(std::int64_t value);
  JsonWriter& real(double value);
  JsonWriter& boolean(bool value);
  JsonWriter& null();
  // A value that is JSON already.
  JsonWriter& raw(std::string_view json);
  JsonWriter& line_feed();

 private:
  void before();

  std::string& out_;
  bool comma_ = false;
};

}  // namespace tare
