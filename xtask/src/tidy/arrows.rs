//! Which crate may depend on which. The arrows keep the analysis pure, the recorder small, and errors typed.

use std::path::Path;

use anyhow::Context as _;
use cargo_metadata::{Metadata, MetadataCommand, Package};

use super::{Problem, TextFile};
use crate::workspace;

/// The project's crates, each with those it may depend on, also for its tests.
const ARROWS: &[(&str, &[&str])] = &[
    ("unsnarl-recording", &[]),
    ("unsnarl-policies", &["unsnarl-recording"]),
    ("unsnarl-native-runtime", &["unsnarl-recording", "unsnarl-policies"]),
    ("unsnarl-jvm-agent", &["unsnarl-recording", "unsnarl-policies"]),
    ("unsnarl-localize", &["unsnarl-recording"]),
    ("unsnarl-runner", &["unsnarl-recording"]),
    ("unsnarl-report", &["unsnarl-localize"]),
    (
        "unsnarl",
        &["unsnarl-recording", "unsnarl-policies", "unsnarl-localize", "unsnarl-runner", "unsnarl-report"],
    ),
    ("xtask", &["unsnarl-recording", "unsnarl-localize", "unsnarl-runner"]),
];

/// The crates that live inside other people's programs, with all they may take from outside.
const LEAN: &[(&str, &[&str])] = &[
    ("unsnarl-recording", &[]),
    ("unsnarl-policies", &[]),
    ("unsnarl-native-runtime", &["libc"]),
    ("unsnarl-jvm-agent", &["libc", "jvmti-bindings", "rustc-hash"]),
];

/// Libraries have errors of their own: only programs may use this.
const ERRORS_OF_PROGRAMS: &str = "anyhow";
const PROGRAMS: &[&str] = &["unsnarl", "xtask"];

pub fn check(_: &[TextFile]) -> anyhow::Result<Vec<Problem>> {
    let mut problems = Vec::new();
    for metadata in metadata()? {
        for package in metadata.workspace_packages() {
            let dependencies: Vec<(&str, bool)> = package
                .dependencies
                .iter()
                .map(|dependency| (dependency.name.as_str(), is_normal(dependency.kind)))
                .collect();
            let broken = broken_arrows(&package.name, &dependencies);
            problems
                .extend(broken.into_iter().map(|message| Problem::new(manifest_of(package), None, message)));
        }
    }
    Ok(problems)
}

fn is_normal(kind: cargo_metadata::DependencyKind) -> bool {
    kind == cargo_metadata::DependencyKind::Normal
}

/// What is wrong with a crate's dependencies, each given with whether it is a normal one.
fn broken_arrows(name: &str, dependencies: &[(&str, bool)]) -> Vec<String> {
    let Some((_, allowed)) = ARROWS.iter().find(|(package, _)| *package == name) else {
        return vec![format!("crate {name} has no place in the table of arrows in xtask/src/tidy/arrows.rs")];
    };
    let lean = LEAN.iter().find(|(package, _)| *package == name).map(|(_, allowed)| allowed);
    let mut broken = Vec::new();
    for &(dependency, is_normal) in dependencies {
        let is_ours = ARROWS.iter().any(|(package, _)| *package == dependency);
        if is_ours && !allowed.contains(&dependency) {
            broken.push(format!("{name} must not depend on {dependency}"));
        }
        if !is_ours && is_normal && lean.is_some_and(|lean| !lean.contains(&dependency)) {
            broken.push(format!("{name} lives inside other programs and must not depend on {dependency}"));
        }
        if dependency == ERRORS_OF_PROGRAMS && !PROGRAMS.contains(&name) {
            broken.push(format!("{name} is a library and needs an error type of its own, not {dependency}"));
        }
    }
    broken
}

/// Both workspaces of the project, with everything they depend on.
pub fn metadata() -> anyhow::Result<[Metadata; 2]> {
    let of = |manifest: &Path| {
        MetadataCommand::new()
            .current_dir(workspace::root())
            .manifest_path(manifest)
            .exec()
            .with_context(|| format!("cannot read {}", manifest.display()))
    };
    Ok([of(&workspace::root().join("Cargo.toml"))?, of(&workspace::recorder_manifest())?])
}

/// Its manifest, from the project's root.
pub fn manifest_of(package: &Package) -> &Path {
    let manifest = package.manifest_path.as_std_path();
    manifest.strip_prefix(workspace::root()).unwrap_or(manifest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_point_one_way() {
        let none: [String; 0] = [];
        assert_eq!(broken_arrows("unsnarl-runner", &[("unsnarl-recording", true), ("regex", true)]), none);
        assert_eq!(
            broken_arrows("unsnarl-runner", &[("unsnarl-localize", false)]),
            ["unsnarl-runner must not depend on unsnarl-localize"]
        );
        assert_eq!(broken_arrows("unsnarl-misc", &[]).len(), 1);
    }

    #[test]
    fn the_recorder_stays_lean() {
        let none: [String; 0] = [];
        assert_eq!(broken_arrows("unsnarl-native-runtime", &[("libc", true), ("proptest", false)]), none);
        assert_eq!(broken_arrows("unsnarl-native-runtime", &[("regex", true)]).len(), 1);
    }

    #[test]
    fn only_programs_use_anyhow() {
        assert_eq!(broken_arrows("unsnarl-report", &[("anyhow", true)]).len(), 1);
        assert_eq!(broken_arrows("unsnarl", &[("anyhow", true)]).len(), 0);
    }
}
