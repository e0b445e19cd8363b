#include "gui/shell/capture.hpp"

#include <png.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "lab/atomic_file.hpp"

extern char** environ;

namespace tilescope::gui::shell {

void write_png(const Picture& picture, const std::string& path) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(picture.size.width);
    image.height = static_cast<png_uint_32>(picture.size.height);
    image.format = PNG_FORMAT_RGBA;
    png_alloc_size_t size = 0;
    std::vector<char> file;
    // Once to learn the size, once to write.
    bool done = png_image_write_to_memory(&image, nullptr, &size, 0, picture.rgba.data(), 0, nullptr) != 0;
    if (done) {
        file.resize(size);
        done = png_image_write_to_memory(&image, file.data(), &size, 0, picture.rgba.data(), 0, nullptr) != 0;
    }
    if (!done) throw RunError("--screenshot " + path + ": libpng: " + image.message);
    AtomicFile out(path);
    out.stream().write(file.data(), static_cast<std::streamsize>(size));
    out.commit();
}

Film::Film(std::string path, Size size, int fps) : path_(std::move(path)) {
    const std::filesystem::path file(path_);
    const std::string ending = file.extension().string();
    if (ending != ".mp4" && ending != ".gif")
        throw UsageError("--record " + path_ + ": must end in .mp4 or .gif; try --record film.mp4");
    temporary_ = (file.parent_path() / ("." + file.stem().string() + "." + std::to_string(getpid()) + ending)).string();
    if (access(file.has_parent_path() ? file.parent_path().c_str() : ".", W_OK) != 0)
        throw RunError("--record " + path_ + ": its folder cannot be written to; name another");
    std::vector<std::string> words = {
        "ffmpeg",   "-loglevel",         "error", "-y", "-f",
        "rawvideo", "-pix_fmt",          "rgba",  "-s", std::to_string(size.width) + "x" + std::to_string(size.height),
        "-r",       std::to_string(fps), "-i",    "-"};
    // Video wants even sizes and players want yuv420p; a GIF wants its own palette.
    const std::vector<std::string> mp4 = {"-vf",       "pad=ceil(iw/2)*2:ceil(ih/2)*2",
                                          "-c:v",      "libx264",
                                          "-crf",      "18",
                                          "-pix_fmt",  "yuv420p",
                                          "-movflags", "+faststart"};
    const std::vector<std::string> gif = {
        "-vf", "split[a][b];[a]palettegen=max_colors=128[p];[b][p]paletteuse=dither=none:diff_mode=rectangle"};
    const auto& more = ending == ".mp4" ? mp4 : gif;
    words.insert(words.end(), more.begin(), more.end());
    words.push_back(temporary_);
    start(words);
}

void Film::start(const std::vector<std::string>& words) {
    int ends[2];
    if (pipe(ends) != 0) throw RunError("--record " + path_ + ": no pipe to ffmpeg");
    std::vector<char*> arguments;
    for (const std::string& w : words) arguments.push_back(const_cast<char*>(w.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], 0);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    pid_t process = -1;
    const int failed = posix_spawnp(&process, "ffmpeg", &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    if (failed != 0) {
        close(ends[1]);
        throw RunError("--record " + path_ + ": needs ffmpeg; install it (apt-get install ffmpeg)");
    }
    process_ = process;
    to_ffmpeg_ = ends[1];
}

int Film::wait() {
    if (to_ffmpeg_ >= 0) close(to_ffmpeg_);
    to_ffmpeg_ = -1;
    int status = 0;
    if (process_ >= 0) waitpid(process_, &status, 0);
    process_ = -1;
    return status;
}

Film::~Film() {
    if (process_ >= 0) kill(process_, SIGTERM);
    wait();
    std::error_code ignored;
    if (!temporary_.empty()) std::filesystem::remove(temporary_, ignored);
}

void Film::add(const Picture& picture) {
    const std::uint8_t* data = picture.rgba.data();
    std::size_t left = picture.rgba.size();
    while (left > 0) {
        const ssize_t n = write(to_ffmpeg_, data, left);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) throw RunError("--record " + path_ + ": ffmpeg stopped; is there room on the disk?");
        data += n, left -= static_cast<std::size_t>(n);
    }
}

void Film::commit() {
    if (wait() != 0) throw RunError("--record " + path_ + ": ffmpeg failed");
    std::filesystem::rename(temporary_, path_);
    temporary_.clear();
}

}  // namespace tilescope::gui::shell
