// One open model, with everything precomputed that the views need repeatedly. Const after construction; safe to use
// from many threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "formats/format.hpp"
#include "tare/model.hpp"

namespace tare::view {

// A row of the list of tensors.
struct Item {
  std::uint32_t type = 0, role = 0;        // indices into OpenModel::types and roles
  std::int32_t layer = -1, expert = -1;    // -1: belongs to none
  std::uint64_t elements = 0, stored = 0;  // elements: 0 if the count does not fit in 64 bits
  double bits = 0;                         // per element
};

// A run of bytes in a file, and the tensor or attachment that owns it.
struct Segment {
  std::uint32_t file = 0;
  std::int64_t tensor = -1, attachment = -1;  // -1: none
  std::uint64_t offset = 0, bytes = 0;
  std::string_view role = {};  // the component's role
};

struct File {
  std::string name;  // without its directories
  std::uint64_t bytes = 0;
};

class OpenModel {
 public:
  // Opens the model. Throws what `open` throws.
  OpenModel(std::string path, const ReadOptions& options);
  // Takes a model that is open already. `path`: the name shown for it.
  OpenModel(std::string path, Model model, const ReadOptions& options = {});

  const std::string& path() const { return path_; }
  // The last part of the path.
  std::string name() const;
  const Model& model() const { return model_; }
  const ReadOptions& options() const { return options_; }
  const std::vector<Item>& items() const { return items_; }
  const std::vector<std::string>& types() const { return types_; }
  const std::vector<std::string>& roles() const { return roles_; }
  // The tensors sorted by name, bytewise, so that tensors with a common prefix are adjacent.
  const std::vector<std::uint32_t>& by_name() const { return by_name_; }
  // Sorted by file and offset.
  const std::vector<Segment>& segments() const { return segments_; }
  const std::vector<File>& files() const { return files_; }
  std::string_view family() const { return family_; }
  // The name of a tensor as JSON and the page show it.
  std::string shown_name(std::size_t tensor) const;

  // Throws what Model::check_sources throws; also `view.vanished` if a file's path no longer exists, and
  // `view.replaced` if it now names another file than the open one.
  void check() const;

 private:
  void describe();
  void place();
  void locate();

  std::string path_;
  ReadOptions options_;
  Model model_;
  std::vector<Item> items_;
  std::vector<std::string> types_, roles_;
  std::vector<std::uint32_t> by_name_;
  std::vector<Segment> segments_;
  std::vector<File> files_;
  std::string family_;
};

// A tensor's name taken apart: its layer, its expert, and the rest.
struct Place {
  std::int32_t layer = -1, expert = -1;
  std::string role;
};
// At most about `most` bytes of a name, on one line and printable; longer names are shortened in the middle.
std::string short_name(std::string_view name, std::size_t most = 300);
// The first bytes of `text`, at most `most`, never ending inside a UTF-8 character.
std::string_view beginning_of(std::string_view text, std::size_t most);

// For names that no family recognises: the first number is the layer, the next one the expert.
Place place_by_numbers(std::string_view name);

}  // namespace tare::view
