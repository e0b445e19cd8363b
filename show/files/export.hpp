// Writes a view that is explored to a picture or a table, in the background, as `tilescope plot` draws it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "show/run/job.hpp"
#include "show/stage/explorer.hpp"

namespace tilescope::show {

/// "tiles.svg": the name of a view's file where the user gives none.
std::string usual_file(Stage stage);
/// What the export button does.
std::string about_export(Stage stage);
/// "wall.svg written".
std::string written_text(const std::string& path);
/// Throws UsageError where nothing runs, or the run is still in the making: then there is no picture of it.
void check_can_export(const Session& session);
/// Throws UsageError where the stage cannot be written to a file of this name, RunError where the file cannot be
/// written, or needs a program that is not installed.
void check_stage_file(const Session& session, const std::string& path);
/// Throws RunError without the program that makes a PDF of an SVG.
void require_pdf_writer();
/// "Drawing tiles.svg".
std::string drawing_text(const std::string& path);

class Export {
  public:
    /// Begins an export and cancels an unfinished one. Throws UsageError where there is nothing to draw or the path
    /// ends like no picture (.svg, .pdf, .png, .tex) and no table (.csv), RunError where the file cannot be written or
    /// a picture needs gnuplot and there is none.
    void begin(const Session& session, const View& view, const Explorer& explorer, const std::string& path);
    /// Call this every frame, as Job::pump(). True when nothing is left to do.
    bool pump(Index units = 1);
    /// The result, returned once: "tiles.svg written", or what went wrong.
    std::optional<std::string> news();

  private:
    std::string path_;
    std::unique_ptr<Job> job_;
    std::optional<std::string> news_;
};

}  // namespace tilescope::show
