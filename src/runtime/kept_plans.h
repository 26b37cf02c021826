// Plans that outlive the program: a file for each iteration, limit and planner in a folder. Who runs the same
// again follows at once what an earlier run found (docs/notes/planned-mode.md).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "runtime/prepared_plan.h"
#include "runtime/timed_step.h"

namespace ebb {

struct KeptPlan {
  std::shared_ptr<const PreparedPlan> plan;
  TimedStep step;         // that it was made for
  bool searched = false;  // to the end, and not only until there was one
};

class KeptPlans {
 public:
  // Makes the folder if there is none. Throws SystemError if it cannot be written to.
  explicit KeptPlans(std::string folder);

  // Nothing if there is none under the key, or none that holds for this program, capacity and ground, judged
  // anew.
  std::optional<KeptPlan> find(const std::string& key, const Program& program, Bytes capacity,
                               Bytes ground) const;
  // Instead of what there was under the key, unless that was searched to the end and this was not. false: it
  // could not be written. REQUIRES: the key can be a file's name.
  bool keep(const std::string& key, const KeptPlan& kept, Bytes capacity) const;

 private:
  std::string path(const std::string& key) const;
  bool has_searched(const std::string& key) const;

  std::string folder_;
};

}  // namespace ebb
