//! Which programs have fewer runs than the tables say.

use super::analyse::FULL;
use super::data::Evaluation;
use super::table;

/// A line for each program of which the time did not bring enough runs of both kinds.
pub fn markdown(evaluation: &Evaluation) -> String {
    let lines = evaluation.programs.iter().filter_map(|program| {
        let runs = &program.result.as_ref()?.runs;
        let is_short = (runs.failed as usize) < FULL.failing || (runs.passed as usize) < FULL.passing;
        is_short.then(|| {
            let name = table::name_of(program);
            format!("- {name}: {} failing and {} passing runs\n", runs.failed, runs.passed)
        })
    });
    let lines: String = lines.collect();
    let text = if lines.is_empty() { "None.\n".to_owned() } else { lines };
    format!("\n### Programs with fewer runs than {}\n\n{text}", table::label(FULL))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::sample::{evaluation, program};

    fn with_runs(name: &str, failed: u64, passed: u64) -> super::super::data::Program {
        let mut program = program(name, &[], &[]);
        let runs = &mut program.result.as_mut().unwrap().runs;
        (runs.failed, runs.passed) = (failed, passed);
        program
    }

    #[test]
    fn a_lack_of_either_kind_is_told() {
        let rare = [with_runs("rare", 24, 1000), with_runs("often", 400, 99), with_runs("enough", 25, 100)];
        let text = markdown(&evaluation(rare.into()));
        assert!(text.contains("25/100\n\n- rare: 24 failing and 1000 passing runs\n- often: 400"), "{text}");
        assert!(!text.contains("enough:"), "{text}");
        let text = markdown(&evaluation(vec![with_runs("enough", 25, 100)]));
        assert!(text.ends_with("\n\nNone.\n"), "{text}");
    }
}
