//! Memory that is used again for the next run: the system takes longer to give pages than we take to fill them.

use std::any::Any;
use std::cell::RefCell;

thread_local! {
    static SPARE: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

/// An empty list, with the room of the one that was given back last, if there is one: who gives back many in the opposite order gets each
/// for what it was before, and none grows to the size of the largest.
pub(crate) fn take<T: 'static>() -> Vec<T> {
    let mut list = take_used();
    list.clear();
    list
}

/// The same with so many items, of whatever values: those that a list was given back with, and this one behind them.
pub(crate) fn take_filled<T: Copy + 'static>(length: usize, item: T) -> Vec<T> {
    let mut list = take_used();
    list.resize(length, item);
    list
}

fn take_used<T: 'static>() -> Vec<T> {
    SPARE.with_borrow_mut(|spare| {
        let fits = spare.iter().rposition(|list| list.is::<Vec<T>>());
        let list = fits.and_then(|fits| spare.swap_remove(fits).downcast().ok());
        list.map_or_else(Vec::new, |list| *list)
    })
}

/// Gives a list back. Its items are not needed any more.
pub(crate) fn give<T: Copy + 'static>(list: Vec<T>) {
    if list.capacity() > 0 {
        // When a thread ends, there is nobody left to use it.
        let _ = SPARE.try_with(|spare| spare.borrow_mut().push(Box::new(list)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_is_used_again_for_the_same_type() {
        give(Vec::<u16>::with_capacity(100));
        assert_eq!(take::<u8>().capacity(), 0);
        let again = take::<u16>();
        assert!(again.is_empty() && again.capacity() >= 100);
        assert_eq!(take::<u16>().capacity(), 0);
    }

    #[test]
    fn a_list_is_filled_only_where_it_was_not() {
        give(vec![7u16; 3]);
        assert_eq!(take_filled(5, 1u16), [7, 7, 7, 1, 1]);
        give(vec![7u16; 3]);
        assert_eq!(take_filled(2, 1u16), [7, 7]);
    }

    #[test]
    fn many_lists_keep_their_sizes() {
        let sizes = [10, 1000, 100];
        sizes.into_iter().rev().for_each(|size| give(Vec::<u16>::with_capacity(size)));
        assert!(sizes.into_iter().all(|size| (size..2 * size).contains(&take::<u16>().capacity())));
    }
}
