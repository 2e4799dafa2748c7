//! How likely a run was to fail, along its way: where it became certain.

use serde::{Deserialize, Serialize};

use crate::markup::{Element, classed, element, prose};
use crate::model::Trial;

/// How often runs fail that begin as one run did and go on at random.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outlook {
    /// The number of the run.
    pub run: u64,
    /// How often its threads took turns.
    pub switches: u64,
    /// From its start to its end.
    pub points: Vec<OutlookPoint>,
    /// Where failure became certain, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<Turn>,
    /// Where the share of failing runs rose most, if it rose much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rise: Option<Turn>,
}

/// Runs that share a run's beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutlookPoint {
    /// So many of its switches they have in common with it.
    pub followed: u64,
    /// How they ended.
    pub trial: Trial,
}

/// The step by which failure became certain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// Up to this switch it was not.
    pub after: u64,
    /// From this one on it is.
    pub by: u64,
    /// What the thread does that runs from there on, such as `thread 2 goes on in take() at queue.c:41`.
    pub what: String,
}

impl OutlookPoint {
    /// The share of runs that failed.
    pub fn share(&self) -> f64 {
        self.trial.failed as f64 / self.trial.runs.max(1) as f64
    }
}

/// The size of the drawing.
const WIDTH: u64 = 640;
const HEIGHT: f64 = 96.0;
const MARGIN: u64 = 44;
/// Characters of the line of blocks.
const COLUMNS: u64 = 24;

impl Outlook {
    /// What it says, in a sentence.
    pub fn sentence(&self) -> String {
        let Outlook { run, switches, points, turn, .. } = self;
        let certain = match (turn, points.first()) {
            (Some(Turn { after, by, what }), _) if by - after <= 1 => {
                format!("run {run}: failure was certain once {what} (switch {by} of {switches})")
            }
            (Some(Turn { after, by, what }), _) => {
                format!(
                    "run {run}: failure became certain between switches {after} and {by} of {switches}; by then, {what}"
                )
            }
            (None, Some(first)) if first.trial.failed == first.trial.runs => {
                format!("run {run}: failure was certain from the start")
            }
            (None, _) => format!("run {run}: failure was not certain until the end"),
        };
        let rise = self.rise.as_ref().filter(|rise| Some(rise.by) != turn.as_ref().map(|turn| turn.by));
        match rise {
            Some(Turn { after, by, what }) => {
                let percent = |followed: u64| (self.share_at(followed as f64) * 100.0).round();
                let (from, to) = (percent(*after), percent(*by));
                format!("{certain}; its chance rose most, from {from} % to {to} %, when {what} (switch {by})")
            }
            None => certain,
        }
    }

    /// The share of failing runs after so many switches, between two points on the line that joins them.
    fn share_at(&self, followed: f64) -> f64 {
        let after = self.points.partition_point(|point| (point.followed as f64) < followed);
        let end = self.points.get(after).or(self.points.last());
        let start = after.checked_sub(1).and_then(|index| self.points.get(index)).or(end);
        let (Some(start), Some(end)) = (start, end) else { return 0.0 };
        let span = end.followed.saturating_sub(start.followed) as f64;
        let way = if span > 0.0 { (followed - start.followed as f64) / span } else { 1.0 };
        start.share() + (end.share() - start.share()) * way.clamp(0.0, 1.0)
    }

    /// The way to failure as a line of blocks, the higher the more likely.
    pub fn blocks(&self) -> String {
        const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let block = |column: u64| {
            let share = self.share_at(self.switches as f64 * column as f64 / (COLUMNS - 1) as f64);
            BLOCKS[((share * 7.0).round() as usize).min(7)]
        };
        (0..COLUMNS).map(block).collect()
    }

