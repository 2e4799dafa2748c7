//! Where a pallet is: on its shelf, or on the truck. Each place has a lock of its own.

use std::sync::Mutex;

use crate::work::compute;

const LIFT_ROUNDS: u32 = 250;

pub struct Pallet {
    shelf: Mutex<u32>,
    truck: Mutex<u32>,
    #[cfg(fixed)]
    moving: Mutex<()>,
}

impl Pallet {
    pub fn on_shelf() -> Pallet {
        Pallet {
            shelf: Mutex::new(1),
            truck: Mutex::new(0),
            #[cfg(fixed)]
            moving: Mutex::new(()),
        }
    }

    /// Moves the pallet from its shelf to the truck.
    #[inline(never)]
    pub fn load(&self, order: u32) -> u32 {
        #[cfg(fixed)]
        let _moving = self.moving.lock().unwrap();
        self.take_down();
        let effort = compute(order, LIFT_ROUNDS);
        self.put_on_truck();
        effort
    }

    /// Counts the pallet, wherever it is.
    #[inline(never)]
    pub fn count(&self) -> u32 {
        #[cfg(fixed)]
        let _moving = self.moving.lock().unwrap();
        self.count_on_shelf() + self.count_on_truck()
    }

    #[inline(never)]
    fn take_down(&self) {
        let mut shelf = self.shelf.lock().unwrap();
        *shelf = 0; // truth:A1
    }

    #[inline(never)]
    fn put_on_truck(&self) {
        let mut truck = self.truck.lock().unwrap();
        *truck = 1; // truth:A4
    }

    #[inline(never)]
    fn count_on_shelf(&self) -> u32 {
        let shelf = self.shelf.lock().unwrap();
        *shelf // truth:A2
    }

    #[inline(never)]
    fn count_on_truck(&self) -> u32 {
        let truck = self.truck.lock().unwrap();
        *truck // truth:A3
    }
}
