#include "gui/shell/fonts.hpp"

#include <fstream>
#include <initializer_list>
#include <iterator>

namespace tilescope::gui::shell {
namespace {

/// The contents of the first of these files that exists in a folder in which distributions keep fonts.
std::string first_of(std::initializer_list<const char*> names) {
    for (const char* name : names)
        for (const char* root : {"/usr/share/fonts/", "/usr/local/share/fonts/"})
            if (std::ifstream file(std::string(root) + name, std::ios::binary); file)
                return {std::istreambuf_iterator<char>(file), {}};
    return {};
}

}  // namespace

FontFiles find_fonts() {
    return {first_of({"opentype/inter/Inter-Regular.otf", "truetype/roboto/unhinted/RobotoTTF/Roboto-Regular.ttf",
                      "truetype/noto/NotoSans-Regular.ttf", "truetype/dejavu/DejaVuSans.ttf"}),
            first_of({"opentype/inter/Inter-SemiBold.otf", "truetype/roboto/unhinted/RobotoTTF/Roboto-Medium.ttf",
                      "truetype/noto/NotoSans-Bold.ttf", "truetype/dejavu/DejaVuSans-Bold.ttf"}),
            first_of({"truetype/jetbrains-mono/JetBrainsMono-Regular.ttf", "truetype/dejavu/DejaVuSansMono.ttf"}),
            first_of({"truetype/dejavu/DejaVuSans.ttf"})};
}

}  // namespace tilescope::gui::shell
