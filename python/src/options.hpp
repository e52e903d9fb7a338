// Converts the keyword arguments of the Python functions to the library's options.
#pragma once

#include <optional>
#include <vector>

#include "python.hpp"
#include "tare/convert.hpp"
#include "tare/inspect.hpp"

namespace tare::py {

// A dict that the Python half made. An option that is absent or None has its default.
class Options {
 public:
  explicit Options(PyObject* dict);

  bool flag(const char* key) const;
  std::string text(const char* key) const;
  std::vector<std::string> texts(const char* key) const;
  std::vector<std::pair<std::string, std::string>> pairs(const char* key) const;
  std::optional<std::int64_t> number(const char* key) const;
  // Borrowed; null if absent.
  PyObject* find(const char* key) const;

  // The rows of the table of options (options/conversion.hpp) that the dict has.
  ConvertOptions convert() const;
  SaveOptions save() const;
  ReadOptions read() const;

 private:
  PyObject* dict_;
};

// The table for the package: (keyword, name of the command's option, functions, kind, help). Without a keyword, the last
// item is what to do instead.
Ref option_rows();

}  // namespace tare::py
