//! From recordings to runs.

use localize::{AccessKind, Code, ObjectId, Outcome, Profile, RunId, SiteId, SyncTarget, ThreadId, profile};
use recording::{
    Context, Event, EventKind, Header, LineRecord, Location, Module, Name, NameKind, Pod, Recording,
    ThreadEvent, ThreadRecord, UNKNOWN_LOCKS, flag,
};

fn zeroed<T: Pod>() -> T {
    // SAFETY: any bit pattern is a T.
    unsafe { std::mem::zeroed() }
}

/// A process with three threads, one module loaded at `bias`, and two contexts: `main` and a function it calls.
fn process(bias: u64, locations: &[Location], events: Vec<ThreadEvent>) -> Recording {
    let context = |call: u64, function: u64, first_leaf, size, parent| Context {
        call: if call == 0 { 0 } else { bias + call },
        function: if function == 0 { 0 } else { bias + function },
        first_leaf,
        size,
        parent,
        ..zeroed()
    };
    let module = Module {
        bias,
        start: bias + 0x100,
        end: bias + 0x800,
        image_start: bias,
        image_end: bias + 0x1000,
        build_id: vec![7],
        path: "/bin/test".to_owned(),
    };
    Recording {
        header: zeroed::<Header>(),
        modules: vec![module],
        threads: vec![zeroed::<ThreadRecord>(); 4],
        contexts: vec![
            zeroed(),
            context(0, 0, 1, 1, 0),
            context(0, 0x100, 2, 100, 1),
            context(0x150, 0x200, 102, 100, 2),
        ],
        locations: std::iter::once(zeroed()).chain(locations.iter().copied()).collect(),
        names: Vec::new(),
        visits: Vec::new(),
        decisions: Vec::new(),
        events,
        damage: Vec::new(),
    }
}

fn location(address: u64, size: u32, parent: u32) -> Location {
    Location { address, size, parent, ..zeroed() }
}

fn event(thread: u32, kind: EventKind, tick: u64, leaf: u32, location: u32) -> ThreadEvent {
    let event = Event { kind: kind as u8, leaf, tick, object: location, ..zeroed() };
    ThreadEvent { thread, kind, event }
}

fn valued(event: ThreadEvent, value: u64) -> ThreadEvent {
    let flags = event.event.flags | flag::VALUE;
    ThreadEvent { event: Event { value, flags, ..event.event }, ..event }
}

fn freeing(event: ThreadEvent) -> ThreadEvent {
    ThreadEvent { event: Event { flags: event.event.flags | flag::FREE, ..event.event }, ..event }
}

fn by(actor: u32, event: ThreadEvent) -> ThreadEvent {
    ThreadEvent { event: Event { other: actor, ..event.event }, ..event }
}

fn read_run(recordings: &[Recording], code: &mut Code) -> Profile {
    profile(RunId(1), Outcome::Pass, recordings, code)
}

fn shown(profile: &Profile) -> Vec<String> {
    let accesses = profile.run.accesses.iter();
    accesses
        .map(|access| {
            let value = access.value.map_or(String::new(), |value| format!("={value}"));
            let kind = match access.kind {
                AccessKind::Read => 'R',
                AccessKind::Write => 'W',
                AccessKind::Update => 'U',
            };
            format!("{kind}{}({}){value}", access.thread.0, access.location.0)
        })
        .collect()
}

#[test]
fn sites_and_stacks_do_not_depend_on_where_a_module_is_loaded() {
    let mut code = Code::default();
    let events = || vec![event(1, EventKind::Write, 1, 110, 1)];
    let here = read_run(&[process(0x10000, &[location(0x10900, 4, 0)], events())], &mut code);
    let there = read_run(&[process(0x70000, &[location(0x70900, 4, 0)], events())], &mut code);
    let (here_access, there_access) = (here.run.accesses[0], there.run.accesses[0]);
    assert_eq!((here_access.site, here_access.stack), (there_access.site, there_access.stack));
    let addresses: Vec<u64> =
        code.stack(here_access.stack).iter().map(|&site| code.site(site).address).collect();
    assert_eq!(addresses, [0x208, 0x150], "the access, then the call that led to its function");
    assert_eq!(here.locations[1].in_module.map(|(_, address)| address), Some(0x900));
    assert_eq!(here.locations[1].in_module, there.locations[1].in_module);
}

