//! Numbers in words.

/// The number a word says: `five`, `twelve`, `hundred`.
pub(crate) fn number_word(word: &str) -> Option<u64> {
    let n = match word {
        "zero" => 0,
        "one" => 1,
        "two" => 2,
        "three" => 3,
        "four" => 4,
        "five" => 5,
        "six" => 6,
        "seven" => 7,
        "eight" => 8,
        "nine" => 9,
        "ten" => 10,
        "eleven" => 11,
        "twelve" | "dozen" => 12,
        "fifteen" => 15,
        "twenty" => 20,
        "thirty" => 30,
        "forty" => 40,
        "fifty" => 50,
        "sixty" => 60,
        "hundred" => 100,
        "thousand" => 1_000,
        "million" => 1_000_000,
        "billion" => 1_000_000_000,
        _ => return None,
    };
    Some(n)
}

/// The place an ordinal names: `second`, `3rd`. `first` is left to those who know whether a rank is meant.
pub(crate) fn ordinal(word: &str) -> Option<u64> {
    let n = match word {
        "second" => 2,
        "third" => 3,
        "fourth" => 4,
        "fifth" => 5,
        "sixth" => 6,
        "seventh" => 7,
        "eighth" => 8,
        "ninth" => 9,
        "tenth" => 10,
        _ => {
            let digits = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end))?;
            return digits.parse().ok().filter(|n| (2..=1000).contains(n));
        }
    };
    Some(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_numbers() {
        assert_eq!(number_word("five"), Some(5));
        assert_eq!(number_word("fife"), None);
        assert_eq!(ordinal("second"), Some(2));
        assert_eq!(ordinal("3rd"), Some(3));
        assert_eq!(ordinal("north"), None);
    }
}
