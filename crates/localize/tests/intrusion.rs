//! What happens while a thread is held up is told as a row of the table, and found again in other runs.

mod support;

use std::sync::Arc;

use localize::{AccessKind, Intrusion, PatternId, Row, Run, SiteId};

/// One run, in which `^` stands before what the held thread had done last, `!` before what decides, and `*` before what it does when it goes on; the
/// first access tells the held thread, and what others do between `^` and `*` is what they do meanwhile.
fn held(trace: &str) -> (support::Session, Intrusion) {
    let words: Vec<&str> = trace.split_whitespace().collect();
    let plain: String =
        words.iter().map(|word| word.trim_start_matches(['^', '!', '*', '~']).to_owned() + " ").collect();
    let mut session = support::parse(&format!("F: {plain}"));
    // Atomic operations are on record with what they found and left.
    for access in session.runs[0].accesses.iter_mut().filter(|access| access.kind == AccessKind::Update) {
        access.before = access.before.or(Some(0));
        access.value = access.value.or(Some(2));
    }
    let marked =
        |mark: char| (0..words.len()).filter(|&nth| words[nth].starts_with(mark)).collect::<Vec<_>>();
    let (look, act) = (marked('^'), marked('*'));
    let from = look.last().map_or(0, |look| look + 1);
    let own = session.runs[0].accesses[act[0]].thread;
    let between = (from..act[0]).filter(|&nth| session.runs[0].accesses[nth].thread != own).collect();
    (
        session,
        Intrusion { look, around: marked('~'), between, decisive: marked('!'), act, ..Intrusion::default() },
    )
}

/// The rows of the best class.
fn told(trace: &str) -> Vec<String> {
    let (session, intrusion) = held(trace);
    let rows = intrusion.rows(&session.runs[0]);
    let best = rows.first().map(|(class, _)| *class);
    let names =
        |row: &Row| row.sites.iter().map(|site| session.sites[site.0 as usize].clone()).collect::<Vec<_>>();
    let best = rows.iter().filter(|(class, _)| Some(*class) == best);
    best.map(|(_, row)| format!("{:?} {}", row.shape, names(row).join(" "))).collect()
}

#[test]
fn a_look_an_update_by_another_and_an_act_are_a_triple() {
    assert_eq!(told("^R1(size)@look !W2(size)@pop *R1(size)@use"), ["P4 look pop use"]);
    assert_eq!(told("^R1(size)@look !W2(size)@pop *W1(size)@set"), ["P7 look pop set"]);
    assert_eq!(told("^R1(size)@look !U2(size)@pop *U1(size)@take"), ["P7 look pop take"]);
}

/// Who uses a thing after it was closed had looked it up before it was taken away.
#[test]
fn a_look_at_one_thing_and_an_act_on_another_are_two_orders_that_cross() {
    let trace = "^R1(current)@look W2(current)@replace W2(count)@release *R1(count)@retain R1(closed)@use";
    assert_eq!(told(trace), ["P14 look replace release retain"]);
}

/// Who looks a thing up and then counts itself in, atomically, goes by what the last one has made of the count.
#[test]
fn an_update_of_two_is_what_makes_a_row_of_it() {
    let trace = "^R1(slot)@find W2(slot)@clear !U2(users)@release *U1(users)@retain";
    assert_eq!(told(trace), ["P14 find clear release retain"]);
}

/// Both count, and what the one had done shortly before to something else has nothing to do with it.
#[test]
fn what_was_done_shortly_before_makes_no_row_with_counts() {
    let trace = "~W1(other)@note ^R1(cached)@find R2(other)@look !U2(users)@release *U1(users)@retain";
    assert!(told(trace).iter().all(|row| !row.contains("note")), "{:?}", told(trace));
}

/// A timer is taken out of its list and then fires; who cancels it in between finds the list empty, and says that it will not.
#[test]
fn two_orders_that_cross_need_be_no_row() {
    let trace = "^W1(list)@take R2(list)@search !W2(open)@close *R1(open)@fire";
    assert_eq!(told(trace), ["W1x-R2x-W2y-R1y take search close fire"]);
    let trace = "^W1(list)@take !W2(open)@close R2(list)@search *R1(open)@fire";
    assert_eq!(told(trace), ["W1x-W2y-R2x-R1y take close search fire"]);
}

