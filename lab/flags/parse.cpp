#include "lab/flags/parse.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/quoting.hpp"
#include "core/text/words.hpp"
#include "lab/flags/values.hpp"
#include "lab/gpu/asked.hpp"

namespace tilescope::lab {
using text::message;
namespace {

/// The program, or the innermost subcommand that was typed.
const CLI::App& innermost(const CLI::App& app) {
    const auto typed = app.get_subcommands();
    return typed.empty() ? app : innermost(*typed.back());
}

/// The message with a hint to the --help of the command. Without a hint where the app has no name, because its words
/// come from a file.
std::string with_way_on(const std::string& what, const CLI::App& app) {
    std::string command = app.get_name();
    for (const CLI::App* a = app.get_parent(); a; a = a->get_parent()) command = a->get_name() + ' ' + command;
    return command.empty() ? what : message("parse.see_help", what, command);
}

std::vector<std::string> flags_of(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* o : app.get_options())
        for (const std::string& name : o->get_lnames()) names.push_back("--" + name);
    return names;
}

std::vector<std::string> subcommands_of(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(sub->get_name());
    return names;
}

/// The number behind an unknown flag, which a command with a list of words takes for the last word of the list. Empty
/// where there is none.
std::string taken_number(const CLI::App& app) {
    for (const CLI::Option* o : app.get_options())
        if (o->get_positional() && o->count() > 0)
            if (const std::string& last = o->results().back(); last[0] >= '0' && last[0] <= '9') return last;
    return "";
}

std::string program_of(const CLI::App& app) {
    return app.get_parent() ? program_of(*app.get_parent()) : app.get_name();
}

/// Whether a required word is missing: all words that CLI11 took for it are in `of_flags`, the values of flags.
bool lacks_word(const CLI::App& app, const std::vector<std::string>& of_flags) {
    for (const CLI::Option* o : app.get_options())
        if (o->get_positional() && o->get_required()) {
            const auto belongs = [&](const std::string& word) {
                return std::find(of_flags.begin(), of_flags.end(), word) != of_flags.end();
            };
            if (const auto words = o->results(); std::all_of(words.begin(), words.end(), belongs)) return true;
        }
    return false;
}

/// The command with other programs' flags renamed to TileScope's; empty where a flag has no such name.
std::string own_command(const CLI::App& app, const std::vector<std::string>& words) {
    const std::vector<std::string> known = flags_of(app);
    std::string command = program_of(app);
    std::vector<std::string> values;
    for (std::size_t k = 0; k < words.size(); ++k) {
        const std::size_t equals = words[k].find('=');
        const std::string name = words[k].substr(0, equals);
        const bool is_flag = name.starts_with("--") && name.size() > 2;
        if (!is_flag || std::find(known.begin(), known.end(), name) != known.end()) {
            command += ' ' + text::in_shell(words[k]);
            continue;
        }
        const bool inside = equals != std::string::npos, behind = !inside && k + 1 < words.size();
        const Renamed here = renamed(name, inside ? words[k].substr(equals + 1) : behind ? words[k + 1] : "");
        if (here.words.empty() || (here.takes_value && !inside && !behind)) return "";
        for (const std::string& word : here.words) command += ' ' + text::in_shell(word);
        if (here.takes_value && behind) values.push_back(words[++k]);
    }
    return lacks_word(app, values) ? "" : command;
}

/// The message about `extra`, the words that CLI11 could not assign; `typed`: all words of the command.
std::string unexpected(const CLI::App& app, const std::vector<std::string>& extra,
                       const std::vector<std::string>& typed) {
    const std::string& word = extra[0];
    const bool is_flag = word.starts_with('-') && word.size() > 1;
    if (is_flag && !app.get_parent() && !subcommands_of(app).empty())
        return message("parse.subcommand_first", text::shown(word), app.get_name());
    const std::vector<std::string> names = is_flag ? flags_of(app) : subcommands_of(app);
    const std::string name = is_flag ? word.substr(0, word.find('=')) : word;
    if (names.empty()) return message("parse.means_nothing", text::shown(name));
    // The value of an unknown flag may be the name of a flag, as in --theme light.
    const std::string value = word != name       ? word.substr(name.size() + 1)
                              : extra.size() > 1 ? extra[1]
                                                 : taken_number(app);
    const bool is_one = is_flag && std::find(names.begin(), names.end(), "--" + value) != names.end();
    if (const std::string instead = is_flag ? instead_of(Asked::flag, name, value, own_command(app, typed)) : "";
        !instead.empty() && !is_one)
        return message("parse.flag_is_elsewhere", text::shown(name), instead);
    const auto near = is_one ? std::optional("--" + value) : text::nearest(name, names);
    if (near) return message(is_flag ? "parse.misspelt_flag" : "parse.misspelt_subcommand", text::shown(name), *near);
    return message(is_flag ? "parse.unknown_flag" : "parse.unknown_subcommand", text::shown(name));
}

std::string missing(const CLI::App& app) {
    for (const CLI::Option* o : app.get_options())
        if ((o->get_required() || o->get_name() == "ALGO") && o->count() == 0)
            return message("parse.required", o->get_name());
    return message("parse.subcommand_required");
}

std::string worded(const CLI::App& whole, const CLI::ParseError& e, const std::vector<std::string>& typed) {
    const CLI::App& app = innermost(whole);
    // Unknown words come first: one of them may be meant as the word that seems to be missing.
    const std::vector<std::string> extra = whole.remaining(true);
    if (!extra.empty()) return with_way_on(unexpected(app, extra, typed), app);
    if (e.get_name() == "RequiredError") return with_way_on(missing(app), app);
    std::string what = text::shown(e.what(), 400);
    const std::string named = what.substr(0, what.find(':'));
    if (e.get_name() == "ArgumentMismatch" && named.size() < what.size())
        what = message(what.find("missing") != std::string::npos ? "parse.needs_value" : "parse.is_there_twice", named);
    if (e.get_name() == "ExcludesError") what = message("parse.excludes", what);
    return with_way_on(what, app);
}

/// A switch may stand alone or have a clear value: --causal, --causal=false.
void check_switches(CLI::App& app) {
    for (CLI::Option* o : app.get_options())
        if (o->get_items_expected_max() == 0)
            o->check([name = o->get_name()](const std::string& value) {
                to_bool(name, value);
                return std::string();
            });
    for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; })) check_switches(*sub);
}

}  // namespace

void parse(CLI::App& app, std::vector<std::string> words) {
    check_switches(app);
    const std::vector<std::string> typed = words;
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    try {
        app.parse(std::move(words));
    } catch (const CLI::Success&) {
        throw;
    } catch (const CLI::ParseError& e) {
        throw UsageError(worded(app, e, typed));
    }
}

void parse(CLI::App& app, int argc, const char* const* argv) {
    parse(app, std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
}

}  // namespace tilescope::lab