/// Of a stack as deep as a recursion makes it, what lies between its ends is left out; all that are alike then are one.
#[test]
fn of_a_deep_stack_both_ends_are_kept() {
    let mut process = process(0x10000, &[location(0x10900, 4, 0)], Vec::new());
    // `main` calls the recursive function at 0x150, which calls itself at 0x250. A leaf for each of its calls.
    let main = process.contexts[2];
    process.contexts.truncate(3);
    for depth in 0..100_000 {
        let call = if depth == 0 { 0x10150 } else { 0x10250 };
        let context =
            Context { call, function: 0x10240, first_leaf: 1000 + depth, size: 1, parent: 2 + depth, ..main };
        process.contexts.push(context);
    }
    let depths = [0, 190, 191, 5_000, 99_999];
    let accesses = depths.map(|depth| event(1, EventKind::Write, u64::from(depth), 1000 + depth, 1));
    process.events = accesses.to_vec();
    let mut code = Code::default();
    let profile = read_run(&[process], &mut code);
    let stacks: Vec<&[SiteId]> = profile.run.accesses.iter().map(|access| code.stack(access.stack)).collect();
    assert_eq!(stacks.iter().map(|stack| stack.len()).collect::<Vec<_>>(), [2, 192, 193, 193, 193]);
    let gaps = |stack: &[SiteId]| stack.iter().filter(|&&site| code.is_gap(site)).count();
    assert!(gaps(stacks[1]) == 0 && code.is_gap(stacks[2][128]) && gaps(stacks[2]) == 1);
    let addresses = |sites: &[SiteId]| sites.iter().map(|&site| code.site(site).address).collect::<Vec<_>>();
    assert_eq!(addresses(&stacks[2][..3]), [0x240, 0x250, 0x250], "the innermost calls");
    assert_eq!(addresses(&stacks[2][190..]), [0x250, 0x250, 0x150], "the outermost calls");
    assert_eq!(profile.run.accesses[2].stack, profile.run.accesses[4].stack);
}

#[test]
fn a_location_on_the_heap_knows_its_block() {
    let on_heap = Location { allocated_at: 20, block_offset: 8, ..location(0x5000, 4, 0) };
    let locations = [on_heap, location(0x6000, 4, 0)];
    let mut code = Code::default();
    let access = event(1, EventKind::Read, 1, 20, 1);
    let profile = read_run(&[process(0x10000, &locations, vec![access])], &mut code);
    let block = profile.locations[1].block.unwrap();
    assert_eq!((block.offset, block.allocated_at), (8, profile.run.accesses[0].stack));
    assert_eq!(profile.locations[2].block, None);
}

#[test]
fn a_written_value_is_what_the_next_access_finds() {
    let events = vec![
        valued(event(1, EventKind::Write, 1, 10, 1), 5),
        by(1, event(2, EventKind::LastWrite, 1, 11, 1)),
        valued(event(2, EventKind::Read, 2, 12, 1), 9),
        valued(event(2, EventKind::Update, 3, 12, 1), 9),
        valued(event(1, EventKind::Read, 4, 13, 1), 10),
    ];
    let profile = read_run(&[process(0x10000, &[location(0x5000, 4, 0)], events)], &mut Code::default());
    // Of two writes in one turn only the last one's value was ever seen.
    assert_eq!(shown(&profile), ["W1(1)", "W1(1)=9", "R2(1)=9", "U2(1)=10", "R1(1)=10"]);
}

