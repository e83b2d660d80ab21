//! Forms of a word: its singular and a rough stem. Both are only compared with themselves.

/// The singular of a word in lower case. A word that is none comes back as it was.
pub(crate) fn singular(word: &str) -> String {
    if let Some((_, one)) = IRREGULAR.iter().find(|(many, _)| *many == word) {
        return (*one).to_owned();
    }
    let length = word.chars().count();
    if length < 4 && word != "ids" || UNCHANGED.contains(&word) {
        return word.to_owned();
    }
    let cut = |end: &str, put: &str| word.strip_suffix(end).map(|stem| format!("{stem}{put}"));
    let none = ["ss", "us", "is", "news"];
    if none.iter().any(|end| word.ends_with(end)) {
        return word.to_owned();
    }
    let rules = [
        ("sses", "ss"),
        ("shes", "sh"),
        ("ches", "ch"),
        ("xes", "x"),
        ("zzes", "zz"),
        ("uses", "us"),
        ("oes", "o"),
        ("ies", "y"),
        ("s", ""),
    ];
    for (end, put) in rules {
        if end == "ies" && length < 5 {
            continue;
        }
        // Words such as `houses`, `causes` keep their e.
        if end == "uses"
            && ["houses", "causes", "clauses", "uses", "spouses", "warehouses", "clubhouses"].contains(&word)
        {
            continue;
        }
        if let Some(one) = cut(end, put) {
            return one;
        }
    }
    word.to_owned()
}

/// The plural of a word in lower case, for prose.
pub(crate) fn plural(word: &str) -> String {
    if singular(word) != word
        || UNCHANGED.contains(&word)
        || ["staff", "equipment", "information"].contains(&word)
    {
        return word.to_owned();
    }
    if let Some((many, _)) = IRREGULAR.iter().find(|(_, one)| *one == word) {
        return (*many).to_owned();
    }
    let vowel_before_y = word.chars().rev().nth(1).is_some_and(|c| "aeiou".contains(c));
    if let Some(stem) = word.strip_suffix('y')
        && !vowel_before_y
    {
        return format!("{stem}ies");
    }
    let hisses = ["s", "x", "z", "ch", "sh"].iter().any(|end| word.ends_with(end));
    format!("{word}{}", if hisses { "es" } else { "s" })
}

/// What is left of a word without the endings of verbs and of those who act: `composer`, `composed` and
/// `compose` have one stem. Words of fewer than four letters have none.
pub(crate) fn stem(word: &str) -> Option<String> {
    let base =
        PAST.iter().find(|(past, _)| *past == word).map_or_else(|| singular(word), |(_, b)| (*b).to_owned());
    if base.chars().count() < 4 && base == word {
        return None;
    }
    let mut stem = base.as_str();
    for endings in [&["ing", "ied", "ed"][..], &["er", "or", "ment", "ion"][..], &["e", "y", "i"][..]] {
        if let Some(shorter) = endings.iter().find_map(|end| stem.strip_suffix(end))
            && shorter.chars().count() >= 3
        {
            stem = shorter;
        }
    }
    let mut chars: Vec<char> = stem.chars().collect();
    if let [.., a, b] = chars.as_slice()
        && a == b
        && !matches!(a, 's' | 'l')
    {
        chars.pop();
    }
    Some(chars.into_iter().collect())
}

