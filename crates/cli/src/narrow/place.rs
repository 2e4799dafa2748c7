//! Where a failing run goes wrong, as places in the code, and how much of a finding is what happens there.

use localize::{AccessKind, Intrusion, Pattern, PatternId, Row, Run, SiteId, Step};
use report::{Confirmation, Window};

use super::Doings;
use super::first::{Narrowed, Put};

/// How far what goes wrong for the thread that was not held is from the best rows: an order that tells by itself goes before it.
const FROM_THE_OTHER_SIDE: u8 = 16;

/// How much of a finding is what happens there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    Not,
    /// It is the order that decides, without what the held thread had looked at.
    Order,
    /// It has the order that decides.
    Act,
    /// And it begins with what the held thread had done just before.
    Whole,
}

/// When it is a place's turn to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Turn {
    GoesOn,
    /// It is about what is counted.
    Counts,
    /// The run ends there with what others do: where it goes on from another place, that is what brought it here.
    Ends,
}

/// Where a failing run goes wrong: the places in the code of what happens there.
pub struct Place {
    look: Vec<SiteId>,
    decisive: Vec<SiteId>,
    act: Vec<SiteId>,
    /// What another thread does in between and what the held one does then, to the same data.
    orders: Vec<(SiteId, SiteId)>,
    /// What decides and what the held thread does to the same data after that and before it acts: it is too late by then, as where two threads
    /// have looked and each of them goes on to what it does by that.
    sooner: Vec<(SiteId, SiteId)>,
    /// All that others do in between, if the run ends with that: what the held thread would have done then is not on record.
    ends_with: Option<Vec<SiteId>>,
    /// What the held thread has done one step later, when the run passes; nothing if that is not known.
    missing: Vec<SiteId>,
    pub rows: Vec<(u8, Row)>,
    proof: Option<Confirmation>,
    window: Window,
}

impl Place {
    pub fn new(doings: Doings, proof: Option<Confirmation>, window: Window) -> Place {
        let Doings { profile, intrusion, too_early, beyond, .. } = doings;
        let site = |index: usize| profile.run.accesses[index].site;
        let orders = intrusion.deciding_orders(&profile.run);
        let orders = orders.into_iter().map(|(one, other)| (site(one), site(other)));
        let sooner =
            sooner(&profile.run, &intrusion).into_iter().map(|(one, other)| (site(one), site(other)));
        let sites = |indices: &[usize]| indices.iter().map(|&index| site(index)).collect();
        let mut rows = intrusion.rows(&profile.run);
        for other in intrusion.from_the_other_side(&profile.run) {
            let with_look = other.rows(&profile.run).into_iter().filter(|(_, row)| row.sites.len() > 2);
            rows.extend(with_look.map(|(class, row)| (class + FROM_THE_OTHER_SIDE, row)));
        }
        Place {
            look: sites(&intrusion.look),
            decisive: sites(&intrusion.decisive),
            act: sites(&intrusion.act),
            sooner: sooner.collect(),
            orders: orders.chain(too_early.iter().copied()).collect(),
            ends_with: intrusion
                .act
                .is_empty()
                .then(|| intrusion.between.iter().map(|&index| site(index)).collect()),
            missing: beyond.map_or_else(Vec::new, |(profile, last)| {
                last.iter().map(|&index| profile.run.accesses[index].site).collect()
            }),
            rows,
            proof,
            window,
        }
    }

    /// What is known of a finding that was put first since it happens here.
    pub fn put(&self, proves: bool, is_whole: bool) -> Put {
        let proof = self.proof.filter(|_| proves);
        Put { narrowed: proof.map(|proof| Narrowed { proof, is_whole }), window: self.window.clone() }
    }

    pub fn has_look(&self) -> bool {
        !self.look.is_empty()
    }

    /// Whether a pattern of a row here takes that somebody is the last.
    pub fn takes_zero(&self, pattern: &Pattern) -> bool {
        self.rows.iter().any(|(_, row)| row.to_zero.is_some() && row.pattern() == *pattern)
    }

