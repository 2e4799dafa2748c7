//! Short lists within a run plan, which the recorder reads before it has any memory to allocate from.

use core::fmt;
use core::str::FromStr;

use crate::plan::PlanError;

/// At most `N` items. The text form has semicolons between them.
#[derive(Clone, Copy)]
pub struct List<T, const N: usize> {
    count: usize,
    items: [T; N],
}

impl<T: Copy + Default, const N: usize> List<T, N> {
    /// The first `N` of these.
    pub fn of(items: impl IntoIterator<Item = T>) -> Self {
        let mut list = Self::default();
        for (place, item) in list.items.iter_mut().zip(items) {
            *place = item;
            list.count += 1;
        }
        list
    }
}

impl<T, const N: usize> core::ops::Deref for List<T, N> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.items[..self.count]
    }
}

impl<T: Copy + Default, const N: usize> Default for List<T, N> {
    fn default() -> Self {
        List { count: 0, items: [T::default(); N] }
    }
}

impl<T: PartialEq, const N: usize> PartialEq for List<T, N> {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl<T: Eq, const N: usize> Eq for List<T, N> {}

impl<T: fmt::Debug, const N: usize> fmt::Debug for List<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self[..].fmt(f)
    }
}

impl<T: fmt::Display, const N: usize> fmt::Display for List<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().enumerate().try_for_each(|(number, item)| {
            let between = if number == 0 { "" } else { ";" };
            write!(f, "{between}{item}")
        })
    }
}

impl<T: FromStr + Copy + Default, const N: usize> FromStr for List<T, N> {
    type Err = PlanError;

    fn from_str(text: &str) -> Result<Self, PlanError> {
        let mut list = Self::default();
        for item in text.split(';') {
            *list.items.get_mut(list.count).ok_or(PlanError)? = item.parse().map_err(|_| PlanError)?;
            list.count += 1;
        }
        Ok(list)
    }
}
