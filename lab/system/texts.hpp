// A translator's texts: messages in other words, without building.
#pragma once

namespace tilescope::lab {

/// From now on messages have the words of the files *.txt in the folder that the environment variable TILESCOPE_TEXTS
/// names, and in folders below. English stands in for what they lack. Does nothing without the variable. UsageError
/// where the variable names no folder with such files. To be called before anything is said.
void use_texts_of_environment();

}  // namespace tilescope::lab
