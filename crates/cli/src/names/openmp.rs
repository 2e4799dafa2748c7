//! What OpenMP's regions are locked by: variables that compilers make, or the recorder where there are none.

/// The region that a symbol stands for, in the words of the source: `omp.critical(queue)`.
pub fn region(symbol: &str) -> Option<String> {
    match symbol {
        "unsnarl_omp_critical" => return Some("omp.critical".to_owned()),
        "unsnarl_omp_atomic" => return Some("omp.atomic".to_owned()),
        _ => {}
    }
    let name = symbol.strip_prefix(".gomp_critical_user_")?;
    // As clang has it; it makes one for regions without a name, too, and one for reductions.
    let name = name.strip_suffix(".var").unwrap_or(name);
    Some(match name {
        "" => "omp.critical".to_owned(),
        ".reduction" => "omp.reduction".to_owned(),
        name => format!("omp.critical({name})"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_told_as_the_source_has_them() {
        for (symbol, told) in [
            (".gomp_critical_user_queue", Some("omp.critical(queue)")),
            (".gomp_critical_user_queue.var", Some("omp.critical(queue)")),
            (".gomp_critical_user_.var", Some("omp.critical")),
            ("unsnarl_omp_critical", Some("omp.critical")),
            ("unsnarl_omp_atomic", Some("omp.atomic")),
            ("queue", None),
        ] {
            assert_eq!(region(symbol).as_deref(), told, "{symbol}");
        }
    }
}