    pub fn turn(&self) -> Turn {
        self.rows.first().map_or(Turn::Ends, |(_, best)| match best.is_about_counts {
            true => Turn::Counts,
            false => Turn::GoesOn,
        })
    }

    pub fn fit(&self, pattern: &Pattern) -> Fit {
        let sites = pattern.sites().iter().copied();
        let steps: Vec<(Step, SiteId)> = pattern.shape().steps().zip(sites).collect();
        if self.ends_with.as_ref().is_some_and(|between| self.begins(&steps, between)) {
            return Fit::Whole;
        }
        let mut best = Fit::Not;
        for second in 1..steps.len() {
            for first in 0..second {
                let ((one, other_site), (two, own_site)) = (steps[first], steps[second]);
                let is_order = one.variable == two.variable && one.thread != two.thread;
                let looked = steps[..second].iter().find(|(step, _)| step.thread == two.thread);
                let order = (other_site, own_site);
                let has_looked = looked.is_some_and(|(_, site)| self.look.contains(site));
                let decides = self.orders.contains(&order) || has_looked && self.sooner.contains(&order);
                // What comes then about other data follows from it.
                let ends = steps[second + 1..].iter().all(|(step, _)| step.variable == two.variable);
                if !is_order || !decides || !ends {
                    continue;
                }
                let fit = match looked {
                    Some((_, site)) if self.look.contains(site) => Fit::Whole,
                    // Where the run ends in between, the order is all that there is to tell.
                    None if (self.look.is_empty() || self.ends_with.is_some()) && steps.len() == 2 => {
                        Fit::Whole
                    }
                    // What it is about to do, it has done in an earlier round as well: that is not what it had looked at.
                    Some((_, site)) if *site != own_site && !self.act.contains(site) => Fit::Act,
                    None if steps.len() > 2 && self.look.is_empty() => Fit::Act,
                    _ => Fit::Order,
                };
                best = best.max(fit);
            }
        }
        best
    }

    /// Whether the look is at the very data that another thread changes before the held one acts on it, and a pattern begins with what that one did
    /// to other data before: that is outside of where the run goes wrong.
    pub fn begins_after(&self, pattern: &Pattern) -> bool {
        let steps: Vec<(Step, SiteId)> =
            pattern.shape().steps().zip(pattern.sites().iter().copied()).collect();
        let [(first, begin), rest @ ..] = steps.as_slice() else { return false };
        let has = |site: SiteId, is_own: bool| {
            rest.iter().any(|(step, at)| {
                *at == site && (step.thread == first.thread) == is_own && step.variable != first.variable
            })
        };
        let is_outside = |row: &Row| match row.sites[..] {
            [look, other, act] => self.look.contains(&look) && has(other, false) && has(act, true),
            _ => false,
        };
        !self.look.contains(begin) && self.rows.iter().any(|(_, row)| is_outside(row))
    }

    /// Whether who breaks in here was in between two steps of its own: it had given away what the held thread took then, and goes on with it.
    pub fn is_let_in_by(&self, pattern: &Pattern) -> bool {
        let breaks_in = |site: &SiteId| self.orders.iter().any(|(other, _)| other == site);
        match *pattern.sites() {
            [.., own, other] => {
                pattern.shape() == PatternId::P9.into() && self.look.contains(&own) && breaks_in(&other)
            }
            _ => false,
        }
    }

    /// Whether what the held thread does here, by a look that is outdated then, is what decides at another place, and what another thread does meanwhile is
    /// what had been looked at there: who is broken into there, let the other one in by coming here.
    pub fn lets_in(&self, later: &Place) -> bool {
        let share = |one: &[SiteId], other: &[SiteId]| one.iter().any(|site| other.contains(site));
        let is_of_look = |(_, row): &(u8, Row)| {
            row.sites.len() > 2 && !row.is_about_counts && self.look.contains(&row.sites[0])
        };
        // What takes away there what had been looked at is as good as what decides.
        let takes_away = |(_, row): &(u8, Row)| row.sites.len() > 2 && share(&self.act, &row.sites[1..2]);
        (share(&self.act, &later.decisive) || later.rows.iter().any(takes_away))
            && share(&self.decisive, &later.look)
            && self.rows.iter().any(is_of_look)
    }