/// Who lets something in while it is open comes too late when it was closed, and whoever had to take it has gone.
#[test]
fn what_one_thread_outdates_and_another_decides_takes_three() {
    let row = ["R1x-W2x-R3y-W1y look close empty act"];
    assert_eq!(told("^R1(open)@look W2(open)@close !R3(queue)@empty *W1(queue)@act"), row);
    assert_eq!(
        told("^R1(open)@look !W2(open)@close R3(queue)@empty *W1(queue)@act"),
        row,
        "who closes sets others going"
    );
    let told_by_pair = |trace| told(trace).iter().all(|row| row.starts_with('P'));
    assert!(
        told_by_pair("^R1(open)@look !R3(queue)@empty W2(open)@close *W1(queue)@act"),
        "closed afterwards"
    );
    assert!(told_by_pair("^U1(count)@add U2(count)@add2 !R3(queue)@empty *W1(queue)@act"), "counts");
}

#[test]
fn a_run_shows_three_threads_if_it_has_three() {
    let (session, intrusion) = held("^R1(open)@look W2(open)@close !R3(queue)@empty *W1(queue)@act");
    let (_, row) = &intrusion.rows(&session.runs[0])[0];
    assert_eq!(row.occurrence(&session.runs[0]), Some(vec![0, 1, 2, 3]));
    let runs = "F: R1(open)@look W2(open)@close R3(queue)@empty W1(queue)@act
        P: R1(open)@look W2(open)@close R2(queue)@empty W1(queue)@act
        P: R1(open)@look R3(queue)@empty W2(open)@close W1(queue)@act";
    let others = support::parse(runs).runs;
    let shows: Vec<bool> = others.iter().map(|run| row.occurrence(run).is_some()).collect();
    assert_eq!(shows, [true, false, false]);
}

/// A room is found empty while somebody comes in, and then taken away: a map's calls change no number.
#[test]
fn what_a_collection_does_is_no_count() {
    let trace = "^R1(room)@ask !U2(rooms)@get U2(room)@add *U1(rooms)@remove";
    let class = |(session, intrusion): (support::Session, Intrusion)| {
        let (class, row) = intrusion.rows(&session.runs[0])[0].clone();
        (class, row.is_about_counts)
    };
    let (mut session, intrusion) = held(trace);
    for access in &mut session.runs[0].accesses {
        (access.before, access.value) = (None, None);
    }
    assert_eq!((class(held(trace)), class((session, intrusion))), ((10, true), (2, false)));
}

/// That each of two does its own in its own order is all that there is to two orders that cross: the other two come in any order.
#[test]
fn orders_that_cross_do_so_in_several_ways() {
    let (_, row) = row("^R1(room)@ask !W2(rooms)@get W2(room)@add *W1(rooms)@remove");
    let runs = "F: R1(room)@ask W2(rooms)@get W2(room)@add W1(rooms)@remove
        F: W2(rooms)@get R1(room)@ask W2(room)@add W1(rooms)@remove
        F: W2(rooms)@get R1(room)@ask W1(rooms)@remove W2(room)@add
        P: W2(rooms)@get W2(room)@add R1(room)@ask W1(rooms)@remove
        P: R1(room)@ask W1(rooms)@remove W2(rooms)@get W2(room)@add";
    let text = format!("F: R1(room)@ask W2(rooms)@get W2(room)@add W1(rooms)@remove\n{runs}");
    let session = support::parse(&text);
    let shapes: Vec<String> = session.runs[1..]
        .iter()
        .map(|run| row.shown(run).map_or_else(String::new, |(shape, _)| format!("{shape:?}")))
        .collect();
    assert_eq!(shapes, ["R1x-W2y-W2x-W1y", "W1x-R2y-W1y-W2x", "W1x-R2y-W2x-W1y", "", ""]);
}

/// A session is found and its references are counted; who takes it out of the list does the same.
#[test]
fn what_both_count_is_not_told_where_something_else_decides() {
    let (session, intrusion) = held(
        "^R1(idle)@look !R2(list)@find W2(idle)@touch !U2(users)@retain *W1(list)@erase *U1(users)@release",
    );
    let orders = intrusion.deciding_orders(&session.runs[0]);
    assert_eq!(orders, [(1, 4)], "the references go up and down in any order");
    let (session, intrusion) = held("^R1(idle)@look W2(idle)@touch !U2(users)@retain *U1(users)@release");
    assert_eq!(intrusion.deciding_orders(&session.runs[0]), [(2, 3)], "nothing else does");
}

