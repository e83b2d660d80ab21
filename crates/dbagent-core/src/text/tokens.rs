//! How many tokens a text has, about.
//!
//! There is no tokenizer here: it would be megabytes of tables for each family of models, and wrong for the
//! next one. The rules follow how the published tokenizers cut a text before they look anything up: words
//! together with the space before them, digits in groups of at most three (`\p{N}{1,3}` in the patterns of
//! cl100k_base, o200k_base and Llama 3) or one by one (Qwen, Gemma, Mistral), other characters apart. Where
//! they differ, the more expensive one counts.
//!
//! Held against o200k_base and cl100k_base (and against o200k_base with every digit cut off) on framed tables
//! and other texts of 600 to 20,000 characters, the estimate is this many times the real number:
//!
//! | text | in groups of three digits | digit by digit |
//! |---|---|---|
//! | tables of sales, tracks, customers | 1.3 to 1.4 | 1.0 to 1.1 |
//! | figures of one or two digits | 1.0 to 1.4 | 1.0 |
//! | amounts, times | 1.5 to 1.8 | 1.0 to 1.1 |
//! | doubles with all their digits, integers of 18 digits | 1.9 to 2.5 | 1.0 |
//! | UUIDs, hexadecimal, Base64, codes | 1.1 to 1.6 | 1.0 to 1.1 |
//! | English, JSON, program text | 1.4 to 1.5 | 1.3 to 1.5 |
//! | German, French | 1.2 to 1.5 | 1.4 to 1.5 |
//! | Finnish | 0.9 to 1.1 | 1.1 |
//! | Chinese, Japanese, Korean | 1.2 to 1.9 | 1.7 to 1.9 |
//! | Russian, Arabic, Hindi, Thai | 1.2 to 4.3 | 2.3 to 4.3 |
//!
//! High rather than low: what is held under a limit by it stays under it.

/// Estimates the tokens of a text, rather high than low; see the source for how it was measured. ASCII
/// letters count `chars_per_token` to a token, 4 for most models. Used for limits, never for billing.
pub fn estimate_tokens(text: &str, chars_per_token: f32) -> u64 {
    let per_token = f64::from(chars_per_token).max(1.0);
    let mut tokens = 0.0;
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let mut last = c;
        if c.is_ascii_alphabetic() {
            let mut length = 1u32;
            // A capital begins a new piece: `InvoiceLine` is two.
            while let Some(next) = chars.next_if(|next| {
                next.is_ascii_alphabetic() && !(next.is_ascii_uppercase() && last.is_ascii_lowercase())
            }) {
                last = next;
                length += 1;
            }
            tokens += letters(length, before, per_token);
        } else if c.is_ascii_digit() {
            // No piece holds a digit and the space before it.
            tokens += if before == ' ' { 2.0 } else { 1.0 };
        } else if c.is_ascii() {
            tokens += match (c, before) {
                // One space goes with what follows, more of them go together.
                (' ', ' ') => 0.25,
                (' ', _) => 0.0,
                _ => 1.0,
            };
        } else {
            tokens += match c.len_utf8() {
                2 => 1.0,
                3 => 1.5,
                _ => 3.0,
            };
        }
        before = last;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rounded-up estimate of a length"
    )]
    {
        tokens.ceil() as u64
    }
}

