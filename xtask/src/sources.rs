//! Sources of other people's programs, fetched once into cargo's target folder: what the project measures and tries
//! itself on without carrying it along.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::workspace;

/// The source of a Debian package, from wherever the machine gets its packages.
pub fn debian(package: &str) -> anyhow::Result<PathBuf> {
    let folder = workspace::scratch("sources")?.join("debian").join(package);
    if let Some(source) = only_folder_in(&folder) {
        return Ok(source);
    }
    let apt = Apt::prepare()?;
    // A download that was interrupted leaves no folder.
    fs::create_dir_all(&folder)?;
    eprintln!("fetching the source of {package}");
    workspace::run_quietly(apt.command().args(["source", package]).current_dir(&folder))?;
    only_folder_in(&folder).with_context(|| format!("the source package {package} holds no folder"))
}

/// The source of a package from crates.io, in this or a compatible version.
pub fn crates_io(package: &str, version: &str) -> anyhow::Result<PathBuf> {
    let folder = workspace::scratch("sources")?.join("crates").join(package);
    let source = folder.join(package);
    if source.exists() {
        return Ok(source);
    }
    // Whoever depends on it learns where cargo keeps it.
    fs::create_dir_all(folder.join("src"))?;
    fs::write(folder.join("src/lib.rs"), "")?;
    let manifest = format!(
        "[package]\nname = \"fetch\"\nedition = \"2024\"\n[dependencies]\n{package} = \"{version}\"\n[workspace]\n"
    );
    fs::write(folder.join("Cargo.toml"), manifest)?;
    cargo_metadata::MetadataCommand::new().current_dir(&folder).exec()?;
    let lock: toml::Table = fs::read_to_string(folder.join("Cargo.lock"))?.parse()?;
    let packages = lock.get("package").and_then(toml::Value::as_array).into_iter().flatten();
    let locked = packages.filter(|entry| entry.get("name").and_then(toml::Value::as_str) == Some(package));
    let found = locked.filter_map(|entry| entry.get("version")?.as_str()).next();
    let found = found.with_context(|| format!("crates.io has no {package} {version}"))?;
    copy_folder(&kept_by_cargo(package, found)?, &source)?;
    // It lies within our own workspace, but is none of it.
    let mut manifest = fs::OpenOptions::new().append(true).open(source.join("Cargo.toml"))?;
    writeln!(manifest, "\n[workspace]")?;
    Ok(source)
}

/// Where cargo keeps a package that it has fetched. (Its metadata leave out packages without a library.)
fn kept_by_cargo(package: &str, version: &str) -> anyhow::Result<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home =
        home.or_else(|| Some(std::env::home_dir()?.join(".cargo"))).context("there is no home folder")?;
    let registries = fs::read_dir(home.join("registry/src"))?.filter_map(Result::ok);
    let mut kept = registries.map(|registry| registry.path().join(format!("{package}-{version}")));
    kept.find(|folder| folder.exists()).with_context(|| format!("cargo has not fetched {package} {version}"))
}

fn only_folder_in(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.filter_map(Result::ok);
    entries.map(|entry| entry.path()).find(|path| path.is_dir())
}

/// Copies what lies in a folder, and makes all of it writable: cargo's own copies may not be.
fn copy_folder(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot list {}", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::write(&target, fs::read(entry.path())?)?;
        }
    }
    Ok(())
}

/// apt with lists of its own, which name source packages; the machine's are left alone.
struct Apt {
    config: PathBuf,
}

impl Apt {
    fn prepare() -> anyhow::Result<Apt> {
        let folder = workspace::scratch("sources")?.join("apt");
        let apt = Apt { config: folder.join("apt.conf") };
        if apt.config.exists() {
            return Ok(apt);
        }
        let parts = folder.join("parts");
        for part in [&parts, &folder.join("lists/partial"), &folder.join("cache/archives/partial")] {
            fs::create_dir_all(part)?;
        }
        let mut found = false;
        for list in own_lists() {
            let Some(text) = fs::read_to_string(&list).ok().and_then(|text| naming_sources(&text)) else {
                continue;
            };
            fs::write(parts.join(list.file_name().context("a list has a name")?), text)?;
            found = true;
        }
        if !found {
            bail!("this machine gets no packages from Debian, whose sources are needed here");
        }
        let config = format!(
            "Dir::Etc::SourceList \"/dev/null\";\nDir::Etc::SourceParts \"{0}/parts\";\n\
             Dir::State::Lists \"{0}/lists\";\nDir::Cache \"{0}/cache\";\nAPT::Sandbox::User \"root\";\n",
            folder.display()
        );
        let unfinished = folder.join("apt.conf.new");
        fs::write(&unfinished, config)?;
        workspace::run_quietly(Apt { config: unfinished.clone() }.command().arg("update"))?;
        fs::rename(unfinished, &apt.config)?;
        Ok(apt)
    }

    fn command(&self) -> Command {
        let mut apt = Command::new("apt-get");
        apt.env("APT_CONFIG", &self.config).arg("--quiet");
        apt
    }
}

/// The files in which the machine lists where its packages come from.
fn own_lists() -> Vec<PathBuf> {
    let parts = fs::read_dir("/etc/apt/sources.list.d").into_iter().flatten().filter_map(Result::ok);
    let is_list =
        |path: &PathBuf| path.extension().is_some_and(|ending| ending == "sources" || ending == "list");
    parts.map(|entry| entry.path()).filter(is_list).chain([PathBuf::from("/etc/apt/sources.list")]).collect()
}

/// The same list for source packages. None if it is not Debian's.
fn naming_sources(list: &str) -> Option<String> {
    let as_source = |line: &str| match line.split_whitespace().next() {
        Some("Types:") => "Types: deb-src\n".to_owned(),
        Some("deb") => format!("deb-src{}\n", &line.trim_start()["deb".len()..]),
        Some("deb-src") => String::new(),
        _ => format!("{line}\n"),
    };
    list.contains("debian").then(|| list.lines().map(as_source).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_turned_to_sources() {
        let modern = "Types: deb\nURIs: mirror/debian\nSuites: bookworm\n";
        assert_eq!(
            naming_sources(modern).unwrap(),
            "Types: deb-src\nURIs: mirror/debian\nSuites: bookworm\n"
        );
        let old = "# debian\ndeb mirror/debian bookworm main\ndeb-src mirror/debian bookworm main\n";
        assert_eq!(naming_sources(old).unwrap(), "# debian\ndeb-src mirror/debian bookworm main\n");
        assert_eq!(naming_sources("deb mirror/other stable main\n"), None);
    }
}