/// Also what a thread has read of its own before another came, and what several have read; but not across a gap, nor what was read
/// before a write.
#[test]
fn a_value_that_was_read_is_what_the_next_access_finds() {
    let events = vec![
        by(1, event(2, EventKind::LastWrite, 1, 10, 1)),
        by(1, event(2, EventKind::LastRead, 2, 11, 1)),
        valued(event(2, EventKind::Write, 3, 12, 1), 3),
        by(2, event(1, EventKind::LastRead, 4, 13, 1)),
        by(2, event(1, EventKind::LastWrite, 5, 14, 1)),
        by(2, event(1, EventKind::LastRead, 6, 13, 1)),
        by(3, event(1, EventKind::LastRead, 7, 15, 1)),
        valued(event(1, EventKind::Update, 8, 16, 1), 4),
        event(1, EventKind::Gap, 9, 0, 1),
        valued(event(2, EventKind::Read, 10, 17, 1), 6),
    ];
    let profile = read_run(&[process(0x10000, &[location(0x5000, 4, 0)], events)], &mut Code::default());
    let expected =
        ["W1(1)=3", "R1(1)=3", "W2(1)", "R2(1)", "W2(1)=4", "R2(1)=4", "R3(1)=4", "U1(1)", "R2(1)=6"];
    assert_eq!(shown(&profile), expected);
}

#[test]
fn a_location_cut_into_pieces_leaves_its_past_to_each() {
    let locations = [location(0x5000, 8, 0), location(0x5000, 4, 1), location(0x5004, 4, 1)];
    let events = vec![
        event(1, EventKind::Write, 1, 10, 1),
        event(2, EventKind::Read, 3, 12, 2),
        event(2, EventKind::Write, 4, 12, 3),
    ];
    let profile = read_run(&[process(0x10000, &locations, events)], &mut Code::default());
    assert_eq!(shown(&profile), ["W1(2)", "W1(3)", "R2(2)", "W2(3)"]);
}

#[test]
fn freeing_counts_only_if_something_follows() {
    let free = |tick| freeing(event(1, EventKind::Write, tick, 10, 1));
    let write = event(2, EventKind::Write, 1, 12, 1);
    let run = |events| {
        let profile = read_run(&[process(0x10000, &[location(0x5000, 4, 0)], events)], &mut Code::default());
        // That it is freed, and where, is known in either case.
        assert_eq!(profile.run.free_sites.len(), 1);
        shown(&profile)
    };
    assert_eq!(run(vec![write, free(2)]), ["W2(1)"]);
    assert_eq!(run(vec![write, free(2), event(2, EventKind::Read, 3, 13, 1)]), ["W2(1)", "W1(1)", "R2(1)"]);
}

#[test]
fn gaps_keep_their_place_when_a_free_is_left_out() {
    let events = vec![
        event(1, EventKind::Write, 1, 10, 1),
        freeing(event(1, EventKind::Write, 2, 10, 1)),
        event(1, EventKind::Write, 3, 10, 2),
        event(2, EventKind::Gap, 4, 0, 2),
        event(2, EventKind::Read, 5, 10, 2),
    ];
    let locations = [location(0x5000, 4, 0), location(0x6000, 4, 0)];
    let profile = read_run(&[process(0x10000, &locations, events)], &mut Code::default());
    assert_eq!(shown(&profile), ["W1(1)", "W1(2)", "R2(2)"]);
    assert_eq!(profile.run.gaps.iter().map(|gap| (gap.location.0, gap.before)).collect::<Vec<_>>(), [(2, 2)]);
}

#[test]
fn processes_share_no_threads_and_no_locations() {
    let one = || process(0x10000, &[location(0x5000, 4, 0)], vec![event(1, EventKind::Write, 1, 10, 1)]);
    let profile = read_run(&[one(), one()], &mut Code::default());
    let [first, second] = [profile.run.accesses[0], profile.run.accesses[1]];
    assert_ne!(first.thread, second.thread);
    assert_ne!(first.location, second.location);
    assert_eq!(first.site, second.site);
}

