//! The figures that go with the tables.

use std::fs;
use std::path::Path;

use anyhow::Context as _;

use super::data::Evaluation;
use super::pool::Pool;
use super::{Arguments, communication, plots};
use crate::chart::Chart;
use crate::tool::Tool;
use crate::truth::Subject;

/// A chart with what is to be said about it.
pub struct Figure {
    name: &'static str,
    caption: &'static str,
    chart: Chart,
}

const FAILING_RUNS: &str = "How much more failing runs help (Recon's Table 3 asks the same).";
const PASSING_RUNS: &str = "How much more passing runs help (Locon's Figure 8 asks the same).";
const CALIBRATION: &str = "Whether a finding is as often right as its confidence says, over all draws, those with \
    nothing to be found included.";
const PAIRS: &str = "How many runs it takes until nothing new is seen (Locon's Figure 5): different pairs of dependent \
    accesses of two threads, accumulated over runs, for programs from the one with the fewest to the one with the most.";
const WINDOWS: &str = "How large a window must be (Falcon's Figure 3): for five correct programs built for 2 to 64 threads, \
    the slots from one turn of a thread at a location to its next, where something unserializable lies between. Readers \
    count once per write.";

/// All figures for which there is something to draw. `pools` are the runs of programs by name.
pub fn figures(
    evaluation: &Evaluation,
    pools: &[(&str, &Pool)],
    (subjects, tool, folder): (&[Subject], &Tool, &Path),
    arguments: &Arguments,
) -> anyhow::Result<Vec<Figure>> {
    let figure = |name, caption, chart| Figure { name, caption, chart };
    let mut figures = vec![
        figure("failing-runs", FAILING_RUNS, plots::against_failing_runs(evaluation)),
        figure("passing-runs", PASSING_RUNS, plots::against_passing_runs(evaluation)),
    ];
    figures.extend(plots::calibration(evaluation).map(|chart| figure("calibration", CALIBRATION, chart)));
    figures.push(figure("pairs", PAIRS, communication::accumulated_pairs(pools)?));
    // With few programs the recording of others would take most of the time.
    if arguments.only.is_empty() {
        let how = (arguments.seed, arguments.noise.as_str());
        let windows = communication::window_sizes(subjects, tool, &folder.join("threads"), how)?;
        figures.push(figure("windows", WINDOWS, windows));
    }
    Ok(figures)
}

/// Writes the charts into a folder.
pub fn draw(figures: &[Figure], folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    for Figure { name, chart, .. } in figures {
        let path = folder.join(format!("{name}.svg"));
        fs::write(&path, chart.svg()).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// The figures in a Markdown document beside whose folder `plots` lies.
pub fn markdown(figures: &[Figure]) -> String {
    let mut text = "\n### Figures\n".to_owned();
    for Figure { name, caption, chart } in figures {
        text += &format!("\n{caption}\n\n![{}](plots/{name}.svg)\n", chart.title);
    }
    text
}
