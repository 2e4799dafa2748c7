//! How long each technique takes on synthetic runs of the size of the largest case in the Locon paper:
//! 780,977 pairs of accesses in each of 100 runs.
//!
//! ```text
//! cargo run --release -p unsnarl-localize --example speed [pairs [runs [threads]]]
//! cargo run --release -p unsnarl-localize --example speed patterns [count]
//! ```
//!
//! The second clusters patterns as Griffin does: 71,694 of them, the largest number in the thesis. `cargo xtask bench`
//! runs both and reads the last number that they print. Runs are made and looked at by two threads. Making them is not counted, and neither is waiting: the
//! seconds are those of a processor.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use localize::*;

const WORKERS: usize = 2;

fn main() {
    let mut words = std::env::args().skip(1).peekable();
    let clusters = words.next_if(|word| word == "patterns").is_some();
    let mut numbers = words.map(|word| word.parse::<u32>().expect("a number"));
    if clusters {
        return cluster(numbers.next().unwrap_or(71_694));
    }
    let pairs = numbers.next().unwrap_or(780_977);
    let runs = numbers.next().unwrap_or(100);
    let threads = numbers.next().unwrap_or(8);

    let options = Options::default();
    let gathering = || Technique::all().filter(|technique| technique.basis() == *technique);
    let meters: Vec<Mutex<Meter>> = gathering().map(|technique| Mutex::new(Meter::new(technique))).collect();
    let next = AtomicU32::new(0);
    let sorting = Mutex::new(Duration::ZERO);
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                loop {
                    let id = next.fetch_add(1, Ordering::Relaxed);
                    if id >= runs {
                        break;
                    }
                    let outcome = if id == 0 { Outcome::Fail } else { Outcome::Pass };
                    let run = synthetic_run(RunId(id), outcome, pairs as usize, threads);
                    let start = processor_time();
                    let scan = Scan::new(&run, &options);
                    *sorting.lock().unwrap() += processor_time() - start;
                    for (technique, meter) in gathering().zip(&meters) {
                        let start = processor_time();
                        let reduced = technique.reduce_scanned(&scan);
                        let looked_at = processor_time() - start;
                        let mut meter = meter.lock().unwrap();
                        let start = processor_time();
                        meter.collector.add(&reduced);
                        meter.adding += processor_time() - start;
                        meter.looking += looked_at;
                    }
                }
            });
        }
    });

    let meters: Vec<Meter> = meters.into_iter().map(|meter| meter.into_inner().unwrap()).collect();
    let meter_of =
        |technique: Technique| meters.iter().find(|meter| meter.technique == technique.basis()).unwrap();
    let (next, rankings) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let longest = Mutex::new(Duration::ZERO);
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                let begin = processor_time();
                while let Some(technique) = Technique::all().nth(next.fetch_add(1, Ordering::Relaxed)) {
                    let start = processor_time();
                    let findings = meter_of(technique).collector.findings_of(technique).len();
                    rankings.lock().unwrap().insert(technique, (processor_time() - start, findings));
                }
                let mut longest = longest.lock().unwrap();
                *longest = (processor_time() - begin).max(*longest);
            });
        }
    });

    println!("{runs} runs of {pairs} pairs; seconds");
    println!("{:24} {:>8} {:>8} {:>8} {:>9}", "technique", "look", "add", "rank", "findings");
    let sorting = sorting.into_inner().unwrap();
    println!("{:24} {:8.2}", "what all of them share", sorting.as_secs_f64());
    let mut shared = sorting;
    for (technique, (ranking, findings)) in rankings.into_inner().unwrap() {
        let meter = meter_of(technique);
        let [look, add, rank] = [meter.looking, meter.adding, ranking].map(|time| time.as_secs_f64());
        if technique == meter.technique {
            shared += meter.looking + meter.adding;
            println!("{technique:24} {look:8.2} {add:8.2} {rank:8.2} {findings:9}");
        } else {
            println!("{technique:24} {:>8} {:>8} {rank:8.2} {findings:9}", "", "");
        }
    }
    let all = shared / WORKERS as u32 + longest.into_inner().unwrap();
    println!("all techniques on {WORKERS} threads: {:.3}", all.as_secs_f64());
}

/// What this thread has used so far.
fn processor_time() -> Duration {
    let statistics =
        std::fs::read_to_string("/proc/thread-self/schedstat").expect("statistics of the Linux scheduler");
    let nanoseconds = statistics.split(' ').next().and_then(|number| number.parse().ok());
    Duration::from_nanos(nanoseconds.expect("a number"))
}

struct Meter {
    technique: Technique,
    collector: Collector,
    looking: Duration,
    adding: Duration,
}

impl Meter {
    fn new(technique: Technique) -> Self {
        let collector = Collector::new(technique, &Options::default());
        Self { technique, collector, looking: Duration::ZERO, adding: Duration::ZERO }
    }
}

