//! A driver loads the pallets of a warehouse onto a truck, from the first to the last, while a clerk counts them from the
//! last to the first. Shelf and truck are locked one after the other, so the clerk can come while a pallet is at neither
//! place, and misses it. (Counting a pallet twice would only make for a recount.)

#[path = "../../../background.rs"]
mod background;
mod pallet;
#[path = "../../../work.rs"]
mod work;

use std::process::ExitCode;
use std::thread;

use pallet::Pallet;
use work::compute;

const PALLETS: u32 = 128;
const DRIVE_ROUNDS: u32 = 5000;
const LABEL_ROUNDS: u32 = 5000;

fn load_truck(warehouse: &[Pallet]) -> u32 {
    let mut effort = 0;
    for (pallet, order) in warehouse.iter().zip(0..) {
        background::step(order);
        effort ^= compute(order, DRIVE_ROUNDS);
        effort ^= pallet.load(order);
    }
    effort
}

/// How many pallets were nowhere, and a digest of their labels.
fn take_stock(warehouse: &[Pallet]) -> (u32, u32) {
    let (mut missing, mut labels) = (0, 0);
    for (pallet, number) in warehouse.iter().rev().zip(0..) {
        background::step(number);
        labels ^= compute(number, LABEL_ROUNDS);
        if pallet.count() == 0 {
            missing += 1;
        }
    }
    (missing, labels)
}

fn main() -> ExitCode {
    let warehouse: Vec<Pallet> = (0..PALLETS).map(|_| Pallet::on_shelf()).collect();
    let (effort, (missing, labels)) = thread::scope(|scope| {
        let driver = scope.spawn(|| load_truck(&warehouse));
        let clerk = scope.spawn(|| take_stock(&warehouse));
        (driver.join().unwrap(), clerk.join().unwrap())
    });
    println!("{missing} of {PALLETS} missing, digest {:08x}", effort ^ labels);
    if missing == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
