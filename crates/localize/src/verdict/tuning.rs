//! What the verdict assumes of causes before any run is looked at, and which parts of it are used.

/// Constants of the verdict. All of them have been chosen once for all programs; `cargo xtask evaluate --ablation` tells
/// what each brings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuning {
    /// As if so many runs had shown a clue and failed before: with 8, nine of ten runs with a cause fail; with none, any
    /// share of them.
    pub sure: u32,
    /// How many times (as logarithm) less probable a cause is if passing runs never make its accesses to one variable.
    /// An interleaving that fails is one of several that the program allows, with the same accesses: others are made
    /// because something failed.
    pub effect: f64,
    /// The same if passing runs make some of its accesses to one variable, but in one order always: then something
    /// keeps them in order.
    pub one_order: f64,
    /// The same for one that consists of atomic updates alone, as the words of locks and counters do: each is made to
    /// be interleaved with the others.
    pub atomic: f64,
    /// The same for one on what is only ever counted: nobody decides anything by that.
    pub tally: f64,
    /// How many times (as logarithm) less probable it is that the cause is none of the clues, one of which is its
    /// effect.
    pub unknown: f64,
    /// How many times (as logarithm) more probable it is that a hung run hangs for the reason for which its threads
    /// wait.
    pub standstill: f64,
    /// Whether what hung runs wait for is looked at.
    pub standstills: bool,
    /// Whether a pattern is the less probable the more there are of its kind.
    pub simplicity: bool,
    /// Whether clues that say the same are put together.
    pub folding: bool,
    /// Whether, of two stretches of code that the same runs break into, one within the other, the shorter is to be kept whole.
    pub stretches: bool,
    /// Whether windows are clues that a thread enters by what it has seen right before.
    pub entered: bool,
    /// Whether Locon's conclusions from what failing runs lack are taken in.
    pub indirect: bool,
    /// Whether what only failing runs execute goes behind what explains all of them.
    pub new_code: bool,
    /// Whether two writes are told with the look, in such code, at what they leave.
    pub looks: bool,
    /// Whether uses of freed memory count together.
    pub freed: bool,
    /// Whether what a library does for one call of the program's counts together.
    pub calls: bool,
    /// Whether accesses that break into the same stretch of code count together.
    pub regions: bool,
    /// Whether the two ways in which two variables are torn apart count together.
    pub torn: bool,
    /// Whether failing runs that end before a clue is complete count for it.
    pub unfinished: bool,
    /// Whether what its accesses read and wrote tells when a pattern does harm.
    pub values: bool,
    /// Whether what lets the best clue come about goes before it.
    pub leads: bool,
    /// Whether outcomes are compared among runs that were scheduled alike.
    pub strata: bool,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            sure: 0,
            effect: 7.0,
            one_order: 3.5,
            atomic: 3.0,
            tally: 7.0,
            unknown: 5.0,
            standstill: 10.0,
            standstills: true,
            simplicity: true,
            folding: true,
            stretches: true,
            entered: true,
            indirect: true,
            new_code: true,
            looks: true,
            freed: true,
            calls: true,
            regions: true,
            torn: true,
            unfinished: true,
            values: true,
            leads: true,
            strata: true,
        }
    }
}
