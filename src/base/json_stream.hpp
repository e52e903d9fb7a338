// Writes JSON directly into text, so that a listing of 100,000 tensors needs no tree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tare {

// Inserts the commas. The caller keeps brackets balanced. The output never contains characters that could control a
// terminal: they become \uNNNN.
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
  // A value that is already JSON.
  JsonWriter& raw(std::string_view json);
  JsonWriter& line_feed();

 private:
  void before();

  std::string& out_;
  bool comma_ = false;
};

}  // namespace tare
