//! What each part of the verdict brings: it is asked again without, on the same draws. And what its constants owe to
//! the programs by which they were chosen: they are chosen by one half of the programs and measured on the other.

use std::collections::BTreeMap;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::analyse::{self, FULL, SINGLE};
use super::pool::{Draw, Pool, Size};
use super::report::Report;
use super::score::{Key, Score};
use super::table::{CONFIDENT, DEFAULT};
use super::{Recorded, Task, reports};
use crate::document::{head, row};
use crate::tool::Tool;

/// Draws with a single failing run.
const SINGLES: u64 = 3;

/// The parts, and the constants that leave them out.
fn parts() -> Vec<(&'static str, Value)> {
    vec![
        ("the verdict", json!({})),
        ("without standstills", json!({ "standstills": false })),
        ("without the prior on simplicity", json!({ "simplicity": false })),
        ("without those on what passing runs do", json!({ "effect": 0.0, "one_order": 0.0 })),
        ("without the prior on atomic updates", json!({ "atomic": 0.0 })),
        ("without the prior on what is only counted", json!({ "tally": 0.0 })),
        ("without putting clues together", json!({ "folding": false })),
        ("without telling the shorter of two stretches", json!({ "stretches": false })),
        ("without what a thread has seen right before it looks", json!({ "entered": false })),
        ("without Locon's indirect conclusions", json!({ "indirect": false })),
        ("without what only failing runs execute", json!({ "new_code": false })),
        ("without telling writes with the look at what they leave", json!({ "looks": false })),
        ("without counting uses of freed memory together", json!({ "freed": false })),
        ("without what is read and written", json!({ "values": false })),
        ("without counting what a library does for one call together", json!({ "calls": false })),
        ("without counting what breaks into the same code together", json!({ "regions": false })),
        ("without counting both ways of tearing two variables apart together", json!({ "torn": false })),
        ("without counting failing runs that end before it", json!({ "unfinished": false })),
        ("without what lets the best clue come about", json!({ "leads": false })),
        ("without comparing runs that were scheduled alike", json!({ "strata": false })),
        ("assuming that a cause nearly always fails", json!({ "sure": 8 })),
        ("without allowing for a cause that is no clue", json!({ "unknown": 1000.0 })),
    ]
}

/// Constants to choose from, those that are used first.
fn constants() -> Vec<Value> {
    let mut all = vec![json!({})];
    for effect in [3.5, 7.0, 14.0] {
        for sure in [0, 3, 8] {
            all.push(json!({ "effect": effect, "one_order": effect / 2.0, "sure": sure }));
        }
    }
    all
}

/// How often something does well on a program.
#[derive(Clone, Copy, Default, Debug)]
struct Mark {
    /// The truth first and alone: with all runs, and the share of draws with a single failing one.
    full: bool,
    single: f64,
    /// Sessions where there is nothing to be found, and those of them with a confident finding.
    blind: usize,
    alarms: usize,
}

/// The marks of a program: of each part, of each choice of constants, of each single technique.
pub struct Marks {
    parts: Vec<Mark>,
    constants: Vec<Mark>,
    techniques: BTreeMap<String, Mark>,
}

