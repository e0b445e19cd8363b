// Compiles a user's C++ file to a shared object, which is cached.
#ifndef __EMSCRIPTEN__  // the web page loads no files
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/own/kinds.hpp"
#include "lab/own/self.hpp"
#include "lab/system/atomic_file.hpp"
#include "lab/system/child.hpp"
#include "lab/system/signals.hpp"

namespace tilescope::lab {
using text::message;
namespace {

namespace fs = std::filesystem;

/// The FNV-1a hash of a text, as 16 hexadecimal digits.
std::string hash_of(std::string_view text) {
    std::uint64_t h = 0xcbf29ce484222325;
    for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(h));
    return digits;
}

/// The hash of a file's content; empty where it cannot be read.
std::string hash_of_file(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) return "";
    return hash_of(std::string(std::istreambuf_iterator<char>(in), {}));
}

/// Whether a user other than this one and root owns the file, and so could have written anything into it.
bool belongs_to_others(const fs::path& path) {
    struct stat s {};
    return stat(path.c_str(), &s) == 0 && s.st_uid != geteuid() && s.st_uid != 0;
}

/// Throws RunError where another user could put code into the folder.
void check_nobody_else_writes(const fs::path& folder, const std::string& for_what) {
    std::error_code none;
    const auto others = fs::perms::group_write | fs::perms::others_write;
    const bool open = (fs::status(folder, none).permissions() & others) != fs::perms::none;
    if (!open && !belongs_to_others(folder)) return;
    throw RunError(
        message(open ? "compile.open_folder" : "compile.folder_of_others", for_what, text::shown(folder.string())));
}

/// The user's folder $XDG_CACHE_HOME/tilescope or ~/.cache/tilescope: the files in it are loaded as code.
fs::path cache_folder(const std::string& for_what) {
    const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
    const bool given = cache && *cache;
    if (!given && !(home && *home)) throw RunError(message("compile.no_folder", for_what));
    const fs::path folder = (given ? fs::path(cache) : fs::path(home) / ".cache") / "tilescope";
    std::error_code error;
    if (fs::create_directories(folder, error)) fs::permissions(folder, fs::perms::owner_all, error);
    if (error)
        throw RunError(message("compile.no_such_folder", for_what, text::shown(folder.string()), error.message()));
    check_nobody_else_writes(folder, for_what);
    return folder;
}

std::vector<std::string> command_for(const std::string& path) {
    std::vector<std::string> words = compiler();
    if (words.empty()) throw RunError(message("compile.no_compiler", text::shown(path)));
    for (const char* flag : {"-std=c++20", "-O2", "-fPIC", "-shared"}) words.emplace_back(flag);
    for (const fs::path& folder : include_folders()) words.push_back("-I" + folder.string());
    // The path as typed, so that the compiler's messages name it so. With ./ it is not read as an option.
    words.push_back(path.starts_with('-') || path.starts_with('@') ? "./" + path : path);
    return words;
}

/// The files that a compiler read, from the rule for make that it wrote: "object: a.cpp b\ c.hpp \".
std::vector<std::string> files_in(const std::string& rule) {
    std::vector<std::string> files(1);
    for (std::size_t k = rule.find(": ") + 2; k < rule.size(); ++k) {
        const char c = rule[k], next = k + 1 < rule.size() ? rule[k + 1] : '\n';
        if ((c == '\\' && (next == ' ' || next == '#' || next == '\\')) || (c == '$' && next == '$'))
            files.back() += rule[++k];
        else if (c != ' ' && c != '\n' && !(c == '\\' && next == '\n'))
            files.back() += c;
        else if (!files.back().empty())
            files.emplace_back();
    }
    if (files.back().empty()) files.pop_back();
    return files;
}

std::string read_whole(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
}

/// A note names an object and, as "HASH PATH", the files that it was made of. Returns the object if none has changed.
std::optional<fs::path> unchanged(const fs::path& note) {
    std::ifstream in(note);
    std::string object, hash, path;
    std::getline(in, object);
    bool any = false;
    while (in >> hash && in.get() && std::getline(in, path)) {
        if (hash_of_file(path) != hash) return std::nullopt;
        any = true;
    }
    std::error_code none;
    const fs::path found = note.parent_path() / object;
    if (!any || !fs::is_regular_file(found, none)) return std::nullopt;
    // The folder may have been open to other users earlier.
    return belongs_to_others(note) || belongs_to_others(found) ? std::nullopt : std::optional(found);
}