/// Tokens of ASCII letters that stand together, after `before`.
fn letters(length: u32, before: char, per_token: f64) -> f64 {
    let length = f64::from(length);
    let inside_a_word = before.is_ascii_alphanumeric() || !before.is_ascii();
    let per_token = if inside_a_word {
        // The middle of a random string, or of a word with letters that are not ASCII: rarely in any table.
        per_token * 0.375
    } else if length <= 6.0 {
        per_token
    } else {
        // Long words are cut more often than not.
        per_token * 0.75
    };
    (length / per_token).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts and their real numbers of tokens: o200k_base, cl100k_base, o200k_base with each digit cut off.
    const MEASURED: &[(&str, [u64; 3])] = &[
        (
            "| InvoiceLineId | InvoiceId | TrackId | UnitPrice | Quantity |\n| 1 | 1 | 2 | 0.99 | 1 |\n| 2 | 1 | 4 | 0.99 | 1 |",
            [52, 52, 54],
        ),
        (
            "| TrackId | Name | AlbumId | MediaTypeId | GenreId | Composer | Milliseconds | Bytes | UnitPrice |\n| 1 | For Those About To Rock (We Salute You) | 1 | 1 | 1 | Angus Young, Malcolm Young, Brian Johnson | 343719 | 11170334 | 0.99 |\n| 2 | Balls to the Wall | 2 | 2 | 1 | U. Dirkschneider, W. Hoffmann, H. Frank, P. Baltes, S. Kaufmann, G. Hoffmann | 342562 | 5510424 | 0.99 |",
            [137, 136, 156],
        ),
        (
            "| CustomerId | FirstName | LastName | Company | Address | City | State | Country | PostalCode | Phone | Fax | Email | SupportRepId |\n| 1 | Luís | Gonçalves | Embraer - Empresa Brasileira de Aeronáutica S.A. | Av. Brigadeiro Faria Lima, 2170 | São José dos Campos | SP | Brazil | 12227-000 | +55 (12) 3923-5555 | +55 (12) 3923-5566 | luisg@embraer.com.br | 3 |\n| 2 | Leonie | Köhler | NULL | Theodor-Heuss-Straße 34 | Stuttgart | NULL | Germany | 70174 | +49 0711 2842222 | NULL | leonekohler@surfeu.de | 5 |",
            [178, 185, 208],
        ),
        ("| PlaylistId | TrackId |\n| 1 | 3402 |\n| 1 | 3389 |", [23, 23, 27]),
        (
            "| a | b | c | d | e | f |\n| -255.880288 | 511.431513 | -226.096165 | -315.068422 | -930.01819 | -213.301947 |\n| 1111.917381 | 424.146684 | 1036.879079 | 248.902728 | 394.769635 | 185.32666 |",
            [89, 89, 159],
        ),
        (
            "| a | b | c | d | e | f | g | h |\n| 9 | 4 | 9 | 4 | 8 | 0 | 9 | 1 |\n| 4 | 1 | 8 | 0 | 6 | 3 | 0 | 4 |",
            [67, 67, 67],
        ),
        (
            "| y | a | b | c |\n| 2000 | 902305.13 | 116003.31 | 986389.20 |\n| 2001 | 240378.76 | 856581.40 | 243572.66 |",
            [55, 55, 89],
        ),
        ("| t |\n| 2024-08-24 13:32:05 |\n| 2024-07-08 04:49:03 |", [33, 33, 47]),
        (
            "| id |\n| 55939992-bed5-1503-bf68-c55bb9453c48 |\n| f1a0a4dc-c78f-3cfb-8524-a767a5ea0df1 |",
            [51, 51, 68],
        ),
        (
            "| h |\n| dp+T9VgIegtV0Xr446eUTPUpj8JKKWQ0jM9nN9loGSpRGImRPFP1Zb6ehHDckpLo |\n| XlsyOyHSQW4ypg3I8D8oeKEInTgplla8n36wtWFacxIN9UN9UD5Gyc8KSW2zM7dp |",
            [98, 97, 101],
        ),
        ("| sku |\n| HGA-14972 |\n| HHW-91085 |", [17, 17, 23]),
        (
            "| doc |\n| {\"id\": 6883, \"tags\": [\"a\", \"b\"], \"price\": 82.98, \"ok\": true} |\n| {\"id\": 3834, \"tags\": [\"a\", \"b\"], \"price\": 30.85, \"ok\": true} |",
            [65, 65, 73],
        ),
        (
            "| t |\n| Die Würde des Menschen ist unantastbar. Sie zu achten und zu schützen ist Verpflichtung aller staatlichen Gewalt. |\n| Die Würde des Menschen ist unantastbar. Sie zu achten und zu schützen ist Verpflichtung aller staatlichen Gewalt. |",
            [57, 71, 57],
        ),
        (
            "| t |\n| 人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。 |\n| 人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。 |",
            [77, 109, 77],
        ),
        ("| t |\n| 😀🎉👍🦄🚀🌍 |", [16, 21, 16]),
        (
            "Aggregate in the database: let it count, sum, group and sort. Do not fetch rows to compute yourself.",
            [23, 23, 23],
        ),
    ];

    #[test]
    fn the_estimate_is_high_rather_than_low_and_not_by_much() {
        for (text, real) in MEASURED {
            let estimate = estimate_tokens(text, 4.0);
            let most = *real.iter().max().unwrap();
            assert!(estimate >= most, "{estimate} for {most} tokens of {text:?}");
            assert!(estimate <= most * 2, "{estimate} for {most} tokens of {text:?}");
        }
    }

    #[test]
    fn the_parameter_is_about_letters() {
        let text = "one word after the other";
        assert!(estimate_tokens(text, 1.0) > 3 * estimate_tokens(text, 4.0));
        assert_eq!(estimate_tokens("12 345", 1.0), estimate_tokens("12 345", 4.0));
        assert_eq!(estimate_tokens("", 4.0), 0);
        assert!(estimate_tokens(&" ".repeat(4_000), 4.0) > 900);
    }
}