const IRREGULAR: [(&str, &str); 54] = [
    ("people", "person"),
    ("persons", "person"),
    ("men", "man"),
    ("women", "woman"),
    ("children", "child"),
    ("mice", "mouse"),
    ("feet", "foot"),
    ("teeth", "tooth"),
    ("geese", "goose"),
    ("oxen", "ox"),
    ("media", "medium"),
    ("criteria", "criterion"),
    ("phenomena", "phenomenon"),
    ("indices", "index"),
    ("indexes", "index"),
    ("matrices", "matrix"),
    ("vertices", "vertex"),
    ("appendices", "appendix"),
    ("analyses", "analysis"),
    ("diagnoses", "diagnosis"),
    ("theses", "thesis"),
    ("crises", "crisis"),
    ("bases", "base"),
    ("alumni", "alumnus"),
    ("faculties", "faculty"),
    ("curricula", "curriculum"),
    ("wives", "wife"),
    ("knives", "knife"),
    ("lives", "life"),
    ("leaves", "leaf"),
    ("halves", "half"),
    ("shelves", "shelf"),
    ("wolves", "wolf"),
    ("loaves", "loaf"),
    ("thieves", "thief"),
    ("movies", "movie"),
    ("cookies", "cookie"),
    ("ties", "tie"),
    ("pies", "pie"),
    ("calories", "calorie"),
    ("buses", "bus"),
    ("gases", "gas"),
    ("aliases", "alias"),
    ("biases", "bias"),
    ("quizzes", "quiz"),
    ("shoes", "shoe"),
    ("toes", "toe"),
    ("canoes", "canoe"),
    ("caches", "cache"),
    ("niches", "niche"),
    ("axes", "axis"),
    ("mediums", "medium"),
    ("staffs", "staff"),
    ("aircrafts", "aircraft"),
];

const UNCHANGED: [&str; 12] =
    ["series", "species", "sheep", "fish", "gas", "bus", "alias", "bias", "lens", "always", "has", "was"];

const PAST: [(&str, &str); 34] = [
    ("wrote", "write"),
    ("written", "write"),
    ("sold", "sell"),
    ("bought", "buy"),
    ("taught", "teach"),
    ("made", "make"),
    ("paid", "pay"),
    ("spent", "spend"),
    ("sent", "send"),
    ("held", "hold"),
    ("won", "win"),
    ("lost", "lose"),
    ("took", "take"),
    ("taken", "take"),
    ("gave", "give"),
    ("given", "give"),
    ("sang", "sing"),
    ("sung", "sing"),
    ("drove", "drive"),
    ("driven", "drive"),
    ("flew", "fly"),
    ("flown", "fly"),
    ("ran", "run"),
    ("began", "begin"),
    ("begun", "begin"),
    ("born", "birth"),
    ("built", "build"),
    ("led", "lead"),
    ("left", "leave"),
    ("met", "meet"),
    ("died", "death"),
    ("grew", "grow"),
    ("chose", "choose"),
    ("wore", "wear"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_and_singulars_meet() {
        for (one, many) in [
            ("artist", "artists"),
            ("category", "categories"),
            ("address", "addresses"),
            ("status", "statuses"),
            ("person", "people"),
            ("course", "courses"),
            ("match", "matches"),
            ("box", "boxes"),
            ("movie", "movies"),
            ("day", "days"),
            ("hero", "heroes"),
            ("medium", "media"),
            ("series", "series"),
            ("warehouse", "warehouses"),
            ("purchase", "purchases"),
            ("id", "ids"),
            ("gas", "gas"),
            ("class", "classes"),
            ("analysis", "analyses"),
        ] {
            assert_eq!(singular(one), singular(many), "{one} {many}");
        }
    }

    #[test]
    fn plurals_for_prose() {
        let all = ["track", "category", "person", "day", "box", "series", "tracks"].map(plural);
        assert_eq!(all, ["tracks", "categories", "people", "days", "boxes", "series", "tracks"]);
    }

    #[test]
    fn verbs_meet_their_nouns() {
        for (a, b) in [
            ("composed", "composer"),
            ("hired", "hire"),
            ("shipped", "ship"),
            ("supplied", "supplier"),
            ("managed", "manager"),
            ("directed", "director"),
            ("wrote", "writer"),
            ("born", "birth"),
            ("ordered", "orders"),
            ("sold", "seller"),
        ] {
            assert_eq!(stem(a), stem(b), "{a} {b}");
        }
        assert_eq!(stem("the"), None);
    }
}