/// A map comes to other places of its code when it has another shape.
#[test]
fn what_a_library_does_for_one_call_is_one_step() {
    let (session, intrusion) = held("^R1(size)@at_root !W2(size)@pop *R1(size)@use");
    let mut run = session.runs[0].clone();
    // The first one is the library's, by itself as the first place of its call; the fourth place is of the same call.
    run.calls = Arc::new([(SiteId(0), SiteId(0)), (SiteId(3), SiteId(0))].into_iter().collect());
    let (_, row) = &intrusion.rows(&run)[0];
    let text = "F: R1(a)@at_root W2(b)@pop R1(c)@use R1(d)@at_leaf
        F: R1(size)@at_leaf W2(size)@pop R1(size)@use
        F: R1(size)@use W2(size)@pop R1(size)@use";
    let others = support::parse(text).runs.into_iter().map(|other| Run { calls: run.calls.clone(), ..other });
    let shows: Vec<bool> = others.map(|run| row.occurrence(&run).is_some()).collect();
    assert_eq!(shows, [false, true, false]);
}

#[test]
fn without_a_look_it_is_an_order() {
    assert_eq!(told("!R2(x)@use *W1(x)@init"), ["P1 use init"]);
    // What was read there in the last round is not looked at.
    assert_eq!(told("^R1(tail)@load !W2(tail)@pop *R1(tail)@load"), ["P2 pop load"]);
}

#[test]
fn what_decides_goes_before_what_else_was_done_meanwhile() {
    let trace = "^R1(x)@look ^R1(y)@see W2(y)@note !W2(x)@change *R1(x)@use *R1(y)@read";
    assert_eq!(told(trace), ["P4 look change use"]);
    // Both are in the sections that exclude each other, and nothing tells which of them matters.
    let trace = "^R1(x)@look ^R1(y)@see W2(y)@note W2(x)@change *R1(x)@use *R1(y)@read";
    assert_eq!(told(trace), ["P4 look change use", "P4 see note read"]);
}

/// Who sets something twice is not told to keep the two together; who looks at it by the same function twice may be.
#[test]
fn what_is_written_in_two_rounds_is_no_stretch_of_code() {
    let is_between = |trace: &str| {
        let (session, intrusion) = held(trace);
        intrusion.is_between_rounds(&session.runs[0])
    };
    assert!(is_between("^W1(mode)@set !R2(mode)@see *W1(mode)@set"));
    assert!(!is_between("^W1(mode)@set !R2(mode)@see *W1(target)@aim *W1(mode)@set"));
    assert!(!is_between("^W1(mode)@clear !R2(mode)@see *W1(mode)@set"));
    assert!(!is_between("^R1(size)@size !W2(size)@pop *R1(size)@size"));
}

/// A pointer is read and a count is raised, which is what the edge is at.
#[test]
fn counts_that_are_kept_right_by_themselves_are_told_last() {
    let trace =
        "~R1(p)@look ^U1(a)@raise U2(a)@lower W2(p)@replace W2(q)@set U2(b)@drop *R1(q)@use *U1(b)@keep";
    assert_eq!(told(trace), ["P14 look replace set use"]);
    // Where there is nothing else, they are.
    let trace = "^U1(a)@raise U2(a)@lower U2(b)@drop *U1(b)@keep";
    assert_eq!(told(trace), ["P9 raise lower drop keep"]);
}

/// Who exchanges a flag that is set already takes what is not there yet.
#[test]
fn an_update_that_changes_nothing_asks() {
    let (mut session, intrusion) =
        held("^U1(loaded)@set U2(loaded)@ask=1 !R2(config)@take *W1(config)@store");
    assert_eq!(
        intrusion.rows(&session.runs[0])[0].1.shape,
        PatternId::P18.into(),
        "who sees it, and who changes it"
    );
    session.runs[0].accesses[1].before = Some(1);
    let row = &intrusion.rows(&session.runs[0])[0].1;
    let sites: Vec<&str> = row.sites.iter().map(|site| session.sites[site.0 as usize].as_str()).collect();
    assert_eq!((row.shape.to_string(), sites), ("WRRW".to_owned(), vec!["set", "ask", "take", "store"]));
}