    /// A drawing, with the sentence below it.
    pub(crate) fn figure(&self) -> Element {
        let x = |followed: u64| {
            MARGIN + (WIDTH - 2 * MARGIN) * followed.min(self.switches) / self.switches.max(1)
        };
        let y = |share: f64| 10.0 + HEIGHT * (1.0 - share);
        let line = self.points.iter().map(|point| format!("{},{:.1}", x(point.followed), y(point.share())));
        let text = |class: &str, x: u64, y: f64, content: &str| {
            classed("text", class).attribute("x", x).attribute("y", y).text(content)
        };
        let mut drawing = classed("svg", "outlook")
            .attribute("viewBox", format!("0 0 {WIDTH} {}", HEIGHT as u64 + 34))
            .attribute("role", "img")
            .attribute("aria-label", self.sentence());
        for share in [0.0, 1.0] {
            let rule =
                element("line").attribute("class", "rule").attribute("x1", MARGIN).attribute("y1", y(share));
            drawing = drawing.child(rule.attribute("x2", WIDTH - MARGIN).attribute("y2", y(share)));
            let label = format!("{} %", share * 100.0);
            drawing = drawing.child(text("end", MARGIN - 6, y(share) + 4.0, &label));
        }
        for turn in self.turn.iter().chain(&self.rise) {
            let bar = element("line")
                .attribute("class", "turn")
                .attribute("x1", x(turn.by))
                .attribute("y1", y(1.0));
            drawing = drawing.child(bar.attribute("x2", x(turn.by)).attribute("y2", y(0.0)));
        }
        drawing = drawing.child(
            element("polyline")
                .attribute("class", "chance")
                .attribute("points", line.collect::<Vec<_>>().join(" ")),
        );
        for point in &self.points {
            let OutlookPoint { followed, trial } = point;
            let told = format!("after {followed} switches: {} of {} runs fail", trial.failed, trial.runs);
            let dot = element("circle").attribute("class", "dot").attribute("cx", x(*followed));
            let dot = dot.attribute("cy", format!("{:.1}", y(point.share()))).attribute("r", 3);
            drawing = drawing.child(dot.child(element("title").text(&told)));
        }
        drawing = drawing.child(text("start", MARGIN, HEIGHT + 28.0, "start of the run"));
        drawing =
            drawing.child(text("end", WIDTH - MARGIN, HEIGHT + 28.0, &format!("switch {}", self.switches)));
        classed("figure", "outlook")
            .child(element("h3").text("When did it become certain to fail?"))
            .child(drawing)
            .child(element("figcaption").children(prose(&self.sentence())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outlook(shares: &[(u64, u64)], turn: Option<Turn>) -> Outlook {
        let point = |&(followed, failed)| OutlookPoint { followed, trial: Trial { runs: 10, failed } };
        Outlook { run: 6, switches: 100, points: shares.iter().map(point).collect(), turn, rise: None }
    }

    #[test]
    fn blocks_rise_where_failure_becomes_certain() {
        let certain = outlook(&[(0, 0), (50, 0), (51, 10), (100, 10)], None);
        assert_eq!(certain.blocks(), "▁▁▁▁▁▁▁▁▁▁▁▁████████████");
        let gradual = outlook(&[(0, 0), (100, 10)], None);
        assert!(gradual.blocks().starts_with("▁▁") && gradual.blocks().ends_with("██"));
        assert_eq!(outlook(&[], None).blocks().chars().count(), 24);
    }

    #[test]
    fn the_turn_is_told_as_exactly_as_it_is_known() {
        let turn = |after, by| Some(Turn { after, by, what: "thread 2 goes on in f() at a.c:1".to_owned() });
        assert_eq!(
            outlook(&[(0, 0)], turn(50, 51)).sentence(),
            "run 6: failure was certain once thread 2 goes on in f() at a.c:1 (switch 51 of 100)"
        );
        assert!(outlook(&[(0, 0)], turn(40, 51)).sentence().contains("between switches 40 and 51 of 100"));
        let steep = Outlook { rise: turn(10, 20), ..outlook(&[(0, 1), (10, 2), (20, 7), (100, 8)], None) };
        assert_eq!(
            steep.sentence(),
            "run 6: failure was not certain until the end; its chance rose most, from 20 % to 70 %, when thread 2 goes on \
             in f() at a.c:1 (switch 20)"
        );
        assert!(outlook(&[(0, 10)], None).sentence().ends_with("from the start"));
        assert!(outlook(&[(0, 1)], None).sentence().ends_with("not certain until the end"));
    }

    #[test]
    fn the_drawing_shows_every_point() {
        let mut page = String::new();
        outlook(&[(0, 1), (50, 4), (100, 10)], None).figure().write(&mut page);
        assert_eq!(page.matches("<circle").count(), 3);
        assert!(page.contains("after 50 switches: 4 of 10 runs fail"), "{page}");
        assert!(page.contains("points=\"44,96.4 320,67.6 596,10.0\""), "{page}");
    }
}
