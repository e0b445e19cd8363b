#ifndef __EMSCRIPTEN__  // the web page loads no files
#include <dlfcn.h>

#include <cstring>
#include <exception>
#include <filesystem>
#include <typeinfo>

#include "algorithms/contract/announce.hpp"
#include "algorithms/contract/registry.hpp"
#include "core/machine/error.hpp"
#include "core/machine/mistakes.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/own/kinds.hpp"
#include "lab/system/own_code.hpp"

namespace tilescope::lab {
using text::message;
namespace {

constexpr const char* last_line = "TILESCOPE_ALGORITHM({...});";

/// The offer of the shared object, after checks that this TileScope can read it.
const Offer& offer_of(void* object, const char* file) {
    const auto offered = reinterpret_cast<const Offer* (*)()>(dlsym(object, "tilescope_offer"));
    const std::string shown = text::shown(file);
    if (!offered) throw UsageError(message("object.no_offer", shown, last_line));
    const Offer* const offer = offered();
    const Stamp own;
    if (!offer || std::memcmp(offer->stamp.magic, own.magic, sizeof own.magic) != 0)
        throw UsageError(message("object.other_tilescope", shown));
    if (offer->stamp.contract != own.contract)
        throw UsageError(message("object.other_contract", shown, std::to_string(offer->stamp.contract),
                                 std::to_string(own.contract)));
    if (std::memcmp(offer->stamp.sizes, own.sizes, sizeof own.sizes) != 0 ||
        std::memcmp(offer->stamp.library, own.library, sizeof own.library) != 0)
        throw UsageError(message("object.other_headers", shown));
    if (offer->count == 0) throw UsageError(message("object.empty_offer", shown, last_line));
    return *offer;
}

/// Calls f() of a file's algorithm. An exception that is not TileScope's own becomes a failed run, whose message names
/// the file and, where last() knows one, the operation before the exception.
template <class F, class Last>
auto told(const char* file, const std::string& name, F&& f, Last&& last) {
    const std::string who = text::shown(file) + (name.empty() ? "" : ": " + name);
    const auto failed = [&](const std::string& what, Here after = {0, ""}) {
        return RunError(after.line > 0 ? message("object.failed_after", who, what, source_of(after))
                                       : message("object.failed", who, what));
    };
    try {
        const OwnCode own(file);
        return f();
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const Misuse& e) {
        throw failed(e.what());
    } catch (const std::exception& e) {
        // A run may end with TileScope's own exceptions.
        if (std::string_view(typeid(e).name()).find("tilescope") != std::string_view::npos) throw;
        throw failed(text::shown(e.what(), 300), last());
    } catch (...) {
        throw failed(message("object.no_exception"), last());
    }
}

template <class F>
auto told(const char* file, const std::string& name, F&& f) {
    return told(file, name, std::forward<F>(f), [] { return Here{0, ""}; });
}

/// The algorithm with its functions wrapped, so that their exceptions name the file.
Algorithm wrapped(Algorithm a, const char* file) {
    const std::string name = a.name;
    if (a.run)
        a.run = [file, name, run = std::move(a.run)](Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
            told(
                file, name, [&] { run(gpu, t, p, tile); }, [&gpu] { return gpu.last(); });
        };
    if (a.tensors)
        a.tensors = [file, name, tensors = std::move(a.tensors)](const Problem& p, const Tiling& tile) {
            return told(file, name, [&] { return tensors(p, tile); });
        };
    return a;
}

/// Makes TileScope's own functions visible to loaded objects. A program's functions are visible already; the Python
/// module's functions need RTLD_GLOBAL.
void show_functions() {
    Dl_info here{};
    if (dladdr(reinterpret_cast<const void*>(&show_functions), &here) && here.dli_fname)
        dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

}  // namespace

std::vector<const Algorithm*> load_object(const std::string& path, const char* file) {
    show_functions();
    // Never closed, because algorithms use its code. An absolute path, because dlopen() searches for a bare name.
    void* const object = dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!object) throw NotOpened{dlerror()};
    const Offer& offer = offer_of(object, file);
    std::vector<const Algorithm*> all;
    for (std::uint32_t k = 0; k < offer.count; ++k) {
        Algorithm a = told(file, "", [&] { return offer.all[k].describe(); });
        if (const Algorithm* known = find_algorithm(a.name);
            known && known->lineage.file && known->lineage.file != file)
            throw UsageError(
                message("object.same_name", text::shown(file), text::shown(a.name), text::shown(known->lineage.file)));
        keep_program(offer.all[k].file, path);
        all.push_back(&add_algorithm(wrapped(std::move(a), file), file));
    }
    return all;
}

}  // namespace tilescope::lab
#endif