#[test]
fn locks_held_are_known_by_where_they_were_taken() {
    let set = |id, parent, lock, leaf| {
        let base = event(1, EventKind::Lockset, 1, leaf, id);
        ThreadEvent { event: Event { other: parent, value: lock, ..base.event }, ..base }
    };
    let access = by(2, event(1, EventKind::Read, 5, 20, 1));
    let events = vec![set(1, 0, 0x10900, 30), set(2, 1, 0x8000, 31), access];
    let profile = read_run(&[process(0x10000, &[location(0x5000, 4, 0)], events)], &mut Code::default());
    let locks = &profile.run.locksets[profile.run.accesses[0].locks.unwrap().0 as usize];
    let objects: Vec<_> = locks.iter().map(|lock| profile.objects[lock.object.0 as usize]).collect();
    assert_eq!(objects.iter().map(|object| object.address).collect::<Vec<_>>(), [0x10900, 0x8000]);
    assert!(objects[0].in_module.is_some() && objects[1].in_module.is_none());
    assert!(!locks[0].shared);
}

#[test]
fn locks_of_closing_accesses_are_known_or_known_to_be_unknown() {
    let set = sync(1, EventKind::Lockset, 2, 30, 0x8000);
    let set = ThreadEvent { event: Event { object: 1, other: 0, ..set.event }, ..set };
    let closing = |thread, tick| by(thread, event(2, EventKind::LastWrite, tick, 20, 1));
    let holding = |locks: u32, tick| {
        let base = closing(1, tick);
        let event = Event { flags: flag::LOCKS, value: locks.into(), ..base.event };
        ThreadEvent { event, ..base }
    };
    // The set is told later than it is used, by a thread that was overtaken.
    let told = event(1, EventKind::Held, 2, 0, 1);
    let exact = |tick| {
        let base = closing(1, tick);
        ThreadEvent { event: Event { flags: flag::EXACT_TIME, ..base.event }, ..base }
    };
    let events = vec![
        closing(1, 1),
        holding(1, 1),
        set,
        told,
        holding(0, 3),
        holding(UNKNOWN_LOCKS, 4),
        closing(1, 5),
        closing(2, 6),
        exact(7),
        event(1, EventKind::Held, 8, 0, UNKNOWN_LOCKS),
        exact(9),
    ];
    let recording = process(0x10000, &[location(0x5000, 4, 0)], events);
    let run = read_run(&[recording], &mut Code::default()).run;
    let held: Vec<Option<usize>> = run
        .accesses
        .iter()
        .map(|access| access.locks.map(|set| run.locksets[set.0 as usize].len()))
        .collect();
    let before_its_first_lock = Some(0);
    let has_no_lock_ever = Some(0);
    let (time_is_unsure, as_told, not_told_any_more) = (None, Some(1), None);
    assert_eq!(
        held,
        [
            before_its_first_lock,
            Some(1),
            Some(0),
            None,
            time_is_unsure,
            has_no_lock_ever,
            as_told,
            not_told_any_more
        ]
    );
}

fn sync(thread: u32, kind: EventKind, tick: u64, leaf: u32, address: u64) -> ThreadEvent {
    let base = event(thread, kind, tick, leaf, 0);
    ThreadEvent { event: Event { other: thread, value: address, ..base.event }, ..base }
}

