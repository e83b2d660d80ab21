//! A small general list of words that mean the same, and of people of a country. It knows no schema.

/// Whether two words (singular, lower case) are the same or in one group.
pub(crate) fn same_meaning(a: &str, b: &str) -> bool {
    a == b || GROUPS.iter().any(|group| group.contains(&a) && group.contains(&b))
}

const GROUPS: [&[&str]; 59] = [
    &["rep", "representative", "agent"],
    &["song", "track", "tune"],
    &["customer", "client", "buyer", "purchaser", "shopper", "consumer"],
    &["employee", "staff", "worker", "personnel", "staffer"],
    &["artist", "band", "musician", "performer"],
    &["singer", "vocalist"],
    &["album", "record"],
    &["invoice", "bill"],
    &["order", "purchase"],
    &["product", "item", "good", "article"],
    &["line", "item"],
    &["category", "type", "kind"],
    &["supplier", "vendor", "provider"],
    &["price", "cost"],
    &["total", "amount", "sum"],
    &["country", "nation"],
    &["city", "town"],
    &["state", "province"],
    &["phone", "telephone"],
    &["email", "mail", "e-mail"],
    &["quantity", "amount", "qty"],
    &["salary", "pay", "wage", "compensation"],
    &["job", "position", "role"],
    &["title", "position", "role"],
    &["duration", "length", "runtime", "time"],
    &["film", "movie"],
    &["doctor", "physician"],
    &["teacher", "instructor", "tutor"],
    &["student", "pupil"],
    &["course", "class"],
    &["department", "division"],
    &["manager", "boss", "supervisor"],
    &["car", "vehicle", "automobile"],
    &["store", "shop"],
    &["company", "firm", "business"],
    &["organization", "organisation"],
    &["user", "member"],
    &["genre", "style"],
    &["gender", "sex"],
    &["birth", "dob", "birthday", "birthdate"],
    &["zip", "postcode", "postal"],
    &["surname", "lastname", "familyname"],
    &["firstname", "forename"],
    &["picture", "photo", "image"],
    &["location", "place"],
    &["rating", "score"],
    &["friend", "buddy"],
    &["nationality", "citizenship"],
    &["begin", "start"],
    &["end", "finish"],
    &["id", "identifier"],
    &["description", "detail"],
    &["aircraft", "airplane", "plane"],
    &["author", "writer"],
    &["person", "individual"],
    &["match", "game"],
    &["hometown", "birthplace"],
    &["color", "colour"],
    &["center", "centre"],
];

/// The country whose people or things an adjective names.
pub(crate) fn demonym(word: &str) -> Option<&'static str> {
    DEMONYMS.iter().find(|(d, _)| *d == word).map(|(_, country)| *country)
}

const DEMONYMS: [(&str, &str); 40] = [
    ("american", "USA"),
    ("argentinian", "Argentina"),
    ("argentine", "Argentina"),
    ("australian", "Australia"),
    ("austrian", "Austria"),
    ("belgian", "Belgium"),
    ("brazilian", "Brazil"),
    ("british", "United Kingdom"),
    ("canadian", "Canada"),
    ("chilean", "Chile"),
    ("chinese", "China"),
    ("czech", "Czech Republic"),
    ("danish", "Denmark"),
    ("dutch", "Netherlands"),
    ("egyptian", "Egypt"),
    ("english", "England"),
    ("finnish", "Finland"),
    ("french", "France"),
    ("german", "Germany"),
    ("greek", "Greece"),
    ("hungarian", "Hungary"),
    ("indian", "India"),
    ("irish", "Ireland"),
    ("israeli", "Israel"),
    ("italian", "Italy"),
    ("japanese", "Japan"),
    ("korean", "Korea"),
    ("mexican", "Mexico"),
    ("norwegian", "Norway"),
    ("polish", "Poland"),
    ("portuguese", "Portugal"),
    ("russian", "Russia"),
    ("scottish", "Scotland"),
    ("spanish", "Spain"),
    ("swedish", "Sweden"),
    ("swiss", "Switzerland"),
    ("thai", "Thailand"),
    ("turkish", "Turkey"),
    ("ukrainian", "Ukraine"),
    ("venezuelan", "Venezuela"),
];

/// Other ways to write the same country.
pub(crate) fn place_names(name: &str) -> &'static [&'static str] {
    PLACES
        .iter()
        .find(|group| group.iter().any(|n| n.eq_ignore_ascii_case(name)))
        .copied()
        .unwrap_or_default()
}

const PLACES: [&[&str]; 6] = [
    &["USA", "US", "U.S.A", "U.S.", "U.S", "United States", "United States of America", "America"],
    &["UK", "United Kingdom", "Great Britain", "Britain", "U.K"],
    &["Netherlands", "The Netherlands", "Holland"],
    &["Czech Republic", "Czechia"],
    &["South Korea", "Korea", "Republic of Korea"],
    &["UAE", "United Arab Emirates"],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_mean_the_same() {
        assert!(same_meaning("song", "track"));
        assert!(!same_meaning("song", "album"));
        assert_eq!(demonym("brazilian"), Some("Brazil"));
        assert!(place_names("usa").contains(&"United States"));
    }
}
