// For a caller that shows nothing but tensors: a reader may then omit what costs requests to a server: reading the
// hyper-parameters and the vocabulary out of attached files.
#pragma once

namespace tare {

// While it lives, `open` in this thread need not fill Model::config and Model::vocabulary of models on servers.
class OnlyTensors {
 public:
  OnlyTensors() noexcept;
  ~OnlyTensors();
  OnlyTensors(const OnlyTensors&) = delete;
  OnlyTensors& operator=(const OnlyTensors&) = delete;

  static bool wanted() noexcept;
};

}  // namespace tare
