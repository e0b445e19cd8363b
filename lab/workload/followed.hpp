// Work in steps: a Control shows its progress, and can stop it.
#pragma once

#include "core/machine/mode.hpp"

namespace tilescope::lab {

class Followed {
  public:
    /// `control` may be nullptr: then nobody sees the progress, and nobody can stop the work.
    Followed(Control* control, Index steps) : control_(control) {
        if (control) control->blocks_done = 0, control->blocks_total = steps;
    }
    /// To be called before each step, on any thread. Throws Interrupted.
    void step() const {
        check_stop(control_);
        if (control_) ++control_->blocks_done;
    }

  private:
    Control* control_;
};

}  // namespace tilescope::lab
