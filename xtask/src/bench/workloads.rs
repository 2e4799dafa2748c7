//! The programs that are measured. A workload is an entry of this table.

use super::programs::Source;

/// A program whose work grows with its scale.
pub struct Workload {
    /// Its name in the tables.
    pub name: &'static str,
    /// What sort of program it stands for.
    pub stands_for: &'static str,
    /// Where it comes from.
    pub source: Source,
    /// How much work native programs, TSan and unsnarl are given: some tenths of a second natively.
    pub scale: u32,
    /// The same for valgrind's tools, which are slower by so much that they get less.
    pub small_scale: u32,
}

/// All workloads, in the order of the tables.
pub static WORKLOADS: [Workload; 11] = [
    Workload {
        name: "compute",
        stands_for: "sorting and matrices, nothing shared",
        source: Source::Kernel("compute.c"),
        scale: 8,
        small_scale: 1,
    },
    Workload {
        name: "locks",
        stands_for: "transfers under one mutex",
        source: Source::Kernel("locks.c"),
        scale: 40,
        small_scale: 2,
    },
    Workload {
        name: "lockfree",
        stands_for: "tickets and stacks by atomic operations, contended",
        source: Source::Kernel("lockfree.c"),
        scale: 60,
        small_scale: 4,
    },
    Workload {
        name: "queue",
        stands_for: "blocks from a producer to a consumer",
        source: Source::Kernel("queue.c"),
        scale: 3,
        small_scale: 1,
    },
    Workload {
        name: "text",
        stands_for: "bytes and strings of a shared text",
        source: Source::Kernel("text.c"),
        scale: 60,
        small_scale: 6,
    },
    Workload {
        name: "table",
        stands_for: "lookups in a shared table, rarely changed",
        source: Source::Kernel("table.c"),
        scale: 80,
        small_scale: 3,
    },
    Workload {
        name: "pbzip2",
        stands_for: "pbzip2 and its library, from Debian: compresses a text",
        source: Source::Pbzip2,
        scale: 2,
        small_scale: 1,
    },
    Workload {
        name: "zstd",
        stands_for: "zstd, from Debian: compresses a text",
        source: Source::Zstd,
        scale: 4,
        small_scale: 1,
    },
    Workload {
        name: "xz",
        stands_for: "xz, from Debian: compresses a text",
        source: Source::Xz,
        scale: 10,
        small_scale: 2,
    },
    Workload {
        name: "memcached",
        stands_for: "memcached and its library, from Debian: answers requests",
        source: Source::Memcached,
        scale: 200,
        // A thousand requests take twenty seconds under DRD.
        small_scale: 1,
    },
    Workload {
        name: "ripgrep",
        stands_for: "ripgrep, from crates.io: searches files",
        source: Source::Ripgrep,
        scale: 10,
        small_scale: 1,
    },
];