/// The test counts who is inside. That two are follows from what let them in.
#[test]
fn what_is_counted_is_known_as_such() {
    let counts = |trace: &str| {
        let (session, intrusion) = held(trace);
        intrusion.rows(&session.runs[0])[0].1.is_about_counts
    };
    assert!(counts("^U1(inside)@enter !U2(inside)@leave *U1(inside)@leave"));
    assert!(counts(
        "U2(inside)@leave ^W1(inside)@enter !R2(inside)@leave *W1(inside)@leave U2(inside)@enter"
    ));
    assert!(counts("^R1(free)@look W2(free)@take !U2(inside)@enter *U1(inside)@enter"));
    assert!(!counts("^R1(free)@look W2(free)@take *W1(free)@take"));
    assert!(!counts("^U1(size)@look !W2(size)@set *R1(size)@use"));
}

/// A list behind an atomic pointer is copied, added to and exchanged, as by two threads at a time.
#[test]
fn an_address_is_no_count() {
    let counts = |list: u64| {
        let trace = format!("^R1(list)@load !U2(list)@store={list} *U1(list)@store={list}");
        let (session, intrusion) = held(&trace);
        intrusion.rows(&session.runs[0])[0].1.is_about_counts
    };
    assert!(counts(7) && counts(u64::MAX), "of minus one as well");
    assert!(!counts(0x7ffe_3c00_0b80));
}

/// A count goes down to zero, another thread counts itself in and takes what is there, and the first one puts that away.
#[test]
fn an_update_is_one_though_it_is_on_record_as_a_read_and_a_write() {
    let first = "~R1(users)@leave ^W1(users)@leave=0 U2(users)@enter !R2(shared)@take *W1(shared)@close";
    assert_eq!(told(first), ["P18 leave enter take close"]);
    let best = |trace: &str| {
        let (session, intrusion) = held(trace);
        intrusion.rows(&session.runs[0])[0].0
    };
    let not_last = "^U1(users)@leave=1 U2(users)@enter !R2(shared)@take *W1(shared)@close U1(users)@leave=0";
    assert!(best(first) < best(not_last), "nobody goes by that");
    let runs = [
        "R5(users)@leave W5(users)@leave U7(users)@enter R7(shared)@take W5(shared)@close",
        "U5(users)@leave U7(users)@enter R7(shared)@take W5(shared)@close",
        "U5(users)@leave W5(users)@reset U7(users)@enter R7(shared)@take W5(shared)@close",
    ];
    assert_eq!(found(first, &runs), [Some(vec![0, 2, 3, 4]), Some(vec![0, 1, 2, 3]), None]);
}

/// What is begun is counted, and what is over is counted out: if that comes to zero before all is begun, it seems to be done.
#[test]
fn an_order_with_what_counts_down_to_zero_takes_just_that() {
    let first = "W1(open)@begin=1 !U2(open)@end=0 *U1(open)@begin=1";
    assert!(!row(first).1.is_about_counts);
    let runs = [
        "W3(open)@begin=1 U3(open)@begin=2 U5(open)@end=1 U3(open)@begin=2",
        "W3(open)@begin=1 U5(open)@end U3(open)@begin",
        "W3(open)@begin=1 U5(open)@end=0 U3(open)@begin=1",
    ];
    assert_eq!(found(first, &runs), [None, Some(vec![1, 2]), Some(vec![1, 2])]);
    let not_last = "W1(open)@begin=2 !U2(open)@end=1 *U1(open)@begin=2";
    assert!(row(not_last).1.is_about_counts);
    assert_eq!(found(not_last, &runs[..1]), [Some(vec![2, 3])]);
}

#[test]
fn reads_alone_are_nothing() {
    assert_eq!(told("^R1(x)@look !R2(x)@see *R1(x)@use"), Vec::<String>::new());
}

fn row(trace: &str) -> (support::Session, Row) {
    let (session, intrusion) = held(trace);
    let row = intrusion.rows(&session.runs[0])[0].1.clone();
    (session, row)
}

/// Where a row stands in other runs, whose sites are those of the first.
fn found(first: &str, others: &[&str]) -> Vec<Option<Vec<usize>>> {
    let (known, row) = row(first);
    let plain: String = first.chars().filter(|c| !"^!*~".contains(*c)).collect();
    let lines: String = std::iter::once(plain.as_str())
        .chain(others.iter().copied())
        .map(|trace| format!("F: {trace}\n"))
        .collect();
    let session = support::parse(&lines);
    assert_eq!(session.sites[..known.sites.len()], known.sites, "the same names");
    session.runs[1..].iter().map(|run: &Run| row.occurrence(run)).collect()
}

