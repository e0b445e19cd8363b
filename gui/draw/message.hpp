// message() and sentences() for panels. Panels get numbers as words from show/, and need nothing else of core/text.
#pragma once

#include "core/text/message.hpp"

namespace tilescope::gui {
using text::message;
using text::sentences;
}  // namespace tilescope::gui
