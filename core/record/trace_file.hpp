// A recording as a document: JSON, an entry a line. docs/events.md describes the format.
#pragma once

#include <iosfwd>

#include "core/machine/mode.hpp"
#include "core/record/trace.hpp"

namespace tilescope {

/// Writes a recording whose thread blocks stand one after the other, as they were recorded. `about`: a JSON object that
/// says what was recorded; its members stand before the recording's own. Throws Interrupted.
void write_trace(std::ostream& out, const std::string& about, const Trace& trace, Control* control = nullptr);

/// What a file says: the recording, and the members of its object that are not the recording's own, as a JSON object.
struct ReadTrace {
    Trace trace;
    std::string about;
};
/// Reads what write_trace wrote, and checks everything: throws UsageError, one line, with `name`, the place and what is
/// wrong. Contents are the same bit for bit, except that a NaN keeps nothing but its sign. Throws Interrupted.
ReadTrace read_trace(std::istream& in, const std::string& name, const Control* control = nullptr);

/// The first difference between two recordings, in one line: "operation 9 (matmul, line 8): S[0, 3] is 0.5, and was
/// 0.25". Empty where there is none; where operations and loops stand in the program's text is not compared.
std::string divergence(const Trace& was, const Trace& is);

}  // namespace tilescope
