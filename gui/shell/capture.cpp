#include "gui/shell/capture.hpp"

#include <GLES3/gl3.h>
#include <png.h>

#include <algorithm>
#include <system_error>

#include "core/machine/parallel.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/system/child.hpp"
#include "lab/system/signals.hpp"

namespace tilescope::gui::shell {
using namespace lab;
using text::message;

namespace {

void opaque(std::uint8_t* rgba) { rgba[3] = 255; }

/// Colours that were drawn over nothing are multiplied by their opacity; a PNG's colours are not.
void take_opacity_out(std::uint8_t* rgba) {
    for (int k = 0; k < 3 && rgba[3] > 0; ++k)
        rgba[k] = static_cast<std::uint8_t>(std::min(255, (255 * rgba[k] + rgba[3] / 2) / rgba[3]));
}

}  // namespace

void Window::begin_hidden(App& app, double seconds) {
    painter_->begin(app.shown, app.screen, size_, 1);
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {static_cast<float>(size_.width), static_cast<float>(size_.height)};
    io.DisplayFramebufferScale = {1, 1};
    io.DeltaTime = static_cast<float>(std::max(seconds, 1e-3));
    io.MousePos = {-FLT_MAX, -FLT_MAX};
}

void Window::lay_out(App& app, double seconds) {
    begin_hidden(app, seconds);
    painter_->compose(app, seconds);
}

Picture Window::picture(App& app, double seconds) {
    begin_hidden(app, seconds);
    GLuint frame = 0, colours = 0;
    glGenFramebuffers(1, &frame);
    glGenRenderbuffers(1, &colours);
    glBindRenderbuffer(GL_RENDERBUFFER, colours);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, size_.width, size_.height);
    glBindFramebuffer(GL_FRAMEBUFFER, frame);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, colours);
    painter_->draw(app, size_, seconds);

    const std::ptrdiff_t row = 4 * size_.width, rows = size_.height;
    Picture p{size_, std::vector<std::uint8_t>(static_cast<std::size_t>(row * rows))};
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, size_.width, size_.height, GL_RGBA, GL_UNSIGNED_BYTE, p.rgba.data());
    // OpenGL's first row is the lowest one.
    for (std::ptrdiff_t y = 0; y < rows / 2; ++y) {
        const auto above = p.rgba.begin() + y * row, below = p.rgba.begin() + (rows - 1 - y) * row;
        std::swap_ranges(above, above + row, below);
    }
    const bool transparent = app.screen.alone && app.screen.alone->transparent;
    for (std::size_t k = 0; k < p.rgba.size(); k += 4) transparent ? take_opacity_out(&p.rgba[k]) : opaque(&p.rgba[k]);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDeleteRenderbuffers(1, &colours);
    glDeleteFramebuffers(1, &frame);
    return p;
}

void write_png(const Picture& picture, std::ostream& out) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(picture.size.width);
    image.height = static_cast<png_uint_32>(picture.size.height);
    image.format = PNG_FORMAT_RGBA;
    // Room for the worst case. Asking for the size first would compress twice, and compressing is most of the work.
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    std::vector<char> file(size);
    if (png_image_write_to_memory(&image, file.data(), &size, 0, picture.rgba.data(), 0, nullptr) == 0)
        throw RunError(std::string("libpng: ") + image.message);
    out.write(file.data(), static_cast<std::streamsize>(size));
}

void write_pdf(const std::string& svg, std::ostream& out) {
    require_pdf_writer();
    NamelessFile pdf, said;
    // Otherwise the date in the file would be another one every time.
    Program converter({"env", "SOURCE_DATE_EPOCH=0", "rsvg-convert", "--format", "pdf"},
                      {pdf.descriptor(), said.descriptor()});
    converter.write(svg.data(), svg.size());
    converter.close_input();
    for (; !converter.ended(); wait_a_moment()) check_stop(&control());
    if (!converter.succeeded()) throw RunError(message("capture.rsvg_says", text::shown(said.read(), 400)));
    for (std::string piece; !(piece = pdf.read()).empty();)
        out.write(piece.data(), static_cast<std::streamsize>(piece.size()));
}

Film::Film(Kind kind, Size size, int fps) {
    std::vector<std::string> words = {
        "ffmpeg",   "-loglevel",         "error", "-y", "-f",
        "rawvideo", "-pix_fmt",          "rgba",  "-s", std::to_string(size.width) + "x" + std::to_string(size.height),
        "-r",       std::to_string(fps), "-i",    "-"};
    // Video wants even sizes and players want yuv420p; a GIF wants its own palette.
    const std::vector<std::string> mp4 = {"-vf",       "pad=ceil(iw/2)*2:ceil(ih/2)*2",
                                          "-c:v",      "libx264",
                                          "-crf",      "18",
                                          "-pix_fmt",  "yuv420p",
                                          "-movflags", "+faststart",
                                          "-f",        "mp4"};
    const std::vector<std::string> gif = {
        "-vf", "split[a][b];[a]palettegen=max_colors=128[p];[b][p]paletteuse=dither=none:diff_mode=rectangle", "-f",
        "gif"};
    const auto& more = kind == Kind::mp4 ? mp4 : gif;
    words.insert(words.end(), more.begin(), more.end());
    words.push_back("/dev/fd/3");
    require_film_writer();
    try {
        ffmpeg_.emplace(words, std::vector<int>{said_.descriptor(), said_.descriptor(), film_.descriptor()});
    } catch (const std::system_error& e) {
        throw RunError(message("capture.no_ffmpeg", e.code().message()));
    }
}

void Film::add(const Picture& picture) {
    if (ffmpeg_->write(picture.rgba.data(), picture.rgba.size())) return;
    end();
    throw RunError(message("capture.ffmpeg_ended"));
}

/// ffmpeg's exit status does not tell that a full disk cut the film off. But then ffmpeg writes an error message.
void Film::end() {
    ffmpeg_->close_input();
    for (; !ffmpeg_->ended(); wait_a_moment()) check_stop(&control());
    std::string complaint = said_.read();
    if (complaint.ends_with('\n')) complaint.pop_back();
    if (!complaint.empty() || !ffmpeg_->succeeded())
        throw RunError(complaint.empty() ? message("capture.ffmpeg_failed")
                                         : message("capture.ffmpeg_says", text::shown(complaint, 400)));
}

void Film::write(std::ostream& out) {
    end();
    for (std::string piece; !(piece = film_.read()).empty();)
        out.write(piece.data(), static_cast<std::streamsize>(piece.size()));
}

}  // namespace tilescope::gui::shell