/// Asks about one program.
pub fn marks(task: &Task, recorded: &Recorded, tool: &Tool, seed: u64) -> anyhow::Result<Marks> {
    let truth = &task.subject.truth;
    let (answers, own_files) = (truth.answers()?, truth.own_files());
    let key = Key { answers: &answers, own_files: &own_files };
    let techniques: Vec<String> = localize::Technique::all().map(|technique| technique.to_string()).collect();
    let techniques: Vec<String> = techniques.into_iter().filter(|technique| technique != DEFAULT).collect();
    let parts = parts().into_iter().map(|(_, constants)| constants).collect::<Vec<_>>();
    let verdicts: Vec<Value> = parts.iter().cloned().chain(constants()).collect();
    let mut marks = vec![Mark::default(); techniques.len() + verdicts.len()];
    let singles = (0..SINGLES).map(|nth| (SINGLE, nth));
    let draws: Vec<(Size, u64)> = std::iter::once((FULL, 0)).chain(singles).collect();
    // Where there is nothing to be found, only the parts are asked: there are many sessions.
    let ask = |pool: &Pool, draws: &[Draw], is_blind: bool, note: &mut dyn FnMut(usize, usize, Score)| {
        let (asked, verdicts) = if is_blind { (&[][..], &parts) } else { (&techniques[..], &verdicts) };
        let plan = json!({ "techniques": asked, "verdicts": verdicts, "files": own_files, "draws": draws });
        let voices = asked.len() + verdicts.len();
        let mut line = 0;
        reports::each_line(tool, pool, &plan, &task.folder.join("pool"), |report: Report| {
            note(line / voices, line % voices, key.score(&report));
            line += 1;
            Ok(())
        })
    };
    let drawn: Vec<Draw> =
        draws.iter().map(|&(size, nth)| recorded.runs.pool.draw(size, seed + nth)).collect();
    ask(&recorded.runs.pool, &drawn, false, &mut |draw, voice, score| {
        let is_good = score.is_first_and_alone();
        match draws[draw].0 {
            FULL => marks[voice].full = is_good,
            _ => marks[voice].single += f64::from(u8::from(is_good)) / SINGLES as f64,
        }
    })?;
    if let Some(fixed) = &recorded.fixed {
        let drawn = analyse::blind_draws(&fixed.pool, Pool::draw_blind, seed);
        let drawn: Vec<Draw> = drawn.into_iter().map(|(_, draw)| draw).collect();
        ask(&fixed.pool, &drawn, true, &mut |_, part, score| {
            let mark = &mut marks[techniques.len() + part];
            mark.blind += 1;
            mark.alarms += usize::from(score.confidence.is_some_and(|sure| sure >= CONFIDENT));
        })?;
    }
    let constants = marks.split_off(techniques.len() + parts.len());
    let parts = marks.split_off(techniques.len());
    Ok(Marks { parts, constants, techniques: techniques.into_iter().zip(marks).collect() })
}

/// How well something does on all programs.
#[derive(Default, Clone, Copy)]
struct Total {
    programs: usize,
    full: usize,
    single: f64,
    blind: usize,
    alarms: usize,
}

impl Total {
    fn of(marks: impl Iterator<Item = Mark>) -> Total {
        marks.fold(Total::default(), |total, mark| Total {
            programs: total.programs + 1,
            full: total.full + usize::from(mark.full),
            single: total.single + mark.single,
            blind: total.blind + mark.blind,
            alarms: total.alarms + mark.alarms,
        })
    }

    /// What constants are chosen by: both numbers count alike.
    fn worth(&self) -> f64 {
        self.full as f64 + self.single
    }

    fn row(&self, what: &str) -> String {
        let single = 100.0 * self.single / self.programs.max(1) as f64;
        row(&[
            what.to_owned(),
            format!("{} of {}", self.full, self.programs),
            format!("{single:.1} %"),
            if self.blind == 0 { "–".to_owned() } else { format!("{} of {}", self.alarms, self.blind) },
        ])
    }
}

/// Both tables.
pub fn markdown(all: &[Marks], today: &str, command: &str) -> anyhow::Result<String> {
    let titles = ["", "all runs", "one failing run", "false alarms"];
    let total = |of: &dyn Fn(&Marks) -> Mark| Total::of(all.iter().map(of));
    let techniques = all.first().context("no program was asked about")?.techniques.keys();
    let single = techniques.map(|name| (total(&|marks| marks.techniques[name]), name));
    let (best, name) =
        single.max_by(|(a, _), (b, _)| a.worth().total_cmp(&b.worth())).context("no technique was asked")?;
    let mut text = format!(
        "Measured on {today} by `{command}`: on how many programs the truth is first and alone with 25 failing and 100 \
         passing runs, in which share of the draws with one failing run, and how many sessions have a confident finding \
         where there is nothing to be found.\n\n"
    );
    text += &head(&titles);
    text += &best.row(&format!("best single technique ({name})"));
    for (nth, (part, _)) in parts().iter().enumerate() {
        text += &total(&|marks| marks.parts[nth]).row(part);
    }
    text += "\nThe constants of the priors, chosen anew by one half of the programs (every other one, by name) and measured on the \
             other half, both ways round:\n\n";
    text += &head(&titles);
    text += &total(&|marks| marks.constants[0]).row("as they are");
    let (held_out, chosen) = held_out(all);
    text += &held_out.row("chosen by the other half");
    let fitted = best_constants(all.iter());
    text += &total(&|marks| marks.constants[fitted]).row("chosen by the same programs");
    let choices = constants();
    let said: Vec<String> = chosen.iter().map(|&nth| words(&choices[nth])).collect();
    text += &format!("\nOf {} choices, the halves took: {}.\n", choices.len(), said.join("; "));
    Ok(text)
}

