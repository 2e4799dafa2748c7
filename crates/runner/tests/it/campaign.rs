use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use recording::{
    HEADER_BYTES, Header, MAGIC, ModuleHeader, REGION_COUNT, Region, RegionId, RunPlan, Schedule, VERSION,
};
use runner::campaign::{Begun, Campaign, Event, Limits, Past, Stop, run_seed};
use runner::{Binary, BuildId, Error, Manifest, Oracle, Outcome, RunNumber, Session, Store};

use crate::{PATIENCE, Workshop};

/// A raw recording of a process whose only module is `/bin/tested`.
fn raw_recording() -> Vec<u8> {
    let path = b"/bin/tested\0\0\0\0\0";
    let mut build_id = [0; 32];
    build_id[..2].copy_from_slice(&[0xab, 0xcd]);
    let module = ModuleHeader {
        bias: 0,
        start: 0,
        end: 0,
        image_start: 0,
        image_end: 0,
        path_bytes: 11,
        build_id_bytes: 2,
        build_id,
    };
    let room = (size_of::<ModuleHeader>() + path.len()) as u64;
    let mut regions = [Region { offset: HEADER_BYTES as u64, capacity: 0, used: 0, backed: 0 }; REGION_COUNT];
    regions[RegionId::Modules as usize].capacity = room;
    regions[RegionId::Modules as usize].used = room;
    let header = Header {
        magic: MAGIC,
        version: VERSION,
        pid: 1,
        parent_pid: 0,
        fault: 0,
        fault_detail: 0,
        ended: 1,
        seed: 0,
        started: 0,
        tick: 0,
        dropped: 0,
        thinned: 0,
        forgotten: 0,
        regions,
        points: 0,
        interleavings: 0,
        taken_away: 0,
        sample: 0,
        standstill: 0,
        standstill_until: 0,
        held: 0,
    };
    let mut raw = bytes_of(&header).to_vec();
    raw.resize(HEADER_BYTES, 0);
    raw.extend_from_slice(bytes_of(&module));
    raw.extend_from_slice(path);
    raw
}

fn bytes_of<T: recording::Pod>(value: &T) -> &[u8] {
    // SAFETY: plain old data has no padding, so all its bytes are initialized.
    unsafe { std::slice::from_raw_parts((value as *const T).cast(), size_of::<T>()) }
}

/// A test that "records", then does what `script` says. `$N` in it tells the runs apart: it is the run's seed.
struct Tested {
    workshop: Workshop,
    campaign: Campaign,
}

impl Tested {
    fn new(script: &str) -> Tested {
        let workshop = Workshop::new();
        std::fs::write(workshop.path("raw"), raw_recording()).unwrap();
        let raw = workshop.path("raw");
        let program = workshop.script(
            "tested",
            &format!(
                "cp {} $UNSNARL_DIR/$$.raw; N=${{UNSNARL_PLAN#seed=}}; N=${{N%%,*}}\n{script}",
                raw.display()
            ),
        );
        Tested { workshop, campaign: campaign(program) }
    }

    fn session(&self) -> Session {
        let manifest = Manifest::new(vec!["tested".to_owned()], Default::default(), 7, Vec::new());
        Store::new(self.workshop.path("store")).create("tested", manifest).unwrap()
    }

    /// Runs with seeds 1, 2, 3, …
    fn conduct(&self, session: &mut Session) -> (runner::Result<Stop>, Vec<Event>) {
        let mut events = Vec::new();
        let stop = self.campaign.conduct(
            session,
            &AtomicBool::new(false),
            &mut |run, _| Some(RunPlan { seed: run.0.into(), ..RunPlan::default() }),
            &mut |event| events.push(event),
        );
        (stop, events)
    }
}

fn campaign(program: PathBuf) -> Campaign {
    Campaign {
        program,
        arguments: Vec::new(),
        input: None,
        environment: Vec::new(),
        preload: None,
        oracle: Oracle::default(),
        timeout: Some(PATIENCE),
        slow_after: None,
        limits: Limits::default(),
        jobs: NonZeroUsize::new(3).unwrap(),
        alone: 0,
        begun: Begun::default(),
    }
}

fn failing(session: &Session) -> Vec<u32> {
    session.runs().iter().filter(|record| record.outcome.is_failing()).map(|record| record.run.0).collect()
}

