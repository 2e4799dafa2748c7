//! The programs that are measured. A workload is an entry of this table.

/// A program whose work grows with its argument.
pub struct Workload {
    /// Its name in the tables.
    pub name: &'static str,
    /// What sort of program it stands for.
    pub stands_for: &'static str,
    /// Its source, in xtask/bench.
    pub source: &'static str,
    /// How much work native programs, TSan and unsnarl are given: some tenths of a second natively.
    pub scale: u32,
    /// The same for Helgrind, which is slower by so much that it gets less.
    pub small_scale: u32,
}

/// All workloads, in the order of the tables.
pub static WORKLOADS: [Workload; 6] = [
    Workload {
        name: "compute",
        stands_for: "sorting and matrices, nothing shared",
        source: "compute.c",
        scale: 8,
        small_scale: 1,
    },
    Workload {
        name: "locks",
        stands_for: "transfers under one mutex",
        source: "locks.c",
        scale: 40,
        small_scale: 2,
    },
    Workload {
        name: "lockfree",
        stands_for: "tickets and stacks by atomic operations, contended",
        source: "lockfree.c",
        scale: 60,
        small_scale: 4,
    },
    Workload {
        name: "queue",
        stands_for: "blocks from a producer to a consumer",
        source: "queue.c",
        scale: 3,
        small_scale: 1,
    },
    Workload {
        name: "text",
        stands_for: "bytes and strings of a shared text",
        source: "text.c",
        scale: 60,
        small_scale: 6,
    },
    Workload {
        name: "table",
        stands_for: "lookups in a shared table, rarely changed",
        source: "table.c",
        scale: 80,
        small_scale: 3,
    },
];