/// What the constants that each half would choose do on the other half, and which these are.
fn held_out(all: &[Marks]) -> (Total, [usize; 2]) {
    let half = |rest: usize| all.iter().skip(rest).step_by(2);
    let chosen = [0, 1].map(|rest| best_constants(half(rest)));
    let other = |rest: usize| half(1 - rest).map(move |marks| marks.constants[chosen[rest]]);
    (Total::of(other(0).chain(other(1))), chosen)
}

/// The constants that do best on some programs; of equals the first.
fn best_constants<'a>(programs: impl Iterator<Item = &'a Marks> + Clone) -> usize {
    let worth = |nth: usize| Total::of(programs.clone().map(|marks| marks.constants[nth])).worth();
    let best = (0..constants().len()).map(|nth| (worth(nth), nth));
    best.reduce(|best, next| if next.0 > best.0 + 1e-9 { next } else { best }).map_or(0, |(_, nth)| nth)
}

fn words(constants: &Value) -> String {
    let named = constants.as_object().into_iter().flatten();
    let named: Vec<String> =
        named.map(|(name, value)| format!("{} {value}", name.replace('_', " "))).collect();
    if named.is_empty() { "those that are used".to_owned() } else { named.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(best: usize) -> Marks {
        let mark = |good: bool| Mark { full: good, single: f64::from(u8::from(good)), blind: 2, alarms: 0 };
        let constants = (0..constants().len()).map(|nth| mark(nth == best)).collect();
        let parts = vec![mark(true); parts().len()];
        Marks { parts, constants, techniques: [("falcon".to_owned(), mark(false))].into() }
    }

    #[test]
    fn constants_are_measured_where_they_were_not_chosen() {
        // The halves want different ones, so that neither does any good on the other.
        let all = [program(1), program(2), program(1), program(2)];
        let (total, chosen) = held_out(&all);
        assert_eq!((total.full, total.programs, chosen), (0, 4, [1, 2]));
        assert_eq!(best_constants(all.iter()), 1);
        let alike = [program(3), program(3)];
        assert_eq!((held_out(&alike).0.full, held_out(&alike).1), (2, [3, 3]));
        // What makes no difference stays.
        assert_eq!(best_constants([program(99)].iter()), 0);
    }

    #[test]
    fn each_switch_of_the_verdict_has_a_row() {
        let all = format!("{:#?}", localize::Tuning::default());
        let switches: Vec<&str> =
            all.lines().filter_map(|line| line.trim().strip_suffix(": true,")).collect();
        assert!(switches.contains(&"values"), "{all}");
        let parts = parts();
        for switch in switches {
            assert!(parts.iter().any(|(_, part)| part.get(switch) == Some(&json!(false))), "{switch}");
        }
    }

    #[test]
    fn the_tables_have_all_parts() {
        let text = markdown(&[program(0), program(0)], "2001-01-01", "x").unwrap();
        assert!(text.contains("| best single technique (falcon) | 0 of 2 | 0.0 % | 0 of 4 |"), "{text}");
        assert!(text.contains("| without standstills | 2 of 2 | 100.0 % | 0 of 4 |"), "{text}");
        assert!(
            text.contains("| as they are | 2 of 2 |") && text.contains("took: those that are used;"),
            "{text}"
        );
    }
}