#[test]
fn runs_are_numbered_judged_and_stored_whatever_the_number_of_jobs() {
    for jobs in [1, 4] {
        let mut tested = Tested::new("exit $((N % 3 == 0))");
        tested.campaign.jobs = NonZeroUsize::new(jobs).unwrap();
        tested.campaign.limits.runs = Some(10);
        let mut session = tested.session();
        let (stop, events) = tested.conduct(&mut session);
        assert_eq!(stop.unwrap(), Stop::Runs);
        assert_eq!(failing(&session), [3, 6, 9], "{jobs} jobs");

        let reopened = Session::open(session.folder()).unwrap();
        assert_eq!(reopened.runs(), session.runs());
        assert_eq!(reopened.warnings(), [""; 0]);
        assert!(reopened.manifest().wall_seconds > 0.0);
        for record in reopened.runs() {
            let run = reopened.load(record.run).unwrap();
            assert_eq!(run.record, *record);
            assert_eq!(record.plan.parse::<RunPlan>().unwrap().seed, u64::from(record.run.0));
            assert!(recording::parse(&run.processes[0].bytes).is_ok());
        }
        let mut begun = Vec::new();
        let mut ended = Vec::new();
        for event in events {
            match event {
                Event::RunStarted { run } => begun.push(run.0),
                Event::RunFinished { record } => {
                    assert!(begun.contains(&record.run.0));
                    ended.push(record.run.0);
                }
                Event::Interrupted => panic!("nobody interrupted"),
            }
        }
        assert_eq!(begun, (1..=10).collect::<Vec<_>>());
        ended.sort_unstable();
        assert_eq!(ended, begun);
    }
}

#[test]
fn what_later_plans_depend_on_is_known_before_they_are_made() {
    let mut tested = Tested::new("exit 0");
    tested.campaign.alone = 3;
    tested.campaign.jobs = NonZeroUsize::new(4).unwrap();
    tested.campaign.limits.runs = Some(9);
    let mut session = tested.session();
    let mut known = Vec::new();
    let stop = tested.campaign.conduct(
        &mut session,
        &AtomicBool::new(false),
        &mut |run, session| {
            known.push(session.runs().len());
            let schedule = if run.0 % 3 == 0 { Schedule::Free } else { Schedule::Pos };
            Some(RunPlan { seed: run.0.into(), schedule, ..RunPlan::default() })
        },
        &mut |_| {},
    );
    assert_eq!(stop.unwrap(), Stop::Runs);
    assert_eq!(known[..4], [0, 1, 2, 3]);
    assert_eq!(known.len(), 9, "each plan is asked for once");
    assert_eq!(session.runs().len(), 9);
}

#[test]
fn nobody_waits_for_runs_that_are_under_way_when_the_answer_is_known() {
    let tested = Tested::new("test $N = 1 || sleep 1000");
    let mut session = tested.session();
    let started = Instant::now();
    let stop = tested.campaign.conduct(
        &mut session,
        &AtomicBool::new(false),
        &mut |run, session| {
            let plan = RunPlan { seed: run.0.into(), ..RunPlan::default() };
            session.runs().is_empty().then_some(plan)
        },
        &mut |_| {},
    );
    assert_eq!(stop.unwrap(), Stop::Settled);
    assert!(started.elapsed() < PATIENCE);
    assert_eq!(session.runs().len(), 1);
    assert_eq!(Session::open(session.folder()).unwrap().runs().len(), 1);
}

#[test]
fn a_second_campaign_goes_on_counting() {
    let mut tested = Tested::new("exit 0");
    tested.campaign.limits.runs = Some(2);
    let mut session = tested.session();
    tested.conduct(&mut session).0.unwrap();
    let mut session = Session::open(session.folder()).unwrap();
    tested.conduct(&mut session).0.unwrap();
    let numbers: Vec<u32> = session.runs().iter().map(|record| record.run.0).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
}

#[test]
fn limits_are_for_all_parts_of_a_campaign() {
    let mut tested = Tested::new("exit 0");
    tested.campaign.limits.runs = Some(5);
    tested.campaign.jobs = NonZeroUsize::MIN;
    let mut session = tested.session();
    let mut past = Past::new(&tested.campaign);
    let mut part = |runs_until: usize| {
        let plan = |run: RunNumber| RunPlan { seed: run.0.into(), ..RunPlan::default() };
        let stop = tested.campaign.go_on(
            &mut past,
            &mut session,
            &AtomicBool::new(false),
            &mut |run, session| (session.runs().len() < runs_until).then(|| plan(run)),
            &mut |_| {},
        );
        (stop.unwrap(), session.runs().iter().map(|record| record.run.0).collect::<Vec<_>>())
    };
    assert_eq!(part(2), (Stop::Settled, vec![1, 2]));
    assert_eq!(part(9), (Stop::Runs, vec![1, 2, 3, 4, 5]));
}

#[test]
fn enough_failures_end_the_campaign() {
    let mut tested = Tested::new("exit $((N % 2))");
    tested.campaign.limits.failures = Some(4);
    tested.campaign.jobs = NonZeroUsize::MIN;
    let mut session = tested.session();
    assert_eq!(tested.conduct(&mut session).0.unwrap(), Stop::Failures);
    assert_eq!(failing(&session), [1, 3, 5, 7]);
    assert_eq!(session.runs().len(), 7);
}

#[test]
fn a_hang_is_stored_with_what_was_recorded() {
    let mut tested = Tested::new("sleep 1000");
    tested.campaign.limits.runs = Some(1);
    tested.campaign.timeout = Some(std::time::Duration::from_secs(2));
    let mut session = tested.session();
    tested.conduct(&mut session).0.unwrap();
    assert_eq!(session.runs()[0].outcome, Outcome::hang());
    assert_eq!(session.load(RunNumber(1)).unwrap().processes.len(), 1);
}

