//! The measurements as Markdown.

use std::collections::BTreeMap;
use std::time::Duration;

use super::variants::Variant;
use super::workloads::Workload;
use crate::document::{self, head, row};
use crate::measure::geometric_mean;

/// How slow unsnarl may be against TSan, on average.
const BAR_OF_TSAN: f64 = 0.5;
/// No workload may be slower than this, unless it is under TSan too.
const BAR_ALONE: f64 = 1.3;

/// The variants that are compared with the native program, with the titles of their columns.
const COLUMNS: [(Variant, &str); 6] = [
    (Variant::GccTsan, "gcc TSan"),
    (Variant::ClangTsan, "clang TSan"),
    (Variant::Helgrind, "Helgrind"),
    (Variant::Drd, "DRD"),
    (Variant::Static, "unsnarl"),
    (Variant::Takeover, "unsnarl, takeover"),
];

/// What was measured of one workload.
pub struct Row {
    pub workload: &'static Workload,
    /// The median time of a run.
    pub times: BTreeMap<Variant, Duration>,
    /// Peak resident memory in bytes.
    pub memory: BTreeMap<Variant, u64>,
}

impl Row {
    /// None for what was not measured.
    fn slowdown(&self, variant: Variant) -> Option<f64> {
        Some(self.times.get(&variant)?.as_secs_f64() / self.times.get(&variant.baseline())?.as_secs_f64())
    }

    /// The thread sanitizer to compare with: gcc's, and clang's for programs that gcc cannot compile.
    fn tsan(&self) -> Variant {
        if self.times.contains_key(&Variant::GccTsan) { Variant::GccTsan } else { Variant::ClangTsan }
    }

    fn memory_ratio(&self, variant: Variant) -> Option<f64> {
        Some(*self.memory.get(&variant)? as f64 / *self.memory.get(&variant.baseline())? as f64)
    }
}

/// Both tables and how they compare with the bars.
pub fn markdown(rows: &[Row], machine: &str, repetitions: u32) -> String {
    let native_ms = |row: &Row| row.times.get(&Variant::Native).map(|time| time.as_secs_f64() * 1e3);
    let native_mb =
        |row: &Row| row.memory.get(&Variant::Native).map(|&bytes| bytes as f64 / f64::from(1 << 20));
    format!(
        "Measured on {date} by `cargo xtask bench --repetitions {repetitions}` ({machine}).\n\
         \n\
         {workloads}\n\
         Time, as a multiple of the native program's:\n\
         \n\
         {time}\n\
         Peak resident memory, as a multiple of the native program's:\n\
         \n\
         {memory}\n\
         {verdict}",
        date = document::today(),
        workloads = rows.iter().map(about).collect::<String>(),
        time = ratios(rows, "native, ms", native_ms, Row::slowdown),
        memory = ratios(rows, "native, MB", native_mb, Row::memory_ratio),
        verdict = verdict(rows),
    )
}

fn about(row: &Row) -> String {
    format!("- {}: {}\n", row.workload.name, row.workload.stands_for)
}

fn ratios(
    rows: &[Row],
    native_title: &str,
    native: impl Fn(&Row) -> Option<f64>,
    ratio: impl Fn(&Row, Variant) -> Option<f64>,
) -> String {
    let titles = ["workload", native_title].into_iter().chain(COLUMNS.map(|(_, title)| title));
    let mut table = head(&titles.collect::<Vec<_>>());
    for measured in rows {
        let mut cells = vec![measured.workload.name.to_owned()];
        cells.push(native(measured).map_or_else(|| "–".to_owned(), |value| format!("{value:.1}")));
        cells.extend(COLUMNS.map(|(variant, _)| shown(ratio(measured, variant))));
        table += &row(&cells);
    }
    let mut means = vec!["geometric mean".to_owned(), String::new()];
    means.extend(COLUMNS.map(|(variant, _)| shown(mean(rows, |row| ratio(row, variant)))));
    table + &row(&means)
}

