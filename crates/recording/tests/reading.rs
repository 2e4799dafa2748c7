//! Reading recordings: whole, cut off anywhere, and hostile.

use proptest::prelude::*;
use recording::{
    CHUNK_BYTES, ChunkHeader, Context, Damage, Decision, Event, EventKind, HEADER_BYTES, Header, LineRecord,
    Location, MAGIC, ModuleHeader, NameHeader, NameKind, Pod, REGION_COUNT, Region, RegionId, Slot,
    ThreadRecord, VERSION, Visit, compact, parse,
};

fn bytes_of<T: Pod>(record: &T) -> Vec<u8> {
    // SAFETY: plain old data without padding.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(record).cast::<u8>(), size_of::<T>()) }.to_vec()
}

fn zeroed<T: Pod>() -> T {
    // SAFETY: any bit pattern is a T.
    unsafe { std::mem::zeroed() }
}

fn event(kind: EventKind, tick: u64, leaf: u32, object: u32, other: u32) -> Event {
    Event { kind: kind as u8, flags: 0, size: 4, reserved: 0, leaf, tick, object, other, value: 0 }
}

fn chunk(thread: u32, events: &[Event]) -> Vec<u8> {
    let used = size_of::<ChunkHeader>() + size_of_val(events);
    let mut bytes = bytes_of(&ChunkHeader { thread, used: used as u32, reserved: [0; 3] });
    events.iter().for_each(|event| bytes.extend(bytes_of(event)));
    bytes.resize(CHUNK_BYTES, 0);
    bytes
}

/// A recording as a recorder leaves it: every region with holes behind its used part.
fn raw_file(content: [Vec<u8>; REGION_COUNT]) -> Vec<u8> {
    const ROOM: usize = 64 << 10;
    let mut file = vec![0; HEADER_BYTES + REGION_COUNT * ROOM];
    let mut header: Header = zeroed();
    header.magic = MAGIC;
    header.version = VERSION;
    header.pid = 77;
    for (id, part) in RegionId::ALL.into_iter().zip(content) {
        let offset = HEADER_BYTES + id as usize * ROOM;
        file[offset..offset + part.len()].copy_from_slice(&part);
        let used = part.len() as u64;
        header.regions[id as usize] =
            Region { offset: offset as u64, capacity: ROOM as u64, used, backed: used };
    }
    file[..size_of::<Header>()].copy_from_slice(&bytes_of(&header));
    file
}

/// Two threads; thread 2 wrote location 1 and then once more, which nobody has recorded yet.
fn sample() -> Vec<u8> {
    let thread = || bytes_of(&zeroed::<ThreadRecord>());
    let path = b"/bin/test";
    let module = ModuleHeader {
        bias: 0x1000,
        start: 0x2000,
        end: 0x3000,
        image_start: 0x1000,
        image_end: 0x9000,
        path_bytes: path.len() as u32,
        build_id_bytes: 3,
        build_id: std::array::from_fn(|i| if i < 3 { i as u8 + 1 } else { 0 }),
    };
    let mut modules = bytes_of(&module);
    modules.extend(path);
    modules.resize(modules.len().next_multiple_of(8), 0);
    let context = |function, first_leaf, size, parent| Context {
        call: 0x2500,
        entry: function,
        function,
        parent,
        first_leaf,
        size,
        recent_child: 0,
        next: 0,
        flags: 0,
    };
    let contexts = [zeroed(), context(0, 1, 1, 0), context(0x2100, 2, 100, 1), context(0x2200, 102, 50, 2)]
        .map(|c| bytes_of(&c));
    let location = Location { address: 0x5000, size: 4, version: 2, owner: 2, slots: 1, ..zeroed() };
    let slot =
        Slot { location: 1, thread: 2, version: 2, write: 30, write_tick: 9, rewritten: 1, ..zeroed() };
    let first = chunk(1, &[event(EventKind::ThreadStart, 1, 0, 1, 0), event(EventKind::Read, 5, 12, 1, 0)]);
    let second = chunk(
        2,
        &[
            event(EventKind::ThreadStart, 2, 0, 2, 1),
            event(EventKind::LastRead, 5, 12, 1, 1),
            event(EventKind::Write, 8, 20, 1, 0),
            event(EventKind::Owner, 0, 0, 0, 1),
            event(EventKind::Read, 9, 102, 1, 0),
        ],
    );
    raw_file([
        [thread(), thread(), thread()].concat(),
        modules,
        contexts.concat(),
        [bytes_of(&zeroed::<Location>()), bytes_of(&location)].concat(),
        [bytes_of(&zeroed::<Slot>()), bytes_of(&slot)].concat(),
        [first, second].concat(),
        names(),
        [0, 0, 0x2140, 7 << 32 | 2].map(u64::to_le_bytes).concat(),
        [0, 0, 3, 1].map(u16::to_le_bytes).concat(),
    ])
}

