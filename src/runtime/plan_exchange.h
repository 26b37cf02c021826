// How devices that run the same iteration, in different processes, come by one plan, as far as one of them
// knows: somebody carries texts between them (docs/notes/distributed.md).
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace ebb {

struct ExchangeAnswer {
  bool plan_here = true;                   // for itself or for all
  std::vector<std::string> measured = {};  // if so: what others with the same key measured
  std::string plan = {};                   // if not: what the one who planned gave
};

class PlanExchange {
 public:
  virtual ~PlanExchange() = default;
  // Without others a device plans as if there were no exchange.
  virtual bool has_others() = 0;
  // Those who ask with the same key can follow the same plan. Waits, for a bounded time and no longer than
  // until `stop` is true; called by the planner's thread.
  virtual ExchangeAnswer ask(const std::string& key, const std::string& measured,
                             const std::function<bool()>& stop) = 0;
  // By the one who was told to plan, also if there is no plan. Does not wait.
  virtual void give(const std::string& key, const std::string& plan) = 0;
  // Asked at the begin of every iteration from which on the plan could be followed: is it time, for all of
  // them at once? Does not wait.
  virtual bool may_follow(const std::string& key) = 0;
};

}  // namespace ebb