/// Writes the note, and removes the object of the earlier note.
void note_down(const fs::path& note, const fs::path& object, const std::string& made_of) {
    std::string before;
    std::ifstream in(note);
    std::getline(in, before);
    AtomicFile list(note.string());
    list.stream() << object.filename().string() << '\n' << made_of;
    list.commit();
    std::error_code none;
    if (!before.empty() && before != object.filename()) fs::remove(note.parent_path() / before, none);
}

/// A line on the terminal while the object lives.
class Notice {
  public:
    explicit Notice(const std::string& text) : shown_(isatty(STDERR_FILENO) != 0) {
        if (shown_) std::fprintf(stderr, "%s", text.c_str()), std::fflush(stderr);
    }
    ~Notice() {
        if (shown_) std::fputs("\r\033[K", stderr);
    }
    Notice(const Notice&) = delete;
    Notice& operator=(const Notice&) = delete;

  private:
    bool shown_;
};

/// A file that is not complete yet. The destructor removes it, unless it was renamed.
struct Partial {
    fs::path path;
    ~Partial() {
        std::error_code none;
        fs::remove(path, none);
    }
};

/// The compiler's words, safe for a terminal.
std::string printable_lines(const std::string& words) {
    std::istringstream in(words);
    std::string all;
    for (std::string line; std::getline(in, line);)
        all += (line.empty() || text::printable(line) ? line : text::shown(line, 400)) + '\n';
    return all;
}

/// "mine.cpp:12", where the first error is; or the file alone.
std::string place_of_error(const std::string& words, const std::string& path) {
    const std::size_t error = words.find("error:");
    const std::size_t line = words.rfind('\n', std::min(error, words.size())) + 1;
    if (error == std::string::npos || !words.substr(line).starts_with(path + ':')) return text::shown(path);
    const std::size_t number = line + path.size() + 1;
    return text::shown(path) + ':' + words.substr(number, words.find(':', number) - number);
}

void run_compiler(std::vector<std::string> command, const std::string& path) {
    const Notice notice(message("compile.running", text::shown(path)));
    const std::string program = command[0];
    Child child(std::move(command));
    std::string words;
    while (child.read_more(words, &control())) {
    }
    if (child.wait() == 0) return;
    check_stop(&control());
    throw RunError(message("compile.fails", text::shown(path), text::shown(program)) + '\n' + printable_lines(words) +
                   message("compile.correct_it", place_of_error(words, path)));
}

}  // namespace

std::vector<std::string> compiler() {
    const char* const asked = std::getenv("CXX");
    std::istringstream in(asked ? asked : "");
    std::vector<std::string> words(std::istream_iterator<std::string>(in), {});
    if (!words.empty()) return words;
    std::error_code none;
    if (fs::exists(TILESCOPE_CXX, none)) return {TILESCOPE_CXX};
    for (const char* usual : {"g++", "clang++", "c++"})
        if (on_path(usual)) return {usual};
    return {};
}

Compiled compiled(const std::string& path, bool again) {
    std::vector<std::string> command = command_for(path);
    const fs::path folder = cache_folder(text::shown(path)), binary = own_binary();
    std::error_code none;
    const auto time = fs::last_write_time(binary, none).time_since_epoch().count();
    const std::string key =
        hash_of(text::join(command, "\n") + '\n' + fs::absolute(path).string() + '\n' + binary.string() + '\n' +
                std::to_string(fs::file_size(binary, none)) + '\n' + std::to_string(time));
    const fs::path note = folder / (key + ".txt");
    if (const auto known = unchanged(note); known && !again) return {*known, true};
    const Partial object{folder / (key + '.' + std::to_string(getpid()) + ".so")};
    const Partial rule{folder / (key + '.' + std::to_string(getpid()) + ".d")};
    for (const std::string& word :
         {std::string("-o"), object.path.string(), std::string("-MD"), std::string("-MF"), rule.path.string()})
        command.push_back(word);
    const std::string text = hash_of_file(path);
    run_compiler(std::move(command), path);
    std::string made_of;
    for (const std::string& file : files_in(read_whole(rule.path)))
        made_of += hash_of_file(file) + ' ' + fs::absolute(file).string() + '\n';
    const fs::path whole = folder / (key + '-' + hash_of(made_of) + ".so");
    fs::rename(object.path, whole);  // where two processes compile at once the later object stays: both are equal
    if (hash_of_file(path) == text) note_down(note, whole, made_of);
    return {whole.string(), false};
}

}  // namespace tilescope::lab
#endif
