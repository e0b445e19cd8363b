#include <algorithm>
#include <filesystem>

#include "lab/own/kinds.hpp"
#include "lab/own/own.hpp"
#include "lab/system/text_file.hpp"

namespace tilescope::lab {
namespace {

std::deque<EmbeddedFile>& programs() {
    static std::deque<EmbeddedFile> all;
    return all;
}

}  // namespace

const std::deque<EmbeddedFile>& own_programs() { return programs(); }

void keep_program(const char* path, const std::string& object) {
    static std::deque<std::string> texts;
    const auto same = [&](const EmbeddedFile& f) { return f.name == path; };
    if (std::any_of(programs().begin(), programs().end(), same)) return;
    std::error_code error;
    if (std::filesystem::last_write_time(path, error) > std::filesystem::last_write_time(object, error) || error)
        return;
    try {
        programs().push_back({path, texts.emplace_back(read_text(path))});
    } catch (const Unreadable&) {  // the text would only be shown
    }
}

}  // namespace tilescope::lab