/// A function and a location.
fn names() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut add = |kind: NameKind, key, size, lines: &[LineRecord], texts: [&str; 2]| {
        let header = NameHeader {
            kind: kind as u32,
            size,
            key,
            lines: lines.len() as u32,
            name_bytes: texts[0].len() as u32,
            file_bytes: texts[1].len() as u32,
            reserved: 0,
        };
        bytes.extend(bytes_of(&header));
        lines.iter().for_each(|line| bytes.extend(bytes_of(line)));
        bytes.extend(texts.concat().bytes());
        bytes.resize(bytes.len().next_multiple_of(8), 0);
    };
    add(NameKind::Location, 1, u32::from(b'I'), &[], ["Account.balance", ""]);
    let lines = [LineRecord { offset: 0, line: 20 }, LineRecord { offset: 9, line: 22 }];
    add(NameKind::Function, 0x2100, 40, &lines, ["Account.book", "Bank.java"]);
    bytes
}

#[test]
fn names_are_found_by_what_they_name() {
    for file in [sample(), compact(&sample()).expect("a whole recording")] {
        let recording = parse(&file).expect("a whole recording");
        let name = recording.name(NameKind::Location, 1).expect("a name");
        assert_eq!((name.text.as_str(), name.size), ("Account.balance", u32::from(b'I')));
        assert_eq!(recording.name(NameKind::Lock, 1), None);
        let function = recording.function_at(0x2127).expect("a function");
        assert_eq!((function.text.as_str(), function.file.as_str()), ("Account.book", "Bank.java"));
        assert_eq!(
            [0, 8, 9, 39].map(|offset| function.line_at(offset)),
            [Some(20), Some(20), Some(22), Some(22)]
        );
        assert_eq!((recording.function_at(0x2128), recording.function_at(0x20ff)), (None, None));
    }
}

#[test]
fn visits_and_decisions_of_a_controlled_run_are_read() {
    let recording = parse(&compact(&sample()).expect("a whole recording")).expect("a whole recording");
    assert_eq!(recording.visits, [Visit { site: 0x2140, seat: 2, count: 7 }]);
    assert_eq!(recording.decisions, [Decision { candidates: 3, preempts: 1 }]);
}

fn history(bytes: &[u8]) -> Vec<String> {
    let recording = parse(bytes).expect("a whole recording");
    assert_eq!(recording.damage, []);
    let accesses = recording.events.iter().filter(|event| event.kind.is_access());
    accesses.map(|e| format!("{} T{} {:?} leaf {}", e.event.tick, e.actor(), e.kind, e.event.leaf)).collect()
}

#[test]
fn events_come_in_order_and_open_turns_are_closed() {
    let expected = [
        "5 T1 Read leaf 12",
        "5 T1 LastRead leaf 12",
        "8 T2 Write leaf 20",
        "9 T1 Read leaf 102",
        "9 T2 LastWrite leaf 30",
    ];
    assert_eq!(history(&sample()), expected);
}

#[test]
fn compact_files_say_the_same_in_less_room() {
    let compacted = compact(&sample()).expect("a whole recording");
    assert!(compacted.len() < HEADER_BYTES + 3 * CHUNK_BYTES, "{}", compacted.len());
    assert_eq!(history(&compacted), history(&sample()));
    assert_eq!(compact(&compacted).expect("also a recording"), compacted);
}

#[test]
fn leaves_lead_to_contexts_and_modules() {
    let recording = parse(&sample()).expect("a whole recording");
    assert_eq!(recording.resolve_leaf(0), None);
    assert_eq!(recording.resolve_leaf(12), Some((2, 0x210a)));
    assert_eq!(recording.resolve_leaf(101), Some((2, 0x2163)));
    assert_eq!(recording.resolve_leaf(102), Some((3, 0x2200)));
    assert_eq!(recording.resolve_leaf(152), None);
    assert_eq!(recording.module_of_code(0x2fff), Some(0));
    assert_eq!(recording.module_of_code(0x3000), None);
    assert_eq!(recording.module_of_data(0x5000), Some(0));
    assert_eq!(recording.modules[0].path, "/bin/test");
    assert_eq!(recording.modules[0].build_id, [1, 2, 3]);
}