    /// Whether a pattern ends with what others find when the held thread has acted.
    pub fn is_found_out(&self, pattern: &Pattern) -> bool {
        let steps: Vec<(Step, SiteId)> =
            pattern.shape().steps().zip(pattern.sites().iter().copied()).collect();
        let [(before, decides), (own, acts), rest @ ..] = steps.as_slice() else { return false };
        self.orders.contains(&(*decides, *acts))
            && before.thread != own.thread
            && !rest.is_empty()
            && rest.iter().all(|(step, _)| step.thread == before.thread)
    }

    /// Whether two orders that cross begin with the same one as another pattern does, and go on with something else that others do here.
    pub fn begins_like(&self, pattern: &Pattern, other: &Pattern) -> bool {
        let [one, two] = [pattern.sites(), other.sites()];
        one.len() == 4
            && pattern.shape() == other.shape()
            && one[..2] == two[..2]
            && self.decisive.contains(&one[2])
    }

    /// Whether a pattern begins with what decides here and the held thread finds, and goes on with something else that this one reads before the other has
    /// written it: what was announced was not ready yet.
    pub fn is_published(&self, pattern: &Pattern) -> bool {
        let announced = match pattern.shape().row() {
            Some(PatternId::P12) => Some(1),
            Some(PatternId::P13) => Some(2),
            _ => None,
        };
        let sites = pattern.sites();
        announced.is_some_and(|found| self.orders.contains(&(sites[0], sites[found])))
    }

    /// Whether a pattern begins with the look, goes on with what others did, and ends with the thread that was held.
    fn begins(&self, steps: &[(Step, SiteId)], between: &[SiteId]) -> bool {
        let [(look, site), others @ .., (act, missing)] = steps else { return false };
        self.look.contains(site)
            && (self.missing.is_empty() || self.missing.contains(missing))
            && look.thread == act.thread
            && others.iter().all(|(step, site)| step.thread != look.thread && between.contains(site))
            && others.iter().any(|(step, _)| step.variable == look.variable)
            && others.iter().any(|(step, _)| step.variable == act.variable)
    }
}

/// What decides, each with what the thread that has looked does to the same data when it goes on, up to where it acts.
fn sooner(run: &Run, intrusion: &Intrusion) -> Vec<(usize, usize)> {
    let accesses = &run.accesses;
    let (Some(&look), Some(&last), Some(&act)) =
        (intrusion.look.first(), intrusion.between.last(), intrusion.act.first())
    else {
        return Vec::new();
    };
    let held = accesses[look].thread;
    let own = (last + 1..act).filter(|&index| accesses[index].thread == held);
    let conflicts = |one: usize, other: usize| {
        accesses[one].location == accesses[other].location
            && (accesses[one].kind.writes() || accesses[other].kind.writes())
    };
    // What both count comes out alike in any order.
    let are_updates =
        |one: usize, other: usize| [one, other].iter().all(|&at| accesses[at].kind == AccessKind::Update);
    own.flat_map(|own| intrusion.decisive.iter().map(move |&other| (other, own)))
        .filter(|&(other, own)| conflicts(other, own) && !are_updates(other, own))
        .collect()
}
#[cfg(test)]
mod tests {
    use localize::{Access, LocationId, Outcome, RunId, StackId, ThreadId};

    use super::*;

    const LOOK: SiteId = SiteId(1);
    const CHANGE: SiteId = SiteId(2);
    const OTHER_CHANGE: SiteId = SiteId(3);
    const ACT: SiteId = SiteId(4);
    const ELSEWHERE: SiteId = SiteId(5);

