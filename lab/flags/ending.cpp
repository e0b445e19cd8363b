#include "lab/flags/ending.hpp"

#include <algorithm>
#include <filesystem>

#include "core/machine/error.hpp"
#include "core/text/words.hpp"

namespace tilescope::lab {

std::string check_ending(const std::string& flag, const std::string& path, const std::vector<std::string>& endings) {
    const std::filesystem::path file(path);
    std::string ending = file.extension().string();
    for (char& c : ending)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (ending.empty() || std::find(endings.begin(), endings.end(), ending) != endings.end()) return ending;
    throw UsageError(flag + ' ' + text::shown(path) + ": must end in " + text::join(endings, " or ") + "; try " + flag +
                     ' ' + text::shown(file.stem().string() + endings[0]));
}

}  // namespace tilescope::lab