#[test]
fn synchronization_lies_between_accesses() {
    let lock = 0x8000;
    let events = vec![
        event(1, EventKind::ThreadCreate, 1, 20, 2),
        by(1, event(2, EventKind::ThreadStart, 2, 21, 0)),
        event(1, EventKind::Write, 3, 10, 1),
        by(1, sync(2, EventKind::Release, 3, 22, lock)),
        sync(2, EventKind::Acquire, 4, 23, lock),
        event(2, EventKind::Read, 5, 11, 1),
        event(1, EventKind::ThreadJoin, 6, 24, 2),
        event(1, EventKind::ThreadJoin, 7, 24, 77),
    ];
    let profile = read_run(&[process(0x10000, &[location(0x5000, 4, 0)], events)], &mut Code::default());
    let shown: Vec<String> = profile
        .run
        .synchronization
        .iter()
        .map(|event| match event.target {
            SyncTarget::Thread(other) => {
                format!("{} {:?} {} before {}", event.thread.0, event.kind, other.0, event.before)
            }
            SyncTarget::Object(object) => {
                let address = profile.objects[object.0 as usize].address;
                format!("{} {:?} {address:#x} before {}", event.thread.0, event.kind, event.before)
            }
        })
        .collect();
    assert_eq!(
        shown,
        [
            "1 Create 2 before 0",
            "2 Start 1 before 0",
            "1 Release 0x8000 before 1",
            "2 Acquire 0x8000 before 1",
            "1 Join 2 before 2",
        ]
    );
}

#[test]
fn locks_taken_for_reading_are_told_apart() {
    let set = sync(1, EventKind::Lockset, 2, 30, 0x8000);
    let set = ThreadEvent { event: Event { object: 1, other: 0, ..set.event }, ..set };
    let access = by(1, event(1, EventKind::Read, 5, 20, 1));
    let taken = sync(1, EventKind::AcquireShared, 1, 30, 0x8000);
    let locations = [location(0x5000, 4, 0)];
    let profile = read_run(&[process(0x10000, &locations, vec![taken, set, access])], &mut Code::default());
    assert!(profile.run.locksets[profile.run.accesses[0].locks.unwrap().0 as usize][0].shared);
}

