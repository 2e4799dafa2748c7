//! The advice as a change of lines, where these leave no doubt.

use crate::expression::called_on;
use crate::model::{Access, AccessKind, Action, Finding};

/// The lines to change, like a patch: `@@ ids.rs:22`, `-` and the old line, `+` and the new one. Empty where the lines do
/// not tell for certain.
pub fn patch(finding: &Finding) -> Vec<String> {
    let is_atomic = finding.fix.as_ref().is_some_and(|fix| fix.action == Action::AtomicOperation);
    let (Some(first), Some(last)) = (finding.accesses.first(), finding.accesses.last()) else {
        return Vec::new();
    };
    let reads_and_writes = first.kind == AccessKind::Read && last.kind == AccessKind::Write;
    let same_function =
        first.thread == last.thread && (&first.file, &first.function) == (&last.file, &last.function);
    if is_atomic && reads_and_writes && same_function {
        fetch(first, last).unwrap_or_default()
    } else {
        Vec::new()
    }
}

/// A load whose result, a number more or less, is stored: one addition or subtraction.
fn fetch(load: &Access, store: &Access) -> Option<Vec<String>> {
    let (old_load, old_store) = (code(load)?, code(store)?);
    let object = called_on(old_load)?;
    let (before, order) = old_load.split_once(&format!("{object}.load("))?;
    let order = order.strip_suffix(");")?;
    let local = before.trim_end().strip_suffix('=')?.trim_end();
    let local = local.split(": ").next()?.split_whitespace().last()?;
    let stored = old_store.trim().strip_prefix(&format!("{object}.store("))?.strip_suffix(");")?;
    let (value, store_order) = stored.split_once(", ").unwrap_or((stored, ""));
    let change = value.strip_prefix(local)?.trim_start();
    let (method, number) = match change.split_at_checked(1)? {
        ("+", number) => ("fetch_add", number.trim()),
        ("-", number) => ("fetch_sub", number.trim()),
        _ => return None,
    };
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let order = both(order, store_order)?;
    let arguments = if order.is_empty() { number.to_owned() } else { format!("{number}, {order}") };
    let place = |access: &Access| {
        let file = access.file.as_deref().unwrap_or_default();
        format!("@@ {}:{}", file.rsplit('/').next().unwrap_or(file), access.line.unwrap_or(0))
    };
    Some(vec![
        place(load),
        format!("-{old_load}"),
        format!("+{before}{object}.{method}({arguments});"),
        place(store),
        format!("-{old_store}"),
    ])
}

/// A line without its comment.
fn code(access: &Access) -> Option<&str> {
    let line = access.source.as_deref()?;
    Some(line.split("//").next().unwrap_or(line).trim_end())
}

/// The memory order that does for an operation what these do for a load and a store; empty for the default of C++.
fn both(load: &str, store: &str) -> Option<String> {
    let orders = [load.trim(), store.trim()];
    if orders == ["", ""] {
        return Some(String::new());
    }
    let prefix = |order: &str| order.find(|c: char| "AR".contains(c)).map(|at| order[..at].to_owned());
    match orders {
        [load, store] if load == store && (load.ends_with("Relaxed") || load.ends_with("SeqCst")) => {
            Some(load.to_owned())
        }
        [load, store] if load.ends_with("Acquire") && store.ends_with("Release") => {
            Some(format!("{}AcqRel", prefix(load)?))
        }
        [load, store] if load == store && (load.ends_with("_relaxed") || load.ends_with("_seq_cst")) => {
            Some(load.to_owned())
        }
        [load, store] if load.ends_with("_acquire") && store.ends_with("_release") => {
            Some(load.replace("_acquire", "_acq_rel"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(load: &str, store: &str, new: Option<&str>) {
        let access = |line: u32, text: &str| -> Access {
            serde_json::from_value(serde_json::json!({
                "thread": 1, "kind": "read", "variable": "", "function": null, "file": "src/ids.rs", "line": line,
                "column": null, "source": text, "stack": [], "value": null, "locks": null,
            }))
            .unwrap()
        };
        let lines = fetch(&access(22, load), &access(24, store));
        let expected = new.map(|new| {
            let code = |line: &str| line.split("//").next().unwrap().trim_end().to_owned();
            vec![
                "@@ ids.rs:22".to_owned(),
                format!("-{}", code(load)),
                format!("+{new}"),
                "@@ ids.rs:24".to_owned(),
                format!("-{}", code(store)),
            ]
        });
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_load_and_a_store_are_one_addition() {
        check(
            "    let id = self.next.load(Ordering::Acquire); // the next",
            "    self.next.store(id + 1, Ordering::Release);",
            Some("    let id = self.next.fetch_add(1, Ordering::AcqRel);"),
        );
        check(
            "  std::size_t left = left_.load(std::memory_order_acquire);",
            "  left_.store(left - 2, std::memory_order_release);",
            Some("  std::size_t left = left_.fetch_sub(2, std::memory_order_acq_rel);"),
        );
        check(
            "  auto n = pool->n.load();",
            "  pool->n.store(n + 1);",
            Some("  auto n = pool->n.fetch_add(1);"),
        );
    }

    #[test]
    fn what_is_not_certain_is_not_offered() {
        check(
            "let id = self.next.load(Ordering::Acquire);",
            "self.last.store(id + 1, Ordering::Release);",
            None,
        );
        check(
            "let id = self.next.load(Ordering::Acquire);",
            "self.next.store(id + step, Ordering::Release);",
            None,
        );
        check(
            "let id = self.next.load(Ordering::Acquire);",
            "self.next.store(id * 2, Ordering::Release);",
            None,
        );
        check(
            "let id = self.next.load(Ordering::Relaxed);",
            "self.next.store(id + 1, Ordering::Release);",
            None,
        );
        check("if self.next.load(Ordering::Acquire) == 0 {", "self.next.store(1, Ordering::Release);", None);
    }
}