/// Of the workloads for which there is such a ratio. None if there is none.
fn mean(rows: &[Row], ratio: impl Fn(&Row) -> Option<f64>) -> Option<f64> {
    let ratios: Vec<f64> = rows.iter().filter_map(ratio).collect();
    (!ratios.is_empty()).then(|| geometric_mean(ratios))
}

fn shown(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}×"))
}

/// What the project asks of itself, and whether it is so.
fn verdict(rows: &[Row]) -> String {
    let mut lines = String::new();
    if rows.is_empty() {
        return lines;
    }
    for (variant, title) in [(Variant::Static, "unsnarl"), (Variant::Takeover, "unsnarl, takeover")] {
        let against_tsan = |ratio: fn(&Row, Variant) -> Option<f64>| {
            mean(rows, |row| Some(ratio(row, variant)? / ratio(row, row.tsan())?)).unwrap_or(f64::NAN)
        };
        let above: Vec<&str> =
            rows.iter().filter(|row| is_above_the_bar(row, variant)).map(|row| row.workload.name).collect();
        lines += &format!(
            "- {title}: {:.2} of TSan's slowdown on average (bar: {BAR_OF_TSAN}), {:.2} of its memory (bar: 1); \
             above the larger of TSan's slowdown and {BAR_ALONE}× on {}.\n",
            against_tsan(Row::slowdown),
            against_tsan(Row::memory_ratio),
            if above.is_empty() { "no workload".to_owned() } else { above.join(", ") },
        );
    }
    lines
}

fn is_above_the_bar(row: &Row, variant: Variant) -> bool {
    match (row.slowdown(variant), row.slowdown(row.tsan())) {
        (Some(ours), Some(tsan)) => ours > tsan.max(BAR_ALONE),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::workloads::WORKLOADS;
    use super::*;

    fn row(times: &[(Variant, u64)]) -> Row {
        Row {
            workload: &WORKLOADS[0],
            times: times.iter().map(|&(variant, ms)| (variant, Duration::from_millis(ms))).collect(),
            memory: times.iter().map(|&(variant, mb)| (variant, mb << 20)).collect(),
        }
    }

    #[test]
    fn each_variant_is_compared_with_its_own_input() {
        let row = row(&[
            (Variant::Native, 100),
            (Variant::NativeSmall, 10),
            (Variant::GccTsan, 800),
            (Variant::Helgrind, 500),
        ]);
        assert_eq!(row.slowdown(Variant::GccTsan), Some(8.0));
        assert_eq!(row.slowdown(Variant::Helgrind), Some(50.0));
        assert_eq!(row.memory_ratio(Variant::Helgrind), Some(50.0));
        assert_eq!(row.slowdown(Variant::Static), None);
    }

    #[test]
    fn the_bar_is_the_larger_of_both() {
        let above = |tsan, ours| {
            is_above_the_bar(
                &row(&[(Variant::Native, 100), (Variant::GccTsan, tsan), (Variant::Static, ours)]),
                Variant::Static,
            )
        };
        assert!(above(500, 501));
        assert!(!above(500, 500));
        assert!(!above(110, 130));
        assert!(above(110, 131));
    }

    #[test]
    fn what_gcc_cannot_compile_is_compared_with_clang() {
        let row = row(&[(Variant::Native, 100), (Variant::ClangTsan, 400), (Variant::Static, 300)]);
        assert!(!is_above_the_bar(&row, Variant::Static));
        assert!(verdict(&[row]).contains("unsnarl: 0.75 of TSan's slowdown"));
    }

    #[test]
    fn what_was_not_measured_is_left_out_of_the_tables() {
        let rows = [row(&[
            (Variant::Native, 100),
            (Variant::GccTsan, 400),
            (Variant::Static, 200),
            (Variant::Takeover, 900),
        ])];
        let text = markdown(&rows, "2 cores", 3);
        assert!(text.contains("| compute | 100.0 | 4.00× | – | – | – | 2.00× | 9.00× |"), "{text}");
        assert!(text.contains("- unsnarl: 0.50 of TSan's slowdown on average"), "{text}");
        assert!(text.contains("on no workload.") && text.contains("on compute."), "{text}");
    }
}