#[test]
fn a_row_is_found_where_its_steps_are_nearest() {
    let first = "^R1(x)@look !W2(x)@change *R1(x)@use";
    let runs = [
        "R5(x)@look R5(x)@look W7(x)@change R5(x)@use R5(x)@use",
        "R5(x)@look W7(x)@change R5(x)@look R5(x)@use",
        "R5(x)@look W7(x)@change R5(y)@look R5(x)@use",
        "R5(x)@look W7(x)@change R6(x)@use",
        "R5(x)@look W7(y)@change R5(x)@use",
        "R5(x)@look R5(x)@use W7(x)@change",
    ];
    let expected = [Some(vec![1, 2, 3]), None, Some(vec![0, 1, 3]), None, None, None];
    assert_eq!(found(first, &runs), expected);
}

#[test]
fn two_variables_stay_two() {
    let first = "^R1(a)@look W2(a)@replace W2(b)@release *R1(b)@retain";
    let runs = [
        "R1(a)@look W3(a)@replace W3(b)@release R1(b)@retain",
        "R1(a)@look W3(a)@replace W4(b)@release R1(b)@retain",
        "R1(a)@look W3(b)@release W3(a)@replace R1(b)@retain",
        "W3(a)@replace R1(a)@look W3(b)@release R1(b)@retain",
    ];
    assert_eq!(found(first, &runs), [Some(vec![0, 1, 2, 3]), None, None, None]);
}

/// A list is walked through, and the thing that was found is taken out: not the last one that was looked at.
#[test]
fn one_of_several_that_were_looked_at_is_found() {
    let first = "^R1(a)@look W2(a)@remove !R2(b)@count *W1(b)@pin";
    let runs = ["R5(a)@look R5(c)@look W7(a)@remove R7(b)@count W5(b)@pin"];
    assert_eq!(found(first, &runs), [Some(vec![0, 2, 3, 4])]);
}

/// Who frees a table looks at the mark of each reader; the one that counts is not the first.
#[test]
fn one_of_several_that_the_other_thread_has_been_at_is_found() {
    let first = "^R1(table)@load W2(table)@replace !R2(mark)@scan *W1(mark)@mark";
    let run = "R5(table)@load W7(table)@replace R7(of_another)@scan R7(mark)@scan W5(mark)@mark";
    assert_eq!(found(first, &[run]), [Some(vec![0, 1, 3, 4])]);
}

/// A table grows under its locks. Another thread has computed by the old size where something goes, waits for a lock, and puts it there.
#[test]
fn who_has_looked_and_waits_acts_on_it_later() {
    let trace = "!R2(size)@look *W1(size)@grow W1(old)@empty R2(old)@find W2(old)@put";
    let session = support::parse(&format!("F: {}", trace.replace(['!', '*'], "")));
    let run = &session.runs[0];
    let intrusion = Intrusion { decisive: vec![0], between: vec![0], act: vec![1], ..Intrusion::default() };
    let names =
        |row: &Row| row.sites.iter().map(|site| session.sites[site.0 as usize].as_str()).collect::<Vec<_>>();
    let rows = intrusion.from_the_other_side(run)[0].rows(run);
    assert_eq!(names(&rows[0].1), ["look", "grow", "empty", "find"]);
    let waits_on = Intrusion { act: vec![4], ..intrusion };
    assert_eq!(waits_on.from_the_other_side(run), []);
    let sides = |look: &str| {
        let (session, intrusion) = held(&format!("^{look} !W2(list)@add *R1(list)@walk R2(list)@use"));
        intrusion.from_the_other_side(&session.runs[0]).len()
    };
    assert_eq!(sides("R1(list)@look"), 0, "it is about what the held one had looked at");
    assert_eq!(sides("R1(name)@log"), 1, "nobody has changed that");
}

/// A client finds that a bucket is to be filled and waits for the lock of another one that has found the same; that the clock goes on meanwhile is what
/// decides, since otherwise it would have found it full.
#[test]
fn who_does_nothing_that_decides_but_waits_has_looked_as_well() {
    let (session, intrusion) =
        held("^R1(filled)@look R2(filled)@look !W3(clock)@tick *W1(filled)@fill W2(filled)@fill");
    let run = &session.runs[0];
    let others = intrusion.from_the_other_side(run);
    assert_eq!(others.len(), 1, "who decides is about the clock");
    let (_, row) = &others[0].rows(run)[0];
    assert_eq!(row.shape, PatternId::P7.into());
    let sites: Vec<&str> = row.sites.iter().map(|site| session.sites[site.0 as usize].as_str()).collect();
    assert_eq!(sites, ["look", "fill", "fill"]);
}

