//! Names that tell the locks of one finding apart.

use localize::{Code, ObjectId, Profile};

use super::Names;

/// Locks and the like of one finding by their names. Different ones of the same name get numbers.
pub struct DistinctNames {
    named: Vec<(ObjectId, String)>,
}

impl DistinctNames {
    /// Names these, in the order in which they are told of.
    pub fn of(
        objects: impl IntoIterator<Item = ObjectId>,
        names: &mut Names,
        profile: &Profile,
        code: &Code,
    ) -> DistinctNames {
        let mut named: Vec<(ObjectId, String)> = Vec::new();
        for object in objects {
            if named.iter().all(|(known, _)| *known != object) {
                named.push((object, names.object(object, profile, code)));
            }
        }
        DistinctNames { named: numbered(named) }
    }

    /// The name of one of them.
    pub fn get(&self, object: ObjectId) -> String {
        let known = self.named.iter().find(|(known, _)| *known == object);
        known.map(|(_, name)| name.clone()).unwrap_or_default()
    }

    /// Whether others of these go by the same name but for the number.
    pub fn is_numbered(&self, object: ObjectId, names: &mut Names, profile: &Profile, code: &Code) -> bool {
        self.get(object) != names.object(object, profile, code)
    }
}

/// `Account #1` and `Account #2` for two of one name.
fn numbered(named: Vec<(ObjectId, String)>) -> Vec<(ObjectId, String)> {
    let count =
        |all: &[(ObjectId, String)], name: &str| all.iter().filter(|(_, other)| other == name).count();
    let number = |(at, (object, name)): (usize, &(ObjectId, String))| {
        let is_shared = count(&named, name) > 1;
        let name = if is_shared { format!("{name} #{}", count(&named[..=at], name)) } else { name.clone() };
        (*object, name)
    };
    named.iter().enumerate().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_shares_a_name_gets_a_number() {
        let named = ["Account", "Bank.class", "Account"];
        let named = (0..).map(ObjectId).zip(named.map(str::to_owned)).collect();
        let names: Vec<String> = numbered(named).into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, ["Account #1", "Bank.class", "Account #2"]);
    }
}
