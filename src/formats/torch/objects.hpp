// Turns a checkpoint into the objects that torch.load makes with weights_only=True, through an interface that makes
// them. Nothing in the file is run: only a short list of calls may appear, and each is passed on by name.
#pragma once

#include <functional>

#include "formats/torch/torch.hpp"

namespace tare::torch {

// The bytes that tensors share, as the pickle names them.
struct StorageId {
  std::string_view key;
  std::string_view type;    // "HalfStorage"
  std::string_view device;  // "cuda:0"
};

// Elements of a storage, within its bounds.
struct DenseView {
  StorageId storage;
  std::string_view type;  // "float16"
  View view;
  bool requires_grad = false, conjugated = false, negated = false;
};

// Makes objects. Each is made once and then referred to by a number; a collection is made empty and filled later, so it
// may contain itself.
class ObjectMaker {
 public:
  using Made = std::uint32_t;

  ObjectMaker() = default;
  virtual ~ObjectMaker() = default;
  ObjectMaker(const ObjectMaker&) = delete;
  ObjectMaker& operator=(const ObjectMaker&) = delete;

  // None, a boolean, a number, a text or bytes.
  virtual Made value(const Pickle& pickle, Ref ref) = 0;
  virtual Made tuple(std::span<const Made> items) = 0;
  virtual Made list() = 0;
  virtual Made dict() = 0;
  virtual Made set() = 0;
  virtual void append(Made list, Made item) = 0;
  // Returns false if the key or item is mutable, so that it cannot be one.
  virtual bool set_item(Made dict, Made key, Made value) = 0;
  virtual bool add(Made set, Made item) = 0;
  // A constant such as torch.float16 or torch.Tensor.
  virtual Made constant(std::string_view module, std::string_view name) = 0;
  // Returns the result of a call on the list. `at`: the offset in the file, for errors.
  virtual Made call(std::string_view module, std::string_view name, std::span<const Made> arguments,
                    std::uint64_t at) = 0;
  // Sets the attributes of such an object.
  virtual void set_state(Made object, Made state, std::uint64_t at) = 0;
  virtual Made storage(const StorageId& id) = 0;
  virtual Made dense(const DenseView& tensor, std::uint64_t at) = 0;
};

// Makes the object that the pickle describes. Throws `torch.global.refused` for what weights_only=True refuses, and the
// rules of tensors and trees.
ObjectMaker::Made make_objects(const Content& content, ObjectMaker& maker);

// Returns the storages that the pickle mentions, each as a tensor of bytes with its key as name, in the machine's byte
// order.
std::vector<Tensor> storages_of(const Content& content);

// Reads a file of torch.save and calls `use` with its content.
void read_objects(const SourcePtr& source, const ReadOptions& options, const std::function<void(const Content&)>& use);

}  // namespace tare::torch