/// A list is read and emptied in one section, a count of that goes up with it, and the lists are written down one after the other.
#[test]
fn statistics_beside_what_was_done_are_told_last() {
    let trace = "^R1(list)@see ^W1(list)@empty ^R1(times)@read ^W1(times)@count W2(list)@add R2(list)@swap R2(times)@read \
                 W2(times)@count !R2(file)@last !W2(file)@append *R1(file)@last *W1(file)@append R0(times)@print";
    let told = told(&trace.replace('\\', ""));
    assert!(told.iter().all(|row| row.contains("empty")), "{told:?}");
    assert!(told.iter().any(|row| row.starts_with("P12 empty swap")), "{told:?}");
}

/// Who takes from what is left goes by that.
#[test]
fn what_is_used_up_is_no_count() {
    let counts = |left: u64| {
        let trace = format!(
            "^R1(left)@see ^W1(left)@take={left} R2(left)@see W2(left)@take={left} !W2(file)@write *R1(file)@read"
        );
        let (mut session, intrusion) = held(&trace);
        for access in &mut session.runs[0].accesses {
            access.before = access.kind.writes().then_some(3);
        }
        let rows = intrusion.rows(&session.runs[0]);
        rows.iter().all(|(_, row)| !row.sites.iter().any(|site| session.sites[site.0 as usize] == "take"))
    };
    assert!(counts(4) && !counts(2));
}

/// What a thread has written itself meanwhile is what it finds, or what the other has found.
#[test]
fn who_writes_over_it_itself_does_not_go_by_what_the_other_did() {
    let first = "^R1(x)@look !W2(x)@change *R1(x)@use";
    let runs = [
        "R5(x)@look W5(x)@own W7(x)@change R5(x)@use",
        "R5(x)@look W7(x)@change W5(x)@own R5(x)@use",
        "R5(x)@look W7(x)@change W7(x)@own R5(x)@use",
    ];
    assert_eq!(found(first, &runs), [None, None, Some(vec![0, 1, 3])]);
}

/// A buffer is given back before it is cleared. Who takes it finds what was in it; that it clears it, too, changes nothing.
#[test]
fn what_is_done_besides_does_not_decide() {
    let deciding = |trace: &str| {
        let (session, intrusion) = held(trace);
        intrusion.deciding_orders(&session.runs[0])
    };
    assert_eq!(
        deciding("^W1(free)@put R2(free)@get !R2(used)@fill W2(used)@clear *W1(used)@clear"),
        [(2, 4)]
    );
    assert_eq!(deciding("^W1(free)@put R2(used)@fill W2(used)@clear *W1(used)@clear"), [(1, 3), (2, 3)]);
    assert_eq!(deciding("^W1(free)@put !R2(free)@get R2(used)@fill *W1(used)@clear"), [(2, 3)], "of others");
}

/// A handle is looked up, replaced and let go of, and then counted in. Whoever had counted itself in before that holds another one by now; and one that was
/// handed out anew in between is as good as it was.
#[test]
fn what_was_looked_up_is_used_in_the_same_round() {
    let first = "^R1(slot)@find W2(slot)@clear !U2(users)@release *U1(users)@retain W2(users)@reuse";
    let runs = [
        "R5(slot)@find W7(slot)@clear U7(users)@release U5(users)@retain",
        "R5(slot)@find U5(users)@retain W7(slot)@clear U7(users)@release U5(users)@retain",
        "R5(slot)@find W7(slot)@clear U7(users)@release W7(users)@reuse U5(users)@retain",
    ];
    assert_eq!(found(first, &runs), [Some(vec![0, 1, 2, 3]), None, None]);
}

/// Two reserve places, and the one who has the last one announces all: a third thread reads before the first place is filled.
#[test]
fn who_counts_what_it_takes_is_told_where_it_takes_three() {
    let trace = "^U1(used)@reserve U2(used)@reserve !R3(filled)@drain *U1(filled)@fill";
    assert_eq!(told(trace), ["P1 drain fill"], "nothing says that the second one matters");
    let (session, mut intrusion) = held(trace);
    intrusion.also = vec![session.runs[0].accesses[1].thread];
    let rows = intrusion.rows(&session.runs[0]);
    let (_, row) = &rows[0];
    assert_eq!((format!("{:?}", row.shape).as_str(), row.is_about_counts), ("W1x-W2x-R3y-W1y", false));
    assert!(row.occurrence(&session.runs[0]).is_some());
}
