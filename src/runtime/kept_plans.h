// Plans that outlive the program: a file for each iteration, limit and planner in a folder. Who runs the same
// again follows at once what an earlier run found (docs/notes/planned-mode.md). Several processes may share
// the folder. Files used longest ago go when there are many.
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

  // Nothing if there is none under the name, or none that holds for this program, capacity and ground, judged
  // anew.
  std::optional<KeptPlan> find(const std::string& name, const Program& program, Bytes capacity,
                               Bytes ground) const;
  // Instead of what there was under the name, unless that holds here too and was searched to the end, and
  // this was not. false: it could not be written. REQUIRES: the name can be a file's.
  bool keep(const std::string& name, const KeptPlan& kept, Bytes capacity) const;

 private:
  std::string path(const std::string& name) const;
  bool write(const std::string& name, const KeptPlan& kept, Bytes capacity) const;
  void forget_the_oldest() const;

  std::string folder_;
};

}  // namespace ebb
