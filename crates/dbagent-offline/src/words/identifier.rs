//! Identifiers as words: `InvoiceLine`, `invoice_line`, `tblInvoiceLines` and `invoicelines` say the same.

use std::collections::BTreeSet;

use super::form::singular;

/// What an identifier says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Label {
    /// Its words in order, lower case, singular, abbreviations written out.
    pub(crate) words: Vec<String>,
}

impl Label {
    /// The words as a person writes them.
    pub(crate) fn spoken(&self) -> String {
        self.words.join(" ")
    }

    /// Whether it has that word.
    pub(crate) fn has(&self, word: &str) -> bool {
        self.words.iter().any(|w| w == word)
    }

    /// Whether it has one of these words.
    pub(crate) fn has_any(&self, words: &[&str]) -> bool {
        words.iter().any(|w| self.has(w))
    }
}

/// Reads an identifier. `vocabulary` holds the words of the other identifiers of the same schema; it helps
/// to cut names that are written together in lower case.
pub(crate) fn label(name: &str, vocabulary: &BTreeSet<String>) -> Label {
    let raw = joined_pairs(pieces(name));
    let mut words: Vec<String> = Vec::new();
    let several = raw.len() > 1;
    for (i, piece) in raw.iter().enumerate() {
        if i == 0 && several && ["tbl", "tb", "t"].contains(&piece.as_str()) {
            continue;
        }
        if let Some((_, whole)) = ABBREVIATIONS.iter().find(|(short, _)| short == piece) {
            words.extend(whole.split(' ').map(str::to_owned));
            continue;
        }
        match cut(piece, vocabulary) {
            Some(parts) => words.extend(parts.iter().flat_map(|p| {
                ABBREVIATIONS
                    .iter()
                    .find(|(short, _)| short == p)
                    .map_or_else(|| vec![singular(p)], |(_, w)| w.split(' ').map(str::to_owned).collect())
            })),
            None => words.push(singular(piece)),
        }
    }
    Label { words }
}

/// The words of an identifier that its own writing shows: by case, digits and separators.
pub(crate) fn pieces(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().collect();
    let mut out = Vec::new();
    let mut word = String::new();
    let mut previous: Option<char> = None;
    for (i, c) in chars.iter().copied().enumerate() {
        if !c.is_alphanumeric() {
            out.push(std::mem::take(&mut word));
            previous = None;
            continue;
        }
        let next_is_lower = chars.get(i + 1).is_some_and(|n| n.is_lowercase());
        let boundary = previous.is_some_and(|p| {
            (p.is_lowercase() && c.is_uppercase())
                || (p.is_uppercase() && c.is_uppercase() && next_is_lower)
                || (p.is_numeric() != c.is_numeric())
        });
        if boundary {
            out.push(std::mem::take(&mut word));
        }
        word.extend(c.to_lowercase());
        previous = Some(c);
    }
    out.push(word);
    out.retain(|w| !w.is_empty());
    out
}

/// Puts `l`, `name` together again, so that the list of abbreviations is found.
fn joined_pairs(pieces: Vec<String>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for piece in pieces {
        match out.last_mut() {
            Some(last) if piece == "name" && ["f", "l"].contains(&last.as_str()) => last.push_str(&piece),
            _ => out.push(piece),
        }
    }
    out
}

/// The words of the question that a word stands for; abbreviations that are also English stay as they are.
pub(crate) fn spoken(word: &str) -> Vec<String> {
    ABBREVIATIONS
        .iter()
        .find(|(short, _)| *short == word && (short.len() > 4 || ["dob", "qty", "dept"].contains(short)))
        .map_or_else(|| vec![singular(word)], |(_, whole)| whole.split(' ').map(str::to_owned).collect())
}

