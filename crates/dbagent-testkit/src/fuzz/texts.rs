//! Texts made of other texts: rows of the corpora with tokens moved about.

use super::random::Random;

/// Where texts come from.
pub trait Texts: Send {
    /// One more.
    fn next(&mut self, random: &mut Random) -> String;
}

/// Two sources, taken from in turn by chance.
impl<A: Texts, B: Texts> Texts for (A, B) {
    fn next(&mut self, random: &mut Random) -> String {
        if random.once_in(2) { self.0.next(random) } else { self.1.next(random) }
    }
}

/// Seeds with pieces inserted, removed, swapped, doubled and joined with those of others.
#[derive(Debug, Clone)]
pub struct Mutations {
    seeds: Vec<Vec<String>>,
    spice: Vec<String>,
}

impl Mutations {
    /// Of these seeds; `spice` is what a text of the language can be upset by: quotes, ends of statements,
    /// comments, words that write.
    pub fn new<S: Into<String>>(
        seeds: impl IntoIterator<Item = S>,
        spice: impl IntoIterator<Item = S>,
    ) -> Self {
        Self {
            seeds: seeds.into_iter().map(|seed| pieces(&seed.into())).collect(),
            spice: spice.into_iter().map(Into::into).collect(),
        }
    }
}

impl Texts for Mutations {
    fn next(&mut self, random: &mut Random) -> String {
        let mut text = random.pick(&self.seeds).cloned().unwrap_or_default();
        // Mostly one change: a text with several is rarely one that a grammar accepts.
        let changes = if random.once_in(3) { 3 } else { 1 };
        for _ in 0..changes {
            let at = random.below(text.len() + 1);
            // A place of a piece that is there.
            let here = at.min(text.len().saturating_sub(1));
            match random.below(6) {
                0 => {
                    let piece = random.pick(&self.spice).cloned().unwrap_or_default();
                    text.insert(at, piece);
                }
                1 if !text.is_empty() => {
                    text.remove(here);
                }
                2 if !text.is_empty() => {
                    let other = random.below(text.len());
                    text.swap(here, other);
                }
                3 => {
                    // The head of one and the tail of another.
                    let other = random.pick(&self.seeds).cloned().unwrap_or_default();
                    let cut = random.below(other.len() + 1);
                    text.truncate(at);
                    text.extend(other.into_iter().skip(cut));
                }
                4 => {
                    if let Some(piece) = text.get(here).cloned() {
                        text.insert(here, piece);
                    }
                }
                _ => {
                    let other = random.pick(&self.seeds).cloned().unwrap_or_default();
                    if let Some(piece) = random.pick(&other).cloned() {
                        text.insert(at, piece);
                    }
                }
            }
        }
        text.concat()
    }
}

/// Cuts a text where tokens begin, roughly: a wrong cut is a mutation too.
fn pieces(text: &str) -> Vec<String> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let mut pieces: Vec<String> = Vec::new();
    for c in text.chars() {
        match pieces.last_mut() {
            Some(last) if word(c) && last.chars().all(word) => last.push(c),
            _ => pieces.push(c.to_string()),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_at_its_words_and_is_the_sum_of_its_pieces() {
        let text = "SELECT a_1, 'ü x' FROM t";
        assert_eq!(pieces(text).concat(), text);
        assert_eq!(pieces("ab c"), ["ab", " ", "c"]);
    }

    #[test]
    fn mutations_are_near_their_seeds_and_not_all_the_same() {
        let mut mutations = Mutations::new(["SELECT a FROM t", "DELETE FROM t"], [";", "'"]);
        let mut random = Random::new(3);
        let texts: std::collections::BTreeSet<String> =
            (0..100).map(|_| mutations.next(&mut random)).collect();
        assert!(texts.len() > 50, "{}", texts.len());
        assert!(texts.iter().filter(|t| t.contains("FROM")).count() > 50);
    }

    #[test]
    fn without_seeds_there_is_no_panic() {
        let mut nothing = Mutations::new(Vec::<String>::new(), Vec::new());
        let mut random = Random::new(3);
        assert!((0..100).all(|_| nothing.next(&mut random).is_empty()));
    }
}