    fn row(id: PatternId) -> Row {
        Row {
            shape: id.into(),
            sites: vec![LOOK, CHANGE, ACT],
            calls: vec![LOOK, CHANGE, ACT],
            is_about_counts: false,
            is_around: false,
            to_zero: None,
        }
    }

    fn place(ends_with: Option<Vec<SiteId>>) -> Place {
        let orders = if ends_with.is_none() { vec![(CHANGE, ACT)] } else { Vec::new() };
        let window = Window {
            run: 1,
            switches: 9,
            left: 2,
            after: None,
            through: Vec::new(),
            meanwhile: None,
            before: None,
        };
        let (rows, sooner) = (Vec::new(), Vec::new());
        let (decisive, act) = (vec![CHANGE], vec![ACT]);
        let missing = Vec::new();
        Place {
            look: vec![LOOK],
            decisive,
            act,
            orders,
            sooner,
            ends_with,
            missing,
            rows,
            proof: None,
            window,
        }
    }

    /// Two threads have each looked before the other writes, so that it is too late from the look on, whatever the held one does first.
    #[test]
    fn what_is_done_before_the_act_is_done_too_late_as_well() {
        let place = Place { sooner: vec![(CHANGE, OTHER_CHANGE)], ..place(None) };
        let fit = |sites: &[SiteId]| place.fit(&Pattern::new(PatternId::P7, sites));
        assert_eq!(fit(&[LOOK, CHANGE, OTHER_CHANGE]), Fit::Whole);
        assert_eq!(fit(&[ELSEWHERE, CHANGE, OTHER_CHANGE]), Fit::Not, "that is not what it goes by");
    }

    #[test]
    fn what_was_looked_at_and_then_done_is_all_of_it() {
        let fit = |sites: &[SiteId]| place(None).fit(&Pattern::new(PatternId::P4, sites));
        assert_eq!(fit(&[LOOK, CHANGE, ACT]), Fit::Whole);
        assert_eq!(fit(&[ELSEWHERE, CHANGE, ACT]), Fit::Act);
        assert_eq!(fit(&[LOOK, OTHER_CHANGE, ACT]), Fit::Not);
        assert_eq!(place(None).fit(&Pattern::new(PatternId::P2, &[CHANGE, ACT])), Fit::Order);
    }

    /// A slot is claimed, read by another thread before it is filled, and the run ends with that: what is missing is that it is filled, not that the next
    /// one is claimed.
    #[test]
    fn what_was_not_done_before_the_end_is_what_is_done_one_step_later() {
        let place = |missing| Place { missing, ..place(Some(vec![CHANGE])) };
        let fit = |missing, act| place(missing).fit(&Pattern::new(PatternId::P8, &[LOOK, CHANGE, act]));
        assert_eq!(fit(vec![ACT], ACT), Fit::Whole);
        assert_eq!(fit(vec![ACT], LOOK), Fit::Not);
        assert_eq!(fit(Vec::new(), LOOK), Fit::Whole, "nothing is known of it");
    }

    /// What stands in one line, as `queued++`, is two places in the code.
    #[test]
    fn what_is_about_to_be_done_is_no_look_of_an_earlier_round() {
        let place = Place { act: vec![ACT, OTHER_CHANGE], ..place(None) };
        let fit = |first| place.fit(&Pattern::new(PatternId::P5, &[first, CHANGE, ACT]));
        assert_eq!(fit(ELSEWHERE), Fit::Act);
        assert_eq!(fit(OTHER_CHANGE), Fit::Order);
    }

    /// A handle is used while it is closed, and the run ends with that: it had been looked up before, and was then counted in.
    #[test]
    fn what_a_run_goes_on_from_is_told_before_what_it_ends_with() {
        let turn = |is_about_counts: bool| {
            let row = Row { is_about_counts, ..row(PatternId::P4) };
            Place { rows: vec![(0, row)], ..place(None) }.turn()
        };
        let ends = place(Some(vec![CHANGE])).turn();
        assert!(turn(false) < turn(true) && turn(true) < ends);
    }

