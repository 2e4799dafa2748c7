//! The runs that are compared, as the techniques read them.

use std::collections::BTreeMap;
use std::rc::Rc;

use localize::{Code, Options, Outcome, Profile, Reduced, Scan, Technique};
use runner::{RunNumber, RunRecord, Session};

use crate::analysis;
use crate::names::Names;

/// Runs of a session, with what is known of its code.
pub struct Runs<'a> {
    /// Where they are.
    pub session: &'a Session,
    /// Those that are compared, which may be some of the session's.
    pub records: Vec<RunRecord>,
    /// Numbers the sites of all runs that were read.
    pub code: Code,
    /// Names for these.
    pub names: Names,
    /// What is to be said about all of them.
    warnings: Vec<String>,
    /// What is kept of runs that will be asked for again; nothing if a report is made once.
    kept: Option<Kept>,
}

/// Runs, and what the techniques that will be asked keep of each.
struct Kept {
    techniques: Vec<Technique>,
    profiles: BTreeMap<(RunNumber, Outcome), Rc<Profile>>,
    reduced: BTreeMap<(RunNumber, Outcome, Technique), Rc<Reduced>>,
}

impl<'a> Runs<'a> {
    /// All runs of a session. Keeping them in memory would cost more than reading a few of them twice.
    pub fn of(session: &'a Session) -> Runs<'a> {
        Runs::known(session, Code::default(), Names::default())
    }

    /// The same, by one who has read some of them before.
    pub fn known(session: &'a Session, code: Code, names: Names) -> Runs<'a> {
        let warnings = session.warnings().iter().cloned().chain(analysis::left_out_reads(session)).collect();
        Runs { session, records: session.runs().to_vec(), code, names, warnings, kept: None }
    }

    /// The same, for many reports of these techniques on some of them: each is read and reduced once, and kept.
    pub fn kept(session: &'a Session, techniques: &[Technique]) -> Runs<'a> {
        let (profiles, reduced) = Default::default();
        let kept = Kept { techniques: techniques.to_vec(), profiles, reduced };
        Runs { kept: Some(kept), ..Runs::of(session) }
    }

    /// What is to be said about all of them.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Reads one run.
    pub fn load(&mut self, run: RunNumber, outcome: Outcome) -> anyhow::Result<Rc<Profile>> {
        let known = self.kept.as_ref().and_then(|kept| kept.profiles.get(&(run, outcome)));
        if let Some(profile) = known {
            return Ok(Rc::clone(profile));
        }
        let profile = Rc::new(analysis::load(self.session, run, outcome, &mut self.code, &mut self.names)?);
        if let Some(kept) = &mut self.kept {
            kept.profiles.insert((run, outcome), Rc::clone(&profile));
        }
        Ok(profile)
    }

    /// What a technique keeps of a run.
    pub fn reduce(&mut self, profile: &Profile, technique: Technique, options: &Options) -> Rc<Reduced> {
        let Some(kept) = &mut self.kept else { return Rc::new(technique.reduce(&profile.run, options)) };
        let key =
            |technique: Technique| (RunNumber(profile.run.id.0), profile.run.outcome, technique.basis());
        if let Some(known) = kept.reduced.get(&key(technique)) {
            return Rc::clone(known);
        }
        let scan = Scan::new(&profile.run, options);
        for &other in &kept.techniques {
            kept.reduced.entry(key(other)).or_insert_with(|| Rc::new(other.reduce_scanned(&scan)));
        }
        let asked = kept.reduced.entry(key(technique));
        Rc::clone(asked.or_insert_with(|| Rc::new(technique.reduce_scanned(&scan))))
    }
}