/// Cuts a word that is several written together, if all parts are known.
fn cut(word: &str, vocabulary: &BTreeSet<String>) -> Option<Vec<String>> {
    if word.chars().count() < 5 || vocabulary.contains(&singular(word)) || !word.is_ascii() {
        return None;
    }
    let known = |w: &str| vocabulary.contains(&singular(w)) || TAILS.contains(&singular(w).as_str());
    for tail in TAILS.iter().filter(|t| word.ends_with(**t) || word.ends_with(&format!("{t}s"))) {
        let head =
            word.strip_suffix('s').unwrap_or(word).strip_suffix(tail).or_else(|| word.strip_suffix(tail))?;
        if head.len() >= 3 && !WHOLE.contains(&word) {
            let starts_word = vocabulary.iter().any(|v| v.starts_with(head));
            if known(head) || starts_word {
                return Some(vec![head.to_owned(), (*tail).to_owned()]);
            }
            if let Some(mut parts) = cut(head, vocabulary) {
                parts.push((*tail).to_owned());
                return Some(parts);
            }
        }
    }
    // Two known words of three letters or more.
    (3..word.len().saturating_sub(2)).find_map(|at| {
        let (head, tail) = (word.get(..at)?, word.get(at..)?);
        (vocabulary.contains(&singular(head)) && vocabulary.contains(&singular(tail)))
            .then(|| vec![head.to_owned(), tail.to_owned()])
    })
}

/// Last parts that many names share.
const TAILS: [&str; 18] = [
    "id", "name", "code", "date", "type", "number", "title", "time", "year", "price", "address", "count",
    "status", "rate", "level", "text", "key", "desc",
];

/// Words that end like a tail and are whole.
const WHOLE: [&str; 19] = [
    "paid",
    "unpaid",
    "valid",
    "invalid",
    "android",
    "grid",
    "fluid",
    "liquid",
    "hybrid",
    "solid",
    "rapid",
    "update",
    "candidate",
    "surname",
    "username",
    "nickname",
    "filename",
    "corporate",
    "turkey",
];

const ABBREVIATIONS: [(&str, &str); 47] = [
    ("fname", "first name"),
    ("lname", "last name"),
    ("firstname", "first name"),
    ("lastname", "last name"),
    ("surname", "last name"),
    ("fullname", "full name"),
    ("dob", "birth date"),
    ("birthdate", "birth date"),
    ("birthday", "birth date"),
    ("qty", "quantity"),
    ("quan", "quantity"),
    ("amt", "amount"),
    ("num", "number"),
    ("nbr", "number"),
    ("no", "number"),
    ("nr", "number"),
    ("addr", "address"),
    ("tel", "phone"),
    ("telephone", "phone"),
    ("desc", "description"),
    ("descr", "description"),
    ("dept", "department"),
    ("emp", "employee"),
    ("cust", "customer"),
    ("prod", "product"),
    ("stu", "student"),
    ("prof", "professor"),
    ("avg", "average"),
    ("yr", "year"),
    ("pct", "percent"),
    ("perc", "percent"),
    ("lat", "latitude"),
    ("lng", "longitude"),
    ("lon", "longitude"),
    ("acc", "account"),
    ("acct", "account"),
    ("mgr", "manager"),
    ("org", "organization"),
    ("uid", "user id"),
    ("ref", "reference"),
    ("img", "image"),
    ("ts", "timestamp"),
    ("msec", "millisecond"),
    ("ms", "millisecond"),
    ("zipcode", "zip code"),
    ("postalcode", "postal code"),
    ("prc", "price"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn words(name: &str) -> Vec<String> {
        let vocabulary = ["customer", "student", "track", "playlist", "order", "horse"].map(str::to_owned);
        label(name, &BTreeSet::from(vocabulary)).words
    }

    #[test]
    fn all_writings_say_the_same() {
        for name in ["OrderDetails", "order_details", "Order Details", "tblOrderDetail", "ORDER_DETAILS"] {
            assert_eq!(words(name), ["order", "detail"], "{name}");
        }
    }

    #[test]
    fn abbreviations_and_joined_words_are_cut() {
        assert_eq!(words("CustomerID"), ["customer", "id"]);
        assert_eq!(words("customerid"), ["customer", "id"]);
        assert_eq!(words("stuid"), ["student", "id"]);
        assert_eq!(words("LName"), ["last", "name"]);
        assert_eq!(words("lname"), ["last", "name"]);
        assert_eq!(words("playlisttrack"), ["playlist", "track"]);
        assert_eq!(words("Qty"), ["quantity"]);
        assert_eq!(words("paid"), ["paid"]);
        assert_eq!(words("HTTPServer2"), ["http", "server", "2"]);
        assert_eq!(words("größe"), ["größe"]);
    }
}
