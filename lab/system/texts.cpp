#include "lab/system/texts.hpp"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/system/text_file.hpp"

namespace tilescope::lab {
namespace {

constexpr const char* variable = "TILESCOPE_TEXTS";

/// The files of texts in a folder and its folders, by path; none where it is no folder.
std::vector<std::string> text_files(const std::string& folder) {
    std::vector<std::string> files;
    std::error_code error;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error))
        if (entry.path().extension() == ".txt") files.push_back(entry.path().string());
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace

void use_texts_of_environment() {
    const char* const folder = std::getenv(variable);
    if (!folder || !*folder) return;
    static std::deque<std::string> texts;  // a language refers to its texts
    std::vector<EmbeddedFile> files;
    for (const std::string& file : text_files(folder)) try {
            files.push_back({file, texts.emplace_back(read_text(file))});
        } catch (const Unreadable& e) {
            throw UsageError(text::shown(file) + ": " + e.why);
        }
    if (files.empty()) throw UsageError(text::message("texts.no_files", variable, text::shown(folder)));
    static const text::Language language(files, &text::language());
    text::use(language);
}

}  // namespace tilescope::lab