    /// A maximum is read and written, and before that a total is updated: a thread held in between of these two does no harm.
    #[test]
    fn what_is_done_to_other_data_before_the_look_is_no_part_of_it() {
        let row = row(PatternId::P7);
        let narrow = Place { rows: vec![(0, row)], ..place(None) };
        let beginning = |begin: SiteId| Pattern::new(PatternId::P9, &[begin, OTHER_CHANGE, CHANGE, ACT]);
        assert!(narrow.begins_after(&beginning(ELSEWHERE)));
        assert!(!narrow.begins_after(&beginning(LOOK)));
        assert!(!place(None).begins_after(&beginning(ELSEWHERE)), "nothing is known of a look at that");
    }

    /// A reaper has seen that a connection is idle, its user takes it up again, and the reaper closes it. That it is closed then between two
    /// uses of it follows from that.
    #[test]
    fn who_acts_by_an_outdated_look_lets_itself_in_elsewhere() {
        let row = row(PatternId::P7);
        let reaper = Place { rows: vec![(0, row)], ..place(None) };
        let user = || Place { look: vec![CHANGE], decisive: vec![ACT], act: vec![ELSEWHERE], ..place(None) };
        assert!(reaper.lets_in(&user()) && !user().lets_in(&reaper));
        assert!(!place(None).lets_in(&user()), "nothing was looked at that changes");
        // It is taken out of a list before it is closed.
        let takes_away =
            Row { sites: vec![CHANGE, ACT, OTHER_CHANGE, ELSEWHERE], ..self::row(PatternId::P14) };
        let user_of_list = Place { decisive: vec![OTHER_CHANGE], rows: vec![(0, takes_away)], ..user() };
        assert!(reaper.lets_in(&user_of_list) && !user_of_list.lets_in(&reaper));
        assert!(!reaper.lets_in(&Place { look: vec![OTHER_CHANGE], ..user() }), "of something else");
    }

    /// It is put away in between, and is missed later: that it was about to be put away is what goes wrong.
    #[test]
    fn what_others_find_then_comes_of_it() {
        let is_found_out = |sites: &[SiteId]| place(None).is_found_out(&Pattern::new(PatternId::P4, sites));
        assert!(is_found_out(&[CHANGE, ACT, ELSEWHERE]));
        assert!(!is_found_out(&[LOOK, CHANGE, ACT]), "that ends with the act");
        assert!(!is_found_out(&[OTHER_CHANGE, ACT, ELSEWHERE]));
        assert!(!place(None).is_found_out(&Pattern::new(PatternId::P2, &[CHANGE, ACT])));
    }

    /// An element is taken out of a list, and the references of the two threads to it are counted out.
    #[test]
    fn what_both_count_is_done_neither_soon_nor_late() {
        let access = |thread: u32, kind: AccessKind| Access {
            thread: ThreadId(thread),
            location: LocationId(0),
            site: SiteId(thread),
            stack: StackId(0),
            kind,
            uncertain: false,
            value: None,
            before: None,
            locks: None,
            iteration: None,
            atomic: false,
            frees: false,
        };
        let done_sooner = |kind: AccessKind| {
            let mut run = Run::new(RunId(1), Outcome::Fail);
            run.accesses =
                vec![access(1, AccessKind::Read), access(2, kind), access(1, kind), access(1, kind)];
            let (look, between, decisive, act) = (vec![0], vec![1], vec![1], vec![3]);
            sooner(&run, &Intrusion { look, between, decisive, act, ..Intrusion::default() })
        };
        assert_eq!(done_sooner(AccessKind::Write), [(1, 2)]);
        assert_eq!(done_sooner(AccessKind::Update), []);
    }

    /// Two threads write what each has read before, and one of them reads it in its next round: that it was written twice is not all of it.
    #[test]
    fn what_has_nothing_of_the_look_is_but_the_order() {
        let own = Pattern::new(PatternId::P5, &[CHANGE, ACT, ELSEWHERE]);
        assert_eq!(place(None).fit(&own), Fit::Order);
        assert_eq!(Place { look: Vec::new(), ..place(None) }.fit(&own), Fit::Act, "nothing was looked at");
    }

