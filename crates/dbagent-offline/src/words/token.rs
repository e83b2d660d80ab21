//! A question cut into tokens that remember where they stood.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Letters, perhaps with digits.
    Word,
    /// Digits, perhaps with thousands separators, a fraction, a currency sign or a percent sign.
    Number,
    /// A calendar date such as `2011-05-01`.
    Date,
    /// A text in quotes, without them.
    Quoted,
    /// Punctuation and comparison signs.
    Symbol,
}

/// A piece of the question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    /// The piece as written (a quoted text without its quotes).
    pub(crate) text: String,
    /// The same in lower case; numbers without signs and separators.
    pub(crate) lower: String,
    /// What it is.
    pub(crate) kind: Kind,
    /// Byte offset of its first character in the question.
    pub(crate) start: usize,
    /// Byte offset behind its last character.
    pub(crate) end: usize,
    /// Whether a possessive `'s` followed it.
    pub(crate) possessive: bool,
}

impl Token {
    /// Whether it begins with a capital letter or holds one (`iPhone`).
    pub(crate) fn is_capital(&self) -> bool {
        self.kind == Kind::Word && self.text.chars().any(char::is_uppercase)
    }
}

/// Cuts a question into tokens.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let mut reader = Reader { text, chars, at: 0, out: Vec::new() };
    reader.run();
    reader.out
}

struct Reader<'a> {
    text: &'a str,
    chars: Vec<(usize, char)>,
    at: usize,
    out: Vec<Token>,
}

