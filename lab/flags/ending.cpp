#include "lab/flags/ending.hpp"

#include <algorithm>
#include <filesystem>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"

namespace tilescope::lab {

std::string check_ending(const std::string& flag, const std::string& path, const std::vector<std::string>& endings) {
    const std::filesystem::path file(path);
    std::string ending = file.extension().string();
    for (char& c : ending)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (ending.empty() || std::find(endings.begin(), endings.end(), ending) != endings.end()) return ending;
    std::string any = endings[0];
    for (std::size_t k = 1; k < endings.size(); ++k) any = text::message("list.or", any, endings[k]);
    throw UsageError(
        text::message("ending.must_be", flag, text::shown(path), any, text::shown(file.stem().string() + endings[0])));
}

}  // namespace tilescope::lab
