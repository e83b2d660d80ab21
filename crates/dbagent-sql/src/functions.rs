//! What functions do, by name: the engine's own list, written down once per dialect.

mod standard;

pub use standard::STANDARD;

use dbagent_core::Effects;

/// Names of functions that do the same thing.
#[derive(Debug, Clone, Copy)]
pub struct FunctionGroup {
    names: &'static [&'static str],
    effects: Effects,
    choice: Option<&'static str>,
}

impl FunctionGroup {
    /// Functions with these effects.
    ///
    /// # Panics
    /// Where the names are not in lower case, sorted, each there once; in a `const` that stops the build.
    pub const fn new(effects: Effects, names: &'static [&'static str]) -> Self {
        assert!(is_sorted(names), "function names must be lower case, sorted, and each there once");
        Self { names, effects, choice: None }
    }

    /// Functions that only read, but are refused unless a policy allows this choice: `sleep`, for those that
    /// burn time.
    ///
    /// # Panics
    /// As [`FunctionGroup::new`].
    pub const fn unless_allowed(choice: &'static str, names: &'static [&'static str]) -> Self {
        let group = Self::new(Effects::READ, names);
        Self { choice: Some(choice), ..group }
    }

    /// The names.
    pub const fn names(&self) -> &'static [&'static str] {
        self.names
    }

    /// What the functions do.
    pub const fn effects(&self) -> Effects {
        self.effects
    }
}

/// What the functions of an engine do. A function that is not in the table is unknown, and refused.
///
/// Write one with [`functions!`](crate::functions!); put it over [`STANDARD`] with [`FunctionTable::over`].
#[derive(Debug, Clone, Copy)]
pub struct FunctionTable {
    groups: &'static [FunctionGroup],
    base: Option<&'static FunctionTable>,
}

/// What a table says of one function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// What it does.
    pub effects: Effects,
    /// The choice of policy that it needs, if any.
    pub choice: Option<&'static str>,
}

impl FunctionTable {
    /// A table of these groups.
    pub const fn new(groups: &'static [FunctionGroup]) -> Self {
        Self { groups, base: None }
    }

    /// The same table; what it does not name is looked up in `base`.
    pub const fn over(mut self, base: &'static FunctionTable) -> Self {
        self.base = Some(base);
        self
    }

    /// Looks a function up by its bare name; ASCII letters compare without case. A name in several groups
    /// has the effects of all of them.
    pub fn get(&self, name: &str) -> Option<Known> {
        let key = name.to_ascii_lowercase();
        let mut found: Option<Known> = None;
        for group in self.groups {
            if group.names.binary_search(&key.as_str()).is_ok() {
                let so_far = found.unwrap_or(Known { effects: Effects::NONE, choice: None });
                found = Some(Known {
                    effects: so_far.effects | group.effects,
                    choice: so_far.choice.or(group.choice),
                });
            }
        }
        found.or_else(|| self.base.and_then(|base| base.get(name)))
    }

    /// Every name with its effects, group by group, those of the base last.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Effects)> + '_ {
        let base: Box<dyn Iterator<Item = _>> = match self.base {
            Some(base) => Box::new(base.iter()),
            None => Box::new(std::iter::empty()),
        };
        self.groups.iter().flat_map(|g| g.names.iter().map(|n| (*n, g.effects))).chain(base)
    }
}

/// Whether each name is lower case and greater than the one before, by bytes.
const fn is_sorted(names: &[&str]) -> bool {
    let mut rest = names;
    let mut previous: &[u8] = b"";
    while let [name, tail @ ..] = rest {
        let bytes = name.as_bytes();
        if !less(previous, bytes) {
            return false;
        }
        let mut letters = bytes;
        while let [letter, others @ ..] = letters {
            if letter.is_ascii_uppercase() {
                return false;
            }
            letters = others;
        }
        previous = bytes;
        rest = tail;
    }
    true
}