const LOCATIONS: u32 = 20_000;
/// Kinds of data, each with sites of its own and with a script by which two threads exchange it. So many that
/// Falcon finds about as many patterns as in that case of the paper: 1670. Most of them are used in a run, so
/// that runs differ.
const KINDS: u32 = 16;
const STEPS: u32 = 6;

/// Two threads at a time exchange data by the script, and now and then a third one joins in, until so many
/// pairs have come about.
fn synthetic_run(id: RunId, outcome: Outcome, pairs: usize, threads: u32) -> Run {
    let mut random = Random(u64::from(id.0) + 1);
    let used: Vec<bool> = (0..KINDS).map(|_| random.below(8) != 0).collect();
    // The last writer, and who has read since.
    let mut state: Vec<(Option<u32>, Vec<u32>)> = vec![(None, Vec::new()); LOCATIONS as usize];
    let mut accesses = Vec::with_capacity(pairs);
    let mut made = 0;
    while made < pairs {
        let location = random.below(LOCATIONS);
        let kind = location % KINDS;
        if !used[kind as usize] {
            continue;
        }
        let mut script = Random(u64::from(kind));
        for step in 0..STEPS {
            let (role, writes) = (script.below(2), script.below(2) == 0);
            let thread =
                if random.below(50) == 0 { random.below(threads) } else { (location + role) % threads };
            let site = STEPS * kind + step;
            made += pairs_with_earlier(&mut state[location as usize], thread, writes);
            accesses.push(access(thread, location, site, writes));
        }
    }
    Run { accesses, ..Run::new(id, outcome) }
}

/// How many accesses one more access immediately depends on.
fn pairs_with_earlier((writer, readers): &mut (Option<u32>, Vec<u32>), thread: u32, writes: bool) -> usize {
    let other_writer = writer.filter(|&writer| writer != thread);
    if writes {
        let others = readers.iter().filter(|&&reader| reader != thread).count();
        let unread = other_writer.filter(|writer| !readers.contains(writer) && !readers.contains(&thread));
        *writer = Some(thread);
        readers.clear();
        others + usize::from(unread.is_some())
    } else if readers.contains(&thread) {
        0
    } else {
        readers.push(thread);
        usize::from(other_writer.is_some())
    }
}

/// Each of so many patterns is seen in the failing runs of one of three bugs, or in any runs.
fn cluster(count: u32) {
    const RUNS: u32 = 100;
    const BUGS: u32 = 3;
    let mut random = Random(1);
    let mut finding = |nth: u32| {
        let pattern = Pattern::new(PatternId::P7, &[SiteId(nth), SiteId(nth / 2), SiteId(nth / 3)]);
        let bug = (nth < count / 10).then_some(nth % BUGS);
        let shows = |run: &u32| bug.map_or(random.below(4) == 0, |bug| run % BUGS == bug);
        let failing_runs: Vec<RunId> = (0..RUNS).filter(shows).map(RunId).collect();
        let passed = if bug.is_some() { 0 } else { 1 + nth % 100 };
        let failed = failing_runs.len() as u32;
        Finding {
            rank: 1,
            tied: 1,
            score: f64::from(failed) / f64::from(RUNS + passed),
            failed,
            passed,
            pattern,
            example: Example { run: RunId(0), id: pattern.shape(), accesses: vec![0, 1, 2] },
            failing_runs,
            detail: Detail::Accesses,
        }
    };
    let mut findings: Vec<Finding> = (0..count).map(&mut finding).collect();
    findings.sort_by(|a, b| b.score.total_cmp(&a.score));
    let calls = |nth: usize| {
        let sites = findings[nth].pattern.sites().iter().zip(findings[nth].pattern.shape().steps());
        let call = |(&site, step): (&SiteId, Step)| griffin::Call {
            thread: step.thread,
            site,
            kind: step.kind,
            functions: (0..8).map(|depth| site.0 >> depth).collect::<Vec<u32>>(),
        };
        sites.map(call).collect()
    };
    let clustering = griffin::Clustering::default();
    let start = processor_time();
    let groups = griffin::failing_run_groups(&findings, RUNS, Formula::default(), &clustering);
    let causes: usize = groups.iter().map(|group| griffin::causes(group, calls, &clustering).len()).sum();
    let seconds = (processor_time() - start).as_secs_f64();
    println!("{count} patterns in {} groups with {causes} causes: {seconds:.3}", groups.len());
}

fn access(thread: u32, location: u32, site: u32, writes: bool) -> Access {
    Access {
        thread: ThreadId(thread),
        location: LocationId(location),
        site: SiteId(site),
        stack: StackId(0),
        kind: if writes { AccessKind::Write } else { AccessKind::Read },
        uncertain: false,
        value: None,
        before: None,
        locks: Some(LocksetId(0)),
        iteration: None,
        atomic: false,
        frees: false,
    }
}

/// SplitMix64: small, and good enough to shuffle accesses.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % u64::from(bound)) as u32
    }
}
