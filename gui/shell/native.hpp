// What pictures and films need of a machine with processes: other programs, files without a name, a terminal.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tilescope::gui::shell {

/// A file without a name, deleted with this object.
class NamelessFile {
  public:
    /// Throws std::system_error.
    NamelessFile();
    ~NamelessFile();
    NamelessFile(const NamelessFile&) = delete;
    NamelessFile& operator=(const NamelessFile&) = delete;

    int descriptor() const { return descriptor_; }
    /// The next bytes, at most `bytes`; the first call reads from the beginning. Empty at the end. Throws
    /// std::system_error.
    std::string read(std::size_t bytes = 1 << 16);
    /// Writes at the beginning of the file. Throws std::system_error.
    void write(const std::string& bytes);

  private:
    int descriptor_;
    long long at_ = 0;
};

/// Another program. It reads on its standard input what write() writes. Signals from the terminal, as Ctrl-C, do
/// not reach it. It ends with this object, or with the process that started it.
class Program {
  public:
    /// Starts words[0], found on PATH. `outputs` become its descriptors 1 (standard output), 2 (standard error), 3 and
    /// so on. Throws std::system_error.
    Program(const std::vector<std::string>& words, const std::vector<int>& outputs);
    /// Ends the program if it has not ended.
    ~Program();
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    /// False when the program reads no more. Throws Interrupted.
    bool write(const void* data, std::size_t size);
    /// Nothing more comes: the program will end by itself.
    void close_input();
    /// Sends SIGTERM and does not wait: the program may clean up first. Asked a second time, most programs end at once.
    void ask_to_end() const;
    bool ended();
    /// Whether the exit status is 0. To be asked once the program has ended.
    bool succeeded() const { return status_ == 0; }

  private:
    int to_ = -1, process_ = -1, status_ = 0;
};

/// A display in memory (Xvfb), which lives as long as this object. The constructor sets DISPLAY to it.
class DisplayInMemory {
  public:
    /// Throws RunError where Xvfb is missing or does not start, and Interrupted where the user stops the start.
    DisplayInMemory(int width, int height);

  private:
    NamelessFile said_, number_, key_;
    std::optional<Program> server_;
};

bool stderr_is_terminal();

}  // namespace tilescope::gui::shell
