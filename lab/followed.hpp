// Work in steps, which a Control follows and stops.
#pragma once

#include "core/machine/mode.hpp"

namespace tilescope::lab {

class Followed {
  public:
    /// `control` may be nullptr: nobody follows then.
    Followed(Control* control, Index steps) : control_(control) {
        if (control) control->blocks_done = 0, control->blocks_total = steps;
    }
    /// Before each step, on whichever thread. Throws Interrupted.
    void step() const {
        check_stop(control_);
        if (control_) ++control_->blocks_done;
    }

  private:
    Control* control_;
};

}  // namespace tilescope::lab