    /// That says no more than the order: in a loop, everything was done before.
    #[test]
    fn the_same_place_in_an_earlier_round_is_no_look() {
        let in_two_rounds = Pattern::new(PatternId::P4, &[ACT, CHANGE, ACT]);
        assert_eq!(place(None).fit(&in_two_rounds), Fit::Order);
    }

    /// An audit ends the run while a thread is between two changes: what it would have changed then is not known.
    #[test]
    fn a_run_that_ends_in_between_is_told_by_how_it_begins() {
        let place = place(Some(vec![CHANGE, OTHER_CHANGE]));
        let fit = |sites: &[SiteId]| place.fit(&Pattern::new(PatternId::P12, sites));
        assert_eq!(fit(&[LOOK, CHANGE, OTHER_CHANGE, ACT]), Fit::Whole);
        assert_eq!(fit(&[ELSEWHERE, CHANGE, OTHER_CHANGE, ACT]), Fit::Not);
        assert_eq!(fit(&[LOOK, CHANGE, ELSEWHERE, ACT]), Fit::Not);
        assert_eq!(place.fit(&Pattern::new(PatternId::P2, &[LOOK, CHANGE])), Fit::Not, "the thread goes on");
    }

    /// A worker is announced, found without a sign of life, and the run ends with that: what is missing is known from the runs that go on.
    #[test]
    fn what_is_announced_before_it_is_there_is_told_by_what_was_missing() {
        let place = place(None);
        let of = |id: PatternId, sites: [SiteId; 4]| place.is_published(&Pattern::new(id, &sites));
        assert!(of(PatternId::P12, [CHANGE, ACT, OTHER_CHANGE, ELSEWHERE]));
        assert!(of(PatternId::P13, [CHANGE, OTHER_CHANGE, ACT, ELSEWHERE]));
        assert!(!of(PatternId::P12, [ELSEWHERE, ACT, OTHER_CHANGE, CHANGE]), "another order");
        assert!(!of(PatternId::P14, [CHANGE, ACT, OTHER_CHANGE, ELSEWHERE]), "nothing is announced");
    }

    /// A handle is given back, had by another one, who watches it, and then no longer watched by the first one.
    #[test]
    fn who_breaks_in_may_have_given_away_what_it_goes_on_with() {
        let place = place(None);
        let of = |id: PatternId, sites: [SiteId; 4]| place.is_let_in_by(&Pattern::new(id, &sites));
        assert!(of(PatternId::P9, [ELSEWHERE, OTHER_CHANGE, LOOK, CHANGE]));
        assert!(!of(PatternId::P9, [ELSEWHERE, OTHER_CHANGE, CHANGE, LOOK]), "the held one acts");
        assert!(!of(PatternId::P12, [ELSEWHERE, OTHER_CHANGE, LOOK, CHANGE]), "nothing is written over");
    }

    /// A set and the number of its members are changed in one section: the edges do not tell which of them matters.
    #[test]
    fn what_begins_alike_may_go_on_with_another_thing_of_the_section() {
        let of = |id: PatternId, sites: [SiteId; 4]| Pattern::new(id, &sites);
        let told = of(PatternId::P9, [LOOK, ELSEWHERE, OTHER_CHANGE, ACT]);
        let is_alike = |pattern: Pattern| place(None).begins_like(&pattern, &told);
        assert!(is_alike(of(PatternId::P9, [LOOK, ELSEWHERE, CHANGE, ELSEWHERE])));
        assert!(!is_alike(of(PatternId::P9, [LOOK, CHANGE, CHANGE, ELSEWHERE])), "another look");
        assert!(!is_alike(of(PatternId::P9, [LOOK, ELSEWHERE, ELSEWHERE, ACT])), "that decides nothing");
    }
}