impl Reader<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).map(|(_, c)| *c)
    }

    fn offset(&self, at: usize) -> usize {
        self.chars.get(at).map_or(self.text.len(), |(o, _)| *o)
    }

    fn before(&self) -> Option<char> {
        self.at.checked_sub(1).and_then(|i| self.chars.get(i)).map(|(_, c)| *c)
    }

    fn push(&mut self, kind: Kind, from: usize, to: usize) {
        let (start, end) = (self.offset(from), self.offset(to));
        let text = self.text.get(start..end).unwrap_or_default().to_owned();
        let lower = text.to_lowercase();
        self.out.push(Token { text, lower, kind, start, end, possessive: false });
    }

    fn run(&mut self) {
        while let Some(c) = self.peek(0) {
            if c.is_whitespace() {
                self.at += 1;
            } else if let Some(close) = self.closing_quote(c) {
                self.push(Kind::Quoted, self.at + 1, close);
                self.at = close + 1;
            } else if c.is_ascii_digit() || (matches!(c, '$' | '€' | '£' | '-') && self.digit_follows(c)) {
                self.number();
            } else if c.is_alphanumeric() {
                self.word();
            } else {
                let two = matches!((c, self.peek(1)), ('<' | '>' | '!' | '=', Some('=')) | ('<', Some('>')));
                let len = if two { 2 } else { 1 };
                self.push(Kind::Symbol, self.at, self.at + len);
                self.at += len;
            }
        }
    }

    /// A minus is a sign only where a word cannot go on.
    fn digit_follows(&self, c: char) -> bool {
        self.peek(1).is_some_and(|d| d.is_ascii_digit())
            && (c != '-' || self.before().is_none_or(|b| b.is_whitespace() || b == '('))
    }

    /// Where the text ends that opens with this quote, if it is one.
    fn closing_quote(&self, open: char) -> Option<usize> {
        let close: &[char] = match open {
            '"' => &['"'],
            '“' | '„' => &['”', '“', '"'],
            '‘' => &['’'],
            '«' => &['»'],
            '`' => &['`'],
            '\'' => &['\''],
            _ => return None,
        };
        let single = matches!(open, '\'' | '‘');
        if single && self.before().is_some_and(char::is_alphanumeric) {
            return None;
        }
        let mut at = self.at + 1;
        while let Some((_, c)) = self.chars.get(at) {
            let next = self.chars.get(at + 1).map(|(_, c)| *c);
            // An apostrophe inside a word does not close a text in single quotes.
            let inside_word = single && next.is_some_and(char::is_alphanumeric);
            if close.contains(c) && at > self.at + 1 && !inside_word && !(single && self.goes_on(at, close)) {
                return Some(at);
            }
            at += 1;
        }
        None
    }

    /// Whether the quote at `at` is an apostrophe at a word's end, as in `'Guns N' Roses'`: the next quote
    /// closes again, without another that opens in between.
    fn goes_on(&self, at: usize, close: &[char]) -> bool {
        let mut before = ' ';
        for (i, (_, c)) in self.chars.iter().enumerate().skip(at + 1) {
            if close.contains(c) {
                let next = self.chars.get(i + 1).map(|(_, c)| *c);
                return before.is_alphanumeric() && !next.is_some_and(char::is_alphanumeric);
            }
            before = *c;
        }
        false
    }

    fn number(&mut self) {
        let start = self.at;
        if let Some(len) = self.date_length() {
            self.push(Kind::Date, start, start + len);
            self.at += len;
            return;
        }
        if !self.peek(0).is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        while let Some(c) = self.peek(0) {
            let digit_next = self.peek(1).is_some_and(|d| d.is_ascii_digit());
            let three_next = (1..=3).all(|i| self.peek(i).is_some_and(|d| d.is_ascii_digit()))
                && !self.peek(4).is_some_and(|d| d.is_ascii_digit());
            if c.is_ascii_digit() || (c == '.' && digit_next) || (c == ',' && three_next) {
                self.at += 1;
            } else {
                break;
            }
        }
        let end_of_digits = self.at;
        let mut end = self.at;
        while self.chars.get(end).is_some_and(|(_, c)| c.is_alphanumeric()) {
            end += 1;
        }
        let suffix: String =
            self.chars.iter().skip(end_of_digits).take(end - end_of_digits).map(|(_, c)| *c).collect();
        match suffix.to_lowercase().as_str() {
            "" => {}
            // An ordinal, or a code that begins with digits.
            "st" | "nd" | "rd" | "th" => {
                self.at = end;
                self.push(Kind::Word, start, end);
                return;
            }
            "k" | "m" | "bn" => {
                self.at = end;
                let behind = self.offset(end);
                self.push(Kind::Number, start, end_of_digits);
                if let Some(last) = self.out.last_mut() {
                    let zeros = match suffix.to_lowercase().as_str() {
                        "k" => 1e3,
                        "m" => 1e6,
                        _ => 1e9,
                    };
                    let number = digits(&last.lower).parse::<f64>().unwrap_or_default() * zeros;
                    last.lower = number.to_string();
                    last.end = behind;
                }
                return;
            }
            s if s.chars().all(char::is_alphabetic) && s.chars().count() <= 7 => {
                // A number with its unit, as in `5min`.
                self.push(Kind::Number, start, end_of_digits);
                if let Some(last) = self.out.last_mut() {
                    last.lower = digits(&last.lower);
                }
                return;
            }
            _ => {
                self.at = end;
                self.push(Kind::Word, start, end);
                return;
            }
        }
        if self.peek(0) == Some('%') {
            self.at += 1;
        }
        self.push(Kind::Number, start, end_of_digits);
        if let Some(last) = self.out.last_mut() {
            last.lower = digits(&last.lower);
        }
    }

    /// Length in characters of a date that starts here.
    fn date_length(&self) -> Option<usize> {
        let shape: String = self
            .chars
            .iter()
            .skip(self.at)
            .map(|(_, c)| *c)
            .take_while(|c| c.is_ascii_digit() || matches!(c, '-' | '/'))
            .map(|c| if c.is_ascii_digit() { 'd' } else { c })
            .collect();
        let shape = shape.trim_end_matches(['-', '/']);
        let known = ["dddd-dd-dd", "dddd-d-d", "dddd-dd-d", "dddd-d-dd", "dddd/dd/dd", "dddd-dd"];
        known.contains(&shape).then(|| shape.chars().count())
    }

    fn word(&mut self) {
        let start = self.at;
        while let Some(c) = self.peek(0) {
            let goes_on = self.peek(1).is_some_and(char::is_alphanumeric);
            if c.is_alphanumeric() || c == '_' || (matches!(c, '.' | '@' | '+' | '#') && goes_on) {
                self.at += 1;
            } else {
                break;
            }
        }
        // `C#` and `C++` are names.
        if self.at == start + 1 && matches!(self.peek(0), Some('#' | '+')) {
            while matches!(self.peek(0), Some('#' | '+')) {
                self.at += 1;
            }
        }
        let end = self.at;
        self.push(Kind::Word, start, end);
        self.apostrophe();
    }

    /// What follows a word behind an apostrophe: a possessive, or a contraction that is two words.
    fn apostrophe(&mut self) {
        if !matches!(self.peek(0), Some('\'' | '’')) {
            return;
        }
        let tail: String = self
            .chars
            .iter()
            .skip(self.at + 1)
            .map(|(_, c)| *c)
            .take_while(|c| c.is_alphanumeric())
            .collect::<String>()
            .to_lowercase();
        let (start, end) = (self.at, self.at + 1 + tail.chars().count());
        let to = self.offset(end);
        let Some(last) = self.out.last_mut() else { return };
        let asks = ["who", "what", "where", "when", "how", "that", "there", "it", "let"];
        match tail.as_str() {
            "s" if asks.contains(&last.lower.as_str()) => self.contraction("is", start, end),
            "s" => {
                last.possessive = true;
                self.at = end;
            }
            "t" if last.lower.ends_with('n') => {
                let whole = match last.lower.as_str() {
                    "can" => "can",
                    "won" => "will",
                    "shan" => "shall",
                    other => other.strip_suffix('n').unwrap_or(other),
                }
                .to_owned();
                last.lower = whole;
                self.contraction("not", start, end);
            }
            "re" => self.contraction("are", start, end),
            "ve" => self.contraction("have", start, end),
            "ll" => self.contraction("will", start, end),
            "d" => self.contraction("would", start, end),
            "m" => self.contraction("am", start, end),
            "" if last.lower.ends_with('s') => {
                last.possessive = true;
                self.at = end;
            }
            "" => {}
            _ => {
                // A name such as O'Brien: the apostrophe belongs to it.
                let from = last.start;
                self.text.get(from..to).unwrap_or_default().clone_into(&mut last.text);
                last.lower = last.text.to_lowercase();
                last.end = to;
                self.at = end;
                self.apostrophe();
            }
        }
    }

    fn contraction(&mut self, word: &str, start: usize, end: usize) {
        self.push(Kind::Word, start, end);
        if let Some(last) = self.out.last_mut() {
            word.clone_into(&mut last.lower);
        }
        self.at = end;
    }
}

