// What the window needs of a machine with processes: other programs, a terminal, folders with permissions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tilescope::gui::shell {

/// Another program, which reads on its standard input what is written here.
class Reader {
  public:
    /// Starts words[0], found on PATH. Throws std::system_error.
    explicit Reader(const std::vector<std::string>& words);
    /// Ends the program, if finish() has not.
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    /// False when the program reads no more.
    bool write(const void* data, std::size_t size);
    /// Nothing more comes: waits for its end. True if it says that all went well.
    bool finish();

  private:
    int to_ = -1, process_ = -1;
};

/// Ends this program and runs it again, with the same arguments, under an Xvfb of this size. Returns only if that is
/// not possible, or if it runs under one already.
void start_again_in_xvfb(char** argv, int width, int height);
/// Whether it has been started again so.
bool is_inside_xvfb();

bool stderr_is_terminal();
/// Whether files can be made in the folder of this one.
bool folder_is_writable(const std::string& file);
/// A text that no other program running now has, for names of temporary files.
std::string unique_suffix();

}  // namespace tilescope::gui::shell
