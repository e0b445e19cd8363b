// What `tilescope validate --csv` writes, and how it is read back: the format of docs/measured.
#pragma once

#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text/embedded.hpp"
#include "device/validation.hpp"

namespace tilescope::device {

/// The files of docs/measured/h200/*.csv and docs/measured/h100/*.csv; empty where none ship.
std::span<const EmbeddedFile> embedded_h200();
std::span<const EmbeddedFile> embedded_h100();

/// The files of docs/measured/h200/backward.
std::span<const EmbeddedFile> embedded_backward();

/// Where and when something was measured: "date", "device", "command", ... in order.
using Provenance = std::vector<std::pair<std::string, std::string>>;

/// The columns and cells of a case, in order: text, empty where nothing was measured.
std::vector<std::pair<std::string, std::string>> cells_of(const CaseResult& result);

/// `# key: value` lines, a header, and a row per case; cells are empty where nothing was measured.
void write_measurements(std::ostream& out, const Provenance& provenance, std::span<const CaseResult> results);

/// One row, with its cells as text and by column.
class MeasuredRow {
  public:
    MeasuredRow(const std::vector<std::string>* columns, std::vector<std::string> cells)
        : columns_(columns), cells_(std::move(cells)) {}
    /// "" where the file has no such column.
    std::string_view operator[](std::string_view column) const;
    /// nullopt where the cell is not a number.
    std::optional<double> number(std::string_view column) const;
    /// The cell as a whole number. Throws RunError, which names the column, where it is not one.
    Index integer(std::string_view column) const;

  private:
    const std::vector<std::string>* columns_;
    std::vector<std::string> cells_;
};

struct MeasurementFile {
    Provenance provenance;
    std::shared_ptr<const std::vector<std::string>> columns;
    std::vector<MeasuredRow> rows;

    /// The value of a key of the provenance, a date without the hour. "" where there is no such key.
    std::string told(std::string_view key) const;
};
/// Reads what write_measurements() wrote, today or before an algorithm was renamed. nullopt where the text is another
/// kind of CSV.
std::optional<MeasurementFile> read_measurements(std::string_view text);

/// Reads what `scripts/library` wrote: measurements of PyTorch's FlashAttention-2, as rows of flash_v2 without tiles.
/// nullopt where the text is something else.
std::optional<MeasurementFile> read_library(std::string_view text);

/// Reads what `scripts/backends` wrote: for each problem one row per PyTorch backend, whose name is in the column
/// `kernel`. nullopt where the text is something else.
std::optional<MeasurementFile> read_backends(std::string_view text);

/// The problem of a row, with heads packed where they were. Throws RunError where a cell fits no problem.
Problem problem_of(const MeasuredRow& row);
/// The case of a row. Throws RunError where today's program has no such algorithm or kernel.
KernelCase case_of(const MeasuredRow& row);

/// The H200's measurements that ship with the program, by file.
std::vector<MeasurementFile> shipped_measurements();

/// The H200's measurements of backward passes that ship with the program, by file.
std::vector<MeasurementFile> shipped_backward();

/// All that ships of a machine: of the kernels here, of the library's FlashAttention-2, and of all that PyTorch runs.
struct ShippedOn {
    const char* gpu;  ///< the preset
    std::vector<MeasurementFile> own, library, backends;
};
std::vector<ShippedOn> shipped_by_machine();

}  // namespace tilescope::device