fn digits(text: &str) -> String {
    text.chars().filter(|c| c.is_ascii_digit() || matches!(c, '.' | '-')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lowers(text: &str) -> Vec<String> {
        tokens(text).into_iter().map(|t| t.lower).collect()
    }

    #[test]
    fn words_numbers_quotes_and_signs() {
        assert_eq!(
            lowers("Which tracks cost >= $1,000.50?"),
            ["which", "tracks", "cost", ">=", "1000.50", "?"]
        );
        assert_eq!(lowers("albums by 'Guns N' Roses'"), ["albums", "by", "guns n' roses"]);
        assert_eq!(lowers("AC/DC and Jay-Z"), ["ac", "/", "dc", "and", "jay", "-", "z"]);
        assert_eq!(lowers("on 2011-05-01, 5min 10k"), ["on", "2011-05-01", ",", "5", "min", "10000"]);
        assert_eq!(lowers("10 % 15%"), ["10", "%", "15"]);
    }

    #[test]
    fn apostrophes_are_possessives_contractions_or_names() {
        let t = tokens("Who's the artist's manager that doesn't know O'Brien's cats'");
        let words: Vec<_> = t.iter().map(|t| (t.lower.as_str(), t.possessive)).collect();
        assert_eq!(
            words,
            [
                ("who", false),
                ("is", false),
                ("the", false),
                ("artist", true),
                ("manager", false),
                ("that", false),
                ("does", false),
                ("not", false),
                ("know", false),
                ("o'brien", true),
                ("cats", true),
            ]
        );
    }

    #[test]
    fn offsets_point_into_the_question() {
        let text = "Köln’s “Dom” 5";
        for t in tokens(text) {
            assert!(text.get(t.start..t.end).is_some_and(|s| s.contains(&t.text)), "{t:?}");
        }
    }

    #[test]
    fn strange_input_is_only_text() {
        for text in ["", "'", "\"\"", "''''", "’’s", "1.", "-", "\u{0}\u{7}", "n't", "٣ ½"] {
            tokens(text);
        }
    }
}
