//! What a request does to a database: a small set.

use std::fmt;

/// A set of effects. `UNKNOWN` is an effect like the others: whoever meets it refuses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Effects(u8);

impl Effects {
    /// Nothing at all.
    pub const NONE: Effects = Effects(0);
    /// Reads rows or the catalogue.
    pub const READ: Effects = Effects(1);
    /// Takes locks that others can feel.
    pub const LOCK: Effects = Effects(1 << 1);
    /// Changes rows.
    pub const WRITE: Effects = Effects(1 << 2);
    /// Changes the schema, accounts or rights.
    pub const SCHEMA: Effects = Effects(1 << 3);
    /// Changes the session, its transaction or its settings.
    pub const SESSION: Effects = Effects(1 << 4);
    /// Reaches files, the network, other processes or other sessions of the server.
    pub const SERVER_IO: Effects = Effects(1 << 5);
    /// Cannot be told.
    pub const UNKNOWN: Effects = Effects(1 << 6);

    const NAMES: &'static [(Effects, &'static str)] = &[
        (Self::READ, "read"),
        (Self::LOCK, "lock"),
        (Self::WRITE, "write"),
        (Self::SCHEMA, "schema"),
        (Self::SESSION, "session"),
        (Self::SERVER_IO, "server-io"),
        (Self::UNKNOWN, "unknown"),
    ];

    /// Both sets together.
    pub const fn union(self, other: Effects) -> Effects {
        Effects(self.0 | other.0)
    }

    /// Whether all of `other` is in this set.
    pub const fn contains(self, other: Effects) -> bool {
        self.0 & other.0 == other.0
    }

    /// What is in this set and not in `other`.
    pub const fn without(self, other: Effects) -> Effects {
        Effects(self.0 & !other.0)
    }

    /// Whether there is no effect at all.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the set holds nothing but reads.
    pub const fn is_pure_read(self) -> bool {
        self.without(Self::READ).is_empty()
    }

    /// The names of the effects in the set, in a fixed order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES.iter().filter(move |(e, _)| self.contains(*e)).map(|(_, n)| *n)
    }

    /// The effect of that name.
    pub fn from_name(name: &str) -> Option<Effects> {
        Self::NAMES.iter().find(|(_, n)| *n == name).map(|(e, _)| *e)
    }
}

impl std::ops::BitOr for Effects {
    type Output = Effects;
    fn bitor(self, other: Effects) -> Effects {
        self.union(other)
    }
}

impl std::ops::BitOrAssign for Effects {
    fn bitor_assign(&mut self, other: Effects) {
        *self = self.union(other);
    }
}

impl fmt::Display for Effects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        for (i, name) in self.names().enumerate() {
            if i > 0 {
                f.write_str("+")?;
            }
            f.write_str(name)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Effects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Effects({self})")
    }
}

impl serde::Serialize for Effects {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_seq(self.names())
    }
}

impl<'de> serde::Deserialize<'de> for Effects {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let names = Vec::<String>::deserialize(d)?;
        let mut effects = Effects::NONE;
        for name in names {
            // A name from a newer version is not skipped: it is an effect that this program cannot tell.
            effects |= Effects::from_name(&name).unwrap_or(Effects::UNKNOWN);
        }
        Ok(effects)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_add_up_and_print() {
        let e = Effects::READ | Effects::WRITE;
        assert!(!e.is_pure_read());
        assert_eq!(e.to_string(), "read+write");
        assert!(Effects::READ.is_pure_read());
        let back: Effects = serde_json::from_str(&serde_json::to_string(&e).unwrap()).unwrap();
        assert_eq!(back, e);
    }

    #[test]
    fn an_effect_of_a_newer_version_is_unknown() {
        let e: Effects = serde_json::from_str("[\"read\",\"teleport\"]").unwrap();
        assert!(e.contains(Effects::UNKNOWN));
    }
}
