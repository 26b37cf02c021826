// Writes traces the way a training program would cause them, with a line per call.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.h"

namespace ebb::testing {

class Recorder {
 public:
  Recorder() : builder_(trace_) {}

  BlockId malloc(Bytes bytes) {
    builder_.malloc(next_, bytes);
    return next_++;
  }
  void free(BlockId block) { builder_.free(block); }

  void op(const std::string& name, const std::vector<BlockId>& reads, const std::vector<BlockId>& writes,
          Phase phase = Phase::unknown) {
    run(name, reads, writes, {}, phase);
  }

  // An op that mallocs its result.
  BlockId make(const std::string& name, Bytes bytes, const std::vector<BlockId>& reads,
               Phase phase = Phase::unknown) {
    const BlockId made = next_++;
    run(name, reads, {made}, {{.block = made, .bytes = bytes, .is_malloc = true}}, phase);
    return made;
  }

  void exec(const ExecEvent& event) { builder_.exec(event); }
  BlockId next_id() { return next_++; }
  std::size_t size() const { return trace_.events.size(); }
  Trace& trace() { return trace_; }

 private:
  void run(const std::string& name, const std::vector<BlockId>& reads, const std::vector<BlockId>& writes,
           const std::vector<MemoryEvent>& memory, Phase phase) {
    std::vector<Access> accesses;
    for (BlockId b : reads) accesses.push_back({.block = b, .reads = true});
    for (BlockId b : writes) accesses.push_back({.block = b, .writes = true});
    builder_.exec({.name = name, .phase = phase, .duration = 10, .accesses = accesses, .memory = memory});
  }

  Trace trace_;
  TraceBuilder builder_;
  BlockId next_ = 0;
};

// A small network: weights, an input, and one training iteration that makes and frees activations and
// gradients.
class Training {
 public:
  Training(Recorder& recorder, int layers, Bytes batch = 1) : recorder_(recorder), batch_(batch) {
    for (int i = 0; i < layers; ++i) weights_.push_back(recorder.malloc(4096 + i * 4096));
    input_ = recorder.malloc(1000 * batch);
    for (BlockId weight : weights_) recorder.op("init", {}, {weight});
  }

  void forward_backward() {
    std::vector<BlockId> activations = {input_};
    for (BlockId weight : weights_)
      activations.push_back(
          recorder_.make("layer", 2000 * batch_, {weight, activations.back()}, Phase::forward));
    for (std::size_t i = weights_.size(); i-- > 0;) {
      const BlockId gradient =
          recorder_.make("layer_backward", 777, {weights_[i], activations[i + 1]}, Phase::backward);
      if (accumulated_.size() < weights_.size()) {
        accumulated_.push_back(gradient);
      } else {
        recorder_.op("accumulate", {gradient}, {accumulated_[weights_.size() - 1 - i]}, Phase::backward);
        recorder_.free(gradient);
      }
      recorder_.free(activations[i + 1]);
    }
  }

  void update() {
    for (std::size_t i = 0; i < weights_.size(); ++i)
      recorder_.op("sgd", {accumulated_[weights_.size() - 1 - i]}, {weights_[i]}, Phase::update);
    for (BlockId gradient : accumulated_) recorder_.free(gradient);
    accumulated_.clear();
  }

  void iteration(int micro_batches = 1) {
    for (int i = 0; i < micro_batches; ++i) forward_backward();
    update();
  }

  void evaluation() {
    BlockId activation = input_;
    for (BlockId weight : weights_) {
      const BlockId next = recorder_.make("eval_layer", 2000 * batch_, {weight, activation});
      if (activation != input_) recorder_.free(activation);
      activation = next;
    }
    recorder_.free(activation);
  }

 private:
  Recorder& recorder_;
  Bytes batch_;
  BlockId input_ = 0;
  std::vector<BlockId> weights_;
  std::vector<BlockId> accumulated_;
};

}  // namespace ebb::testing