const fn less(mut a: &[u8], mut b: &[u8]) -> bool {
    loop {
        match (a, b) {
            ([] | [_, ..], []) => return false,
            ([], [_, ..]) => return true,
            ([x, rest_a @ ..], [y, rest_b @ ..]) => {
                if *x != *y {
                    return *x < *y;
                }
                a = rest_a;
                b = rest_b;
            }
        }
    }
}

/// Writes a [`FunctionTable`] as words: groups by effect, names sorted.
///
/// The effects are `read`, `lock`, `write`, `schema`, `session`, `server_io` and `unknown`; a group behind a
/// text is refused unless the policy allows the choice of that name.
///
/// ```
/// use dbagent_core::Effects;
/// dbagent_sql::functions! {
///     /// The functions of MyDB.
///     pub const FUNCTIONS = over dbagent_sql::functions::STANDARD {
///         read { if left my_hash }
///         write { nextval setval }
///         server_io { load_file }
///         "sleep" { sleep }
///     }
/// }
/// assert_eq!(FUNCTIONS.get("NextVal").unwrap().effects, Effects::WRITE);
/// assert_eq!(FUNCTIONS.get("abs").unwrap().effects, Effects::READ);
/// assert!(FUNCTIONS.get("dblink").is_none());
/// ```
///
/// A list out of order does not compile:
///
/// ```compile_fail,E0080
/// dbagent_sql::functions! {
///     pub const FUNCTIONS = { read { sin cos } }
/// }
/// ```
#[macro_export]
macro_rules! functions {
    ($(#[$meta:meta])* $vis:vis const $table:ident = $(over $($base:ident)::+)? {
        $($group:tt { $($name:ident)+ })+
    }) => {
        $(#[$meta])*
        $vis const $table: $crate::FunctionTable = {
            const GROUPS: &[$crate::FunctionGroup] =
                &[$($crate::functions!(@group $group [$(stringify!($name)),+])),+];
            $crate::FunctionTable::new(GROUPS)$(.over(&$($base)::+))?
        };
    };
    (@group read $names:tt) => { $crate::functions!(@effect READ $names) };
    (@group lock $names:tt) => { $crate::functions!(@effect LOCK $names) };
    (@group write $names:tt) => { $crate::functions!(@effect WRITE $names) };
    (@group schema $names:tt) => { $crate::functions!(@effect SCHEMA $names) };
    (@group session $names:tt) => { $crate::functions!(@effect SESSION $names) };
    (@group server_io $names:tt) => { $crate::functions!(@effect SERVER_IO $names) };
    (@group unknown $names:tt) => { $crate::functions!(@effect UNKNOWN $names) };
    (@group $choice:literal $names:tt) => { $crate::FunctionGroup::unless_allowed($choice, &$names) };
    (@effect $effect:ident $names:tt) => {
        $crate::FunctionGroup::new($crate::Effects::$effect, &$names)
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    functions! {
        const OWN = over STANDARD {
            read { abs greatest }
            write { abs nextval }
            "sleep" { sleep }
        }
    }

    #[test]
    fn own_names_come_first_and_effects_of_one_name_add_up() {
        assert_eq!(OWN.get("ABS").unwrap().effects, Effects::READ | Effects::WRITE);
        assert_eq!(OWN.get("upper").unwrap(), Known { effects: Effects::READ, choice: None });
        assert_eq!(OWN.get("sleep").unwrap().choice, Some("sleep"));
        assert_eq!(OWN.get("no_such"), None);
        assert!(OWN.iter().any(|(n, e)| n == "nextval" && e == Effects::WRITE));
        assert!(OWN.iter().any(|(n, _)| n == "upper"));
    }

    #[test]
    fn order_is_checked() {
        assert!(is_sorted(&["a", "aa", "b"]));
        for bad in [&["b", "a"][..], &["a", "a"], &["A"], &["aa", "a"]] {
            assert!(!is_sorted(bad), "{bad:?}");
        }
    }
}