#[test]
fn locks_that_nobody_waits_for_are_told_apart() {
    let set = |id, parent, flags| {
        let set = event(1, EventKind::Lockset, 1, 30, id);
        ThreadEvent {
            event: Event { other: parent, value: 0x8000 + u64::from(id), flags, ..set.event },
            ..set
        }
    };
    let recording = process(0x10000, &[], vec![set(1, 0, 0), set(2, 1, flag::TRIED)]);
    let run = read_run(&[recording], &mut Code::default()).run;
    assert_eq!(run.locksets[2].iter().map(|lock| lock.tried).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn nested_locks_are_told_for_each_thread_and_waits_at_the_end() {
    let set = |thread, id, parent, lock| {
        let base = event(thread, EventKind::Lockset, 1, 30, id);
        ThreadEvent { event: Event { other: parent, value: lock, ..base.event }, ..base }
    };
    let events =
        vec![set(1, 1, 0, 0x8000), set(1, 2, 1, 0x9000), set(2, 2, 1, 0x9000), set(99, 2, 1, 0x9000)];
    let mut recording = process(0x10000, &[], events);
    let waiting = |waits_for, waits_in: EventKind, locks| ThreadRecord {
        waits_for,
        waits_in: waits_in as u32,
        waits_at: 40,
        locks,
        ..zeroed()
    };
    recording.threads[1] = waiting(0x8000, EventKind::Acquire, 2);
    recording.threads[2] = waiting(1, EventKind::ThreadJoin, 0);
    recording.threads[3] = ThreadRecord { ended: 1, ..waiting(0x8000, EventKind::Acquire, 0) };
    let run = read_run(&[recording], &mut Code::default()).run;
    let nestings = run.nestings.iter();
    let nestings = nestings.map(|nesting| (nesting.thread.0, run.locksets[nesting.locks.0 as usize].len()));
    assert_eq!(nestings.collect::<Vec<_>>(), [(1, 2), (2, 2)]);
    let waits: Vec<_> = run.waits.iter().map(|wait| (wait.thread.0, wait.target)).collect();
    let first_lock = run.locksets[1][0].object;
    let expected = [(1, SyncTarget::Object(first_lock)), (2, SyncTarget::Thread(ThreadId(1)))];
    assert_eq!(waits, expected);
    assert_eq!(run.locksets[run.waits[0].locks.0 as usize].len(), 2);
}

#[test]
fn nonsense_is_left_out() {
    let locations = [location(0x5000, 4, 2), location(0x5004, 4, 9)];
    let events = vec![
        event(99, EventKind::Write, 1, 10, 1),
        event(1, EventKind::Write, 2, u32::MAX, 1),
        event(1, EventKind::Read, 3, 10, 4_000_000),
    ];
    let profile = read_run(&[process(0x10000, &locations, events)], &mut Code::default());
    assert_eq!(shown(&profile), ["W1(1)"]);
}

#[test]
fn sites_in_the_midst_of_turns_are_observed() {
    let events = vec![
        event(1, EventKind::Write, 10, 5, 1),
        event(1, EventKind::Within, 10, 9, 1),
        event(2, EventKind::Within, 12, 104, 1),
        event(2, EventKind::Within, 13, 9, 1),
    ];
    let mut code = Code::default();
    let profile = read_run(&[process(0x10000, &[location(0x10900, 4, 0)], events)], &mut code);
    let observed: Vec<(u64, bool, bool)> = profile
        .run
        .observations
        .iter()
        .map(|seen| (code.site(seen.site).address, seen.local, seen.remote))
        .collect();
    assert_eq!(observed, [(0x107, true, false), (0x202, true, false)]);
}

#[test]
fn accesses_in_loops_know_their_iteration() {
    let iteration = |of: u32, tick, entry, number: u64| {
        let told = by(of, event(3, EventKind::Iteration, tick, 0, entry));
        ThreadEvent { event: Event { value: number, ..told.event }, ..told }
    };
    let in_loop = |event: ThreadEvent| ThreadEvent {
        event: Event { flags: event.event.flags | flag::ITERATION, ..event.event },
        ..event
    };
    let events = vec![
        iteration(1, 1, 4, 7),
        iteration(2, 2, 4, 0),
        in_loop(event(1, EventKind::Write, 3, 10, 1)),
        in_loop(event(2, EventKind::Read, 4, 10, 1)),
        // Not in a loop, or it is not known where.
        event(1, EventKind::Write, 5, 10, 1),
        iteration(1, 6, 4, 8),
        in_loop(by(1, event(2, EventKind::LastRead, 6, 10, 1))),
        // Of a thread that is not there.
        iteration(77, 8, 1, 1),
    ];
    let profile = read_run(&[process(0x10000, &[location(0x10900, 4, 0)], events)], &mut Code::default());
    let positions: Vec<Option<(u32, u32)>> = profile
        .run
        .accesses
        .iter()
        .map(|access| access.iteration.map(|at| (at.entry, at.iteration)))
        .collect();
    assert_eq!(positions, [Some((4, 7)), Some((4, 0)), None, Some((4, 8))]);
}

#[test]
fn names_that_the_program_gave_are_kept() {
    let name = |kind, key, size, text: &str| Name {
        kind,
        key,
        size,
        text: text.to_owned(),
        file: "shop/Bank.java".to_owned(),
        lines: vec![LineRecord { offset: 0, line: 20 }, LineRecord { offset: 9, line: 21 }],
    };
    let mut recording = process(
        0,
        &[location(1 << 62, 4, 0)],
        vec![event(1, EventKind::Write, 1, 2 + 5, 1), event(2, EventKind::Read, 2, 2 + 10, 1)],
    );
    recording.names = vec![
        name(NameKind::Function, 0x100, 100, "Account.book"),
        name(NameKind::Location, 1, u32::from(b'I'), "Account.balance"),
        name(NameKind::Thread, 2, 0, "a teller with a long name"),
    ];
    let mut code = Code::default();
    let profile = read_run(&[recording], &mut code);
    let places: Vec<Option<u32>> =
        profile.run.accesses.iter().map(|access| code.place(access.site).unwrap().line).collect();
    // A site is just behind its instruction: these two are at offsets 4 and 9.
    assert_eq!(places, [Some(20), Some(21)]);
    let place = code.place(profile.run.accesses[0].site).unwrap();
    assert_eq!((place.function.as_str(), place.file.as_deref()), ("Account.book", Some("shop/Bank.java")));
    let named = &profile.names.locations[&profile.run.accesses[0].location];
    assert_eq!((named.text.as_str(), named.value_type), ("Account.balance", 'I'));
    assert_eq!(profile.threads[2].name, "a teller with a long name");
}

#[test]
fn an_object_that_serves_as_a_lock_is_known_at_its_fields() {
    let of = |object| Location { object, ..location(1 << 62, 4, 0) };
    let taken = sync(1, EventKind::Acquire, 1, 2, recording::object_address(7));
    let profile = read_run(&[process(0, &[of(7), of(8), of(0)], vec![taken])], &mut Code::default());
    let in_lock: Vec<Option<ObjectId>> = profile.locations.iter().map(|location| location.in_lock).collect();
    assert_eq!(in_lock, [None, Some(ObjectId(0)), None, None]);
}

#[test]
fn what_a_thread_does_after_it_panicked_is_left_out() {
    let at = |tick: u64, thread: u32, leaf: u32| event(thread, EventKind::Write, tick, leaf, 1);
    let panic = event(1, EventKind::Panic, 3, 0, 0);
    // Leaf 110 is a place that was there before, and 120 one that is come to while the thread cleans up.
    let events = vec![at(1, 1, 110), at(2, 2, 111), panic, at(4, 1, 120), at(5, 2, 112), at(6, 1, 121)];
    let ends = read_run(&[process(0, &[location(0x900, 4, 0)], events.clone())], &mut Code::default());
    assert_eq!(shown(&ends), ["W1(1)", "W2(1)", "W2(1)"]);
    let goes_on = [events, vec![at(7, 1, 110), at(8, 1, 122)]].concat();
    let caught = read_run(&[process(0, &[location(0x900, 4, 0)], goes_on)], &mut Code::default());
    assert_eq!(shown(&caught), ["W1(1)", "W2(1)", "W2(1)", "W1(1)", "W1(1)"]);
}

/// By then the memory may be another function's.
#[test]
fn what_a_thread_finds_after_it_panicked_is_not_what_others_wrote() {
    let events = |panics: bool| {
        let mut events = vec![by(2, event(2, EventKind::Write, 1, 110, 1))];
        events.extend(panics.then(|| event(1, EventKind::Panic, 2, 0, 0)));
        events.push(valued(event(1, EventKind::Read, 3, 120, 1), 77));
        read_run(&[process(0, &[location(0x900, 4, 0)], events)], &mut Code::default()).run
    };
    assert_eq!(events(false).accesses[0].value, Some(77));
    assert_eq!(events(true).accesses[0].value, None);
}

#[test]
fn renamed_sites_are_one_but_stacks_keep_theirs() {
    let locations = [location(0x5000, 4, 0)];
    let events = vec![
        event(1, EventKind::Write, 1, 10, 1),
        event(2, EventKind::Write, 2, 20, 1),
        event(2, EventKind::Within, 3, 30, 1),
        event(2, EventKind::Within, 4, 20, 1),
    ];
    let mut run = read_run(&[process(0, &locations, events)], &mut Code::default());
    let first = run.run.accesses[0].site;
    let very_places: Vec<_> = run.run.accesses.iter().map(|access| access.stack).collect();
    run.rename_sites(|_| first);
    assert!(run.run.accesses.iter().all(|access| access.site == first));
    assert_eq!(run.run.accesses.iter().map(|access| access.stack).collect::<Vec<_>>(), very_places);
    assert_ne!(very_places[0], very_places[1]);
    assert_eq!(run.run.observations.len(), 1);
}
