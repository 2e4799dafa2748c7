//! How little of a failing run makes it fail, in words.

use super::{needed_place, plural};
use crate::model::Window;

/// Nothing if it is not known where a thread is held.
pub(crate) fn window(window: &Window) -> Option<String> {
    let Window { run, switches, left, .. } = window;
    let after = window.after.as_ref().and_then(needed_place);
    let before = window.before.as_ref().and_then(needed_place);
    let held = match (after, before) {
        (Some(after), Some(before)) if after == before => format!("inside {after}"),
        (Some(after), Some(before)) => format!("between {after} and {before}"),
        (Some(after), None) => format!("right after {after}"),
        (None, Some(before)) => format!("just before {before}"),
        (None, None) => return None,
    };
    let mut others: Vec<String> =
        window.through.iter().chain(&window.meanwhile).filter_map(needed_place).collect();
    others.dedup();
    let meanwhile = match others.as_slice() {
        [] => "while others go on".to_owned(),
        [place] => format!("while another comes to {place}"),
        [through @ .., last] => {
            format!("while another comes to {} and then one to {last}", through.join(", then one to "))
        }
    };
    let enough = match left {
        left if left < switches => {
            let is = if *left == 1 { "is" } else { "are" };
            format!("{left} of the {} in run {run} {is} enough", plural(*switches, "thread switch"))
        }
        _ if *switches == 1 => format!("the only thread switch in run {run} is needed"),
        _ => format!("all {} in run {run} are needed", plural(*switches, "thread switch")),
    };
    Some(format!("{enough}: hold one thread {held} {meanwhile}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AccessKind, NeededStep};

    fn step(line: u32) -> Option<NeededStep> {
        Some(NeededStep {
            thread: 1,
            kind: AccessKind::Read,
            variable: "x".to_owned(),
            function: None,
            file: Some("src/queue.c".to_owned()),
            line: Some(line),
        })
    }

    #[test]
    fn it_is_told_how_much_is_enough_and_where_a_thread_is_held() {
        let whole = Window {
            run: 17,
            switches: 214,
            left: 2,
            after: step(44),
            through: Vec::new(),
            meanwhile: step(33),
            before: step(29),
        };
        assert_eq!(
            window(&whole).unwrap(),
            "2 of the 214 thread switches in run 17 are enough: hold one thread between queue.c:44 and queue.c:29 while \
             another comes to queue.c:33"
        );
        let third = window(&Window { through: vec![step(27).unwrap()], ..whole.clone() }).unwrap();
        assert!(third.ends_with("while another comes to queue.c:27 and then one to queue.c:33"), "{third}");
        let one = window(&Window { left: 1, ..whole.clone() }).unwrap();
        assert!(one.starts_with("1 of the 214 thread switches in run 17 is enough: "), "{one}");
        let held = |after, before| window(&Window { after, before, meanwhile: None, ..whole.clone() });
        assert!(
            held(step(44), None)
                .unwrap()
                .ends_with("hold one thread right after queue.c:44 while others go on")
        );
        assert!(held(None, step(29)).unwrap().contains("hold one thread just before queue.c:29"));
        assert!(held(step(29), step(29)).unwrap().contains("hold one thread inside queue.c:29"));
        assert_eq!(held(None, None), None);
    }

    #[test]
    fn what_cannot_be_made_shorter_takes_all_of_it() {
        let all = Window {
            run: 3,
            switches: 1,
            left: 1,
            after: step(4),
            through: Vec::new(),
            meanwhile: None,
            before: None,
        };
        assert!(window(&all).unwrap().starts_with("the only thread switch in run 3 is needed: "));
    }
}
