//! Orders come in by mail and by telephone, for all shops of a chain: by mail from the first shop to the last, by telephone from the
//! last to the first. An order's number is made from the latest one, which it replaces. Where another order was faster, the
//! number is not made anew: both orders have the same one.

#[path = "../../../background.rs"]
mod background;
mod ids;
#[path = "../../../work.rs"]
mod work;

use std::process::ExitCode;
use std::thread;

use ids::Ids;
use work::compute;

const SHOPS: u32 = 64;
const ORDER_ROUNDS: u32 = 3500;

struct Order {
    id: u32,
    digest: u32,
}

fn order(shop: &Ids, number: u32) -> Order {
    background::step(number);
    let digest = compute(number, ORDER_ROUNDS);
    Order { id: shop.take(), digest }
}

fn main() -> ExitCode {
    let shops: Vec<Ids> = (0..SHOPS).map(|_| Ids::new()).collect();
    let numbered = || shops.iter().zip(0..SHOPS);
    let (mail, telephone) = thread::scope(|scope| {
        let mail = scope.spawn(|| numbered().map(|(shop, number)| order(shop, number)).collect::<Vec<_>>());
        let telephone =
            scope.spawn(|| numbered().rev().map(|(shop, number)| order(shop, number)).collect::<Vec<_>>());
        (mail.join().unwrap(), telephone.join().unwrap())
    });
    let pairs = || mail.iter().zip(telephone.iter().rev());
    let doubled = pairs().filter(|(mail, telephone)| mail.id == telephone.id).count();
    let digest = pairs().fold(0, |digest, (mail, telephone)| digest ^ mail.digest ^ telephone.digest << 1);
    println!("{doubled} numbers given twice, digest {digest:08x}");
    if doubled == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
