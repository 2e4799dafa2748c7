//! The constants of the verdict in a plan; what is not mentioned is as usual.

use localize::Tuning;
use serde::{Deserialize, Deserializer};

/// Some of them.
#[derive(Deserialize, Clone, Copy)]
#[serde(transparent)]
pub struct Constants(#[serde(deserialize_with = "tuning")] pub Tuning);

#[derive(Deserialize)]
#[serde(remote = "Tuning", default = "Tuning::default", deny_unknown_fields)]
struct Named {
    sure: u32,
    effect: f64,
    one_order: f64,
    atomic: f64,
    tally: f64,
    unknown: f64,
    standstill: f64,
    standstills: bool,
    simplicity: bool,
    folding: bool,
    stretches: bool,
    entered: bool,
    indirect: bool,
    new_code: bool,
    looks: bool,
    freed: bool,
    calls: bool,
    regions: bool,
    torn: bool,
    unfinished: bool,
    values: bool,
    leads: bool,
    strata: bool,
}

fn tuning<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Tuning, D::Error> {
    Named::deserialize(deserializer)
}
