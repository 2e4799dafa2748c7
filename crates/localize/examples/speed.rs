//! How long each technique takes on synthetic runs of the size of the largest case in the Locon paper:
//! 780,977 pairs of accesses in each of 100 runs.
//!
//! ```text
//! cargo run --release -p unsnarl-localize --example speed [pairs [runs]]
//! ```
//!
//! Runs are made and looked at by two threads. Making them is not counted, and neither is waiting: the
//! seconds are those of a processor.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use localize::*;

const WORKERS: usize = 2;

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse().expect("a number"));
    let pairs = arguments.next().unwrap_or(780_977);
    let runs = arguments.next().unwrap_or(100) as u32;

    let options = Options::default();
    let meters: Vec<Mutex<Meter>> =
        Technique::all().map(|technique| Mutex::new(Meter::new(technique))).collect();
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
                    let run =
                        synthetic_run(RunId(id), if id == 0 { Outcome::Fail } else { Outcome::Pass }, pairs);
                    let start = processor_time();
                    let scan = Scan::new(&run, &options);
                    *sorting.lock().unwrap() += processor_time() - start;
                    for (technique, meter) in Technique::all().zip(&meters) {
                        let start = processor_time();
                        let reduced = technique.reduce_scanned(&scan);
                        let looked_at = processor_time() - start;
                        let mut meter = meter.lock().unwrap();
                        let start = processor_time();
                        meter.collector.add(reduced);
                        meter.adding += processor_time() - start;
                        meter.looking += looked_at;
                    }
                }
            });
        }
    });

    println!("{runs} runs of {pairs} pairs; seconds");
    println!("{:24} {:>8} {:>8} {:>8} {:>9}", "technique", "look", "add", "rank", "findings");
    let sorting = sorting.into_inner().unwrap();
    println!("{:24} {:8.2}", "what all of them share", sorting.as_secs_f64());
    let mut all = sorting / WORKERS as u32;
    for (technique, meter) in Technique::all().zip(meters) {
        let meter = meter.into_inner().unwrap();
        let start = processor_time();
        let findings = meter.collector.findings().len();
        let ranking = processor_time() - start;
        all += meter.looking / WORKERS as u32 + meter.adding + ranking;
        let [look, add, rank] = [meter.looking, meter.adding, ranking].map(|time| time.as_secs_f64());
        println!("{:24} {look:8.2} {add:8.2} {rank:8.2} {findings:9}", technique.name());
        if technique == Technique::Locon {
            for procedure in Procedure::ALL {
                let start = processor_time();
                let findings = meter.collector.findings_by(procedure).len();
                println!(
                    "  {:48.48} {:.2} {findings:9}",
                    procedure.to_string(),
                    (processor_time() - start).as_secs_f64()
                );
            }
        }
    }
    println!("all techniques on {WORKERS} threads, adding and ranking on one: {:.2}", all.as_secs_f64());
}

/// What this thread has used so far.
fn processor_time() -> Duration {
    let statistics =
        std::fs::read_to_string("/proc/thread-self/schedstat").expect("statistics of the Linux scheduler");
    let nanoseconds = statistics.split(' ').next().and_then(|number| number.parse().ok());
    Duration::from_nanos(nanoseconds.expect("a number"))
}

struct Meter {
    collector: Collector,
    looking: Duration,
    adding: Duration,
}

impl Meter {
    fn new(technique: Technique) -> Self {
        let collector = Collector::new(technique, &Options::default());
        Self { collector, looking: Duration::ZERO, adding: Duration::ZERO }
    }
}

const THREADS: u32 = 8;
const LOCATIONS: u32 = 20_000;
/// Kinds of data, each with sites of its own and with a script by which two threads exchange it. So many that
/// Falcon finds about as many patterns as in that case of the paper: 1670. Most of them are used in a run, so
/// that runs differ.
const KINDS: u32 = 16;
const STEPS: u32 = 6;

/// Two threads at a time exchange data by the script, and now and then a third one joins in, until so many
/// pairs have come about.
fn synthetic_run(id: RunId, outcome: Outcome, pairs: usize) -> Run {
    let mut random = Random(u64::from(id.0) + 1);
    let used: Vec<bool> = (0..KINDS).map(|_| random.below(8) != 0).collect();
    // The last writer, and who has read since.
    let mut state: Vec<(Option<u32>, u32)> = vec![(None, 0); LOCATIONS as usize];
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
                if random.below(50) == 0 { random.below(THREADS) } else { (location + role) % THREADS };
            let site = STEPS * kind + step;
            made += pairs_with_earlier(&mut state[location as usize], thread, writes);
            accesses.push(access(thread, location, site, writes));
        }
    }
    Run { accesses, ..Run::new(id, outcome) }
}

/// How many accesses one more access immediately depends on.
fn pairs_with_earlier((writer, readers): &mut (Option<u32>, u32), thread: u32, writes: bool) -> usize {
    let other_writer = writer.filter(|&writer| writer != thread);
    if writes {
        let others = *readers & !(1 << thread);
        let unread = other_writer.filter(|writer| *readers & (1 << writer | 1 << thread) == 0);
        (*writer, *readers) = (Some(thread), 0);
        others.count_ones() as usize + usize::from(unread.is_some())
    } else {
        let is_first = *readers & (1 << thread) == 0;
        *readers |= 1 << thread;
        usize::from(other_writer.is_some() && is_first)
    }
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