#[test]
fn other_files_are_told_apart() {
    assert_eq!(parse(b"short").unwrap_err(), Damage::TooShort { bytes: 5 });
    assert_eq!(parse(&[0; 8192]).unwrap_err(), Damage::NotARecording);
    let mut other = sample();
    other[8] = 99;
    assert_eq!(parse(&other).unwrap_err(), Damage::Version { found: 99 });
    assert_eq!(compact(&other).unwrap_err(), Damage::Version { found: 99 });
}

#[test]
fn a_file_cut_off_anywhere_is_read_up_to_the_cut() {
    let whole = compact(&sample()).expect("a whole recording");
    let all = history(&whole).len();
    for length in HEADER_BYTES..whole.len() {
        let recording = parse(&whole[..length]).expect("the header is there");
        let cut = recording.damage.iter().any(|damage| matches!(damage, Damage::RegionCut { .. }));
        assert!(cut, "length {length} of {}", whole.len());
        assert!(recording.events.len() <= all + 2);
    }
}

#[test]
fn an_unknown_event_ends_its_chunk_only() {
    let mut file = sample();
    let chunks = HEADER_BYTES + RegionId::Chunks as usize * (64 << 10);
    file[chunks + size_of::<ChunkHeader>()] = 200;
    let recording = parse(&file).expect("the header is whole");
    assert_eq!(recording.damage, [Damage::BadEvent { chunk: 0, offset: size_of::<ChunkHeader>() }]);
    assert!(recording.events.iter().any(|event| event.kind == EventKind::Write));
}

#[test]
fn slots_in_a_circle_do_not_hang_the_reader() {
    let mut file = sample();
    let slots = HEADER_BYTES + RegionId::Slots as usize * (64 << 10);
    // The field `next` of slot 1 points back at slot 1.
    file[slots + size_of::<Slot>() + 8] = 1;
    assert!(parse(&file).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(7), ..ProptestConfig::default() })]

    /// Whatever a file says, reading it ends, and with no more than the file could hold.
    #[test]
    fn hostile_files_do_no_harm(changes in prop::collection::vec((0usize..70_000, any::<u8>()), 1..40)) {
        let mut file = sample();
        for (at, byte) in changes {
            // Half of the changes hit the header, where they do most harm.
            let at = if at % 2 == 0 { 8 + at % 300 } else { at % file.len() };
            file[at] = byte;
        }
        if let Ok(recording) = parse(&file) {
            prop_assert!(recording.events.len() <= file.len() / size_of::<Event>() * 2);
            prop_assert!(recording.events.iter().all(|e| recording.resolve_leaf(e.event.leaf).is_none_or(|(id, _)| id > 0)));
        }
        if let Ok(compacted) = compact(&file) {
            prop_assert!(compacted.len() <= HEADER_BYTES + file.len() * REGION_COUNT);
            let _ = parse(&compacted);
        }
    }
}

#[test]
fn kept_handovers_are_joined_where_nothing_is_missing() {
    let group = |number: u32, tick: u64, from: u32, to: u32| {
        [
            Event { value: number.into(), ..event(EventKind::Gap, tick, 0, 1, 0) },
            event(EventKind::LastWrite, tick, 20, 1, from),
            event(EventKind::Nothing, 0, 0, 0, 0),
            event(EventKind::Owner, 0, 0, 0, to),
            event(EventKind::Write, tick + 1, 20, 1, 0),
        ]
    };
    // Of nine handovers the third, fourth and seventh.
    let events = [group(4, 11, 2, 1), group(7, 30, 1, 2), group(3, 10, 1, 2)].concat();
    let location = Location { address: 0x5000, size: 4, version: 2, kept: 9, ..zeroed() };
    let mut parts: [Vec<u8>; REGION_COUNT] = Default::default();
    parts[RegionId::Threads as usize] = vec![0; 3 * size_of::<ThreadRecord>()];
    parts[RegionId::Locations as usize] = [bytes_of(&zeroed::<Location>()), bytes_of(&location)].concat();
    parts[RegionId::Chunks as usize] = chunk(0, &events);
    let recording = parse(&raw_file(parts)).expect("a whole recording");
    assert_eq!(recording.damage, []);
    let seen = recording.events.iter().map(|e| match e.kind {
        EventKind::Gap => format!("{} Gap", e.event.tick),
        kind => format!("{} T{} {kind:?}", e.event.tick, e.actor()),
    });
    assert_eq!(
        seen.collect::<Vec<_>>(),
        [
            "10 Gap",
            "10 T1 LastWrite",
            "11 T2 Write",
            "11 T2 LastWrite",
            "12 T1 Write",
            "12 Gap",
            "30 Gap",
            "30 T1 LastWrite",
            "31 T2 Write",
            "31 Gap",
        ]
    );
}