#[test]
fn an_interrupted_campaign_keeps_what_is_done() {
    let mut tested = Tested::new("[ $N -le 3 ] || sleep 1000");
    tested.campaign.jobs = NonZeroUsize::MIN;
    let mut session = tested.session();
    let interrupted = AtomicBool::new(false);
    let mut was_told = false;
    let stop = tested.campaign.conduct(
        &mut session,
        &interrupted,
        &mut |run, _| Some(RunPlan { seed: run.0.into(), ..RunPlan::default() }),
        &mut |event| match event {
            Event::RunStarted { run: RunNumber(4) } => interrupted.store(true, Ordering::Relaxed),
            Event::Interrupted => was_told = true,
            _ => {}
        },
    );
    assert_eq!(stop.unwrap(), Stop::Interrupted);
    assert!(was_told);
    let reopened = Session::open(session.folder()).unwrap();
    assert_eq!(reopened.runs().len(), 3);
    assert!(!reopened.run_path(RunNumber(4)).exists());
}

#[test]
fn whoever_plans_the_runs_may_have_enough() {
    let mut tested = Tested::new("exit 0");
    tested.campaign.jobs = NonZeroUsize::MIN;
    tested.campaign.limits.runs = Some(50);
    let mut session = tested.session();
    let mut next_plan = |run: RunNumber, session: &Session| {
        assert_eq!(session.runs().len() as u32 + 1, run.0, "what is done so far can be looked at");
        (session.runs().len() < 3).then(RunPlan::default)
    };
    let stop = tested.campaign.conduct(&mut session, &AtomicBool::new(false), &mut next_plan, &mut |_| {});
    assert_eq!((stop.unwrap(), session.runs().len()), (Stop::Settled, 3));
}

#[test]
fn a_program_that_records_nothing_ends_the_campaign_with_damaged_runs() {
    let tested = Tested::new("exit 0");
    let silent = tested.workshop.script("silent", "exit 1");
    let mut session = tested.session();
    let campaign = Campaign { jobs: NonZeroUsize::MIN, ..campaign(silent) };
    let stop = campaign.conduct(
        &mut session,
        &AtomicBool::new(false),
        &mut |_, _| Some(RunPlan::default()),
        &mut |_| {},
    );
    assert_eq!(stop.unwrap(), Stop::NothingRecorded);
    assert_eq!(failing(&session), [0; 0], "trouble of ours never counts as failing");
    assert_eq!(
        session.runs()[0].outcome,
        Outcome::Damaged { why: "no process recorded anything (exit code 1)".to_owned() }
    );
}

#[test]
fn a_damaged_recording_is_left_out_with_a_warning() {
    let mut tested = Tested::new("echo garbage > $UNSNARL_DIR/99999.raw; : > $UNSNARL_DIR/99998.raw");
    tested.campaign.limits.runs = Some(1);
    let mut session = tested.session();
    tested.conduct(&mut session).0.unwrap();
    let record = &session.runs()[0];
    assert_eq!((&record.outcome, record.processes), (&Outcome::Pass, 1));
    assert_eq!(record.warnings.len(), 2, "{:?}", record.warnings);
    assert!(record.warnings[1].starts_with("the recording of process 99999 cannot be read: "));
}

#[test]
fn what_a_script_turned_out_to_test_is_noted() {
    let mut tested = Tested::new("exit 0");
    tested.campaign.limits.runs = Some(2);
    let mut session = tested.session();
    tested.conduct(&mut session).0.unwrap();
    let reopened = Session::open(session.folder()).unwrap();
    let tested = Binary { path: "/bin/tested".into(), build_id: BuildId::from_bytes(&[0xab, 0xcd]) };
    assert_eq!(reopened.manifest().binaries, [tested]);
}

#[test]
fn a_full_disk_ends_the_campaign_and_keeps_what_is_done() {
    // Runs that were begun beside the one that could not be stored are not waited for.
    let mut tested = Tested::new("[ $N -le 3 ] || sleep 1000");
    tested.campaign.limits.runs = Some(2);
    let mut session = tested.session();
    tested.conduct(&mut session).0.unwrap();
    let list = session.folder().join("runs.jsonl");
    let kept = std::fs::read(&list).unwrap();
    std::fs::remove_file(&list).unwrap();
    std::os::unix::fs::symlink("/dev/full", &list).unwrap();
    tested.campaign.limits.runs = Some(50);
    tested.campaign.timeout = None;
    let started = Instant::now();
    let (stop, _) = tested.conduct(&mut session);
    assert!(matches!(stop, Err(Error::DiskFull { path }) if path == list));
    assert!(started.elapsed() < PATIENCE);
    std::fs::remove_file(&list).unwrap();
    std::fs::write(&list, kept).unwrap();
    assert!(Session::open(session.folder()).unwrap().runs().len() >= 2);
}

#[test]
fn seeds_do_not_depend_on_the_order_of_runs() {
    let seeds: Vec<u64> = (1..=1000).map(|run| run_seed(42, RunNumber(run))).collect();
    let mut distinct = seeds.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), seeds.len());
}
