//! The words that shape a question, whatever the schema is.

use crate::plan::{Agg, Op, Part};

/// Up or down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dir {
    /// The most, the longest, the newest.
    Most,
    /// The least, the shortest, the oldest.
    Least,
}

impl Dir {}

/// What an adjective measures: words that columns of it have, best first.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Adjective {
    /// The plain form, for people.
    pub(crate) name: &'static str,
    /// Words of columns where more means more of it.
    pub(crate) up: &'static [&'static str],
    /// Words of columns where more means less of it: a later birth is a younger person.
    pub(crate) down: &'static [&'static str],
}

/// What a word asks to be added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Figure {
    /// Money: a total, or quantity times price.
    Revenue,
    /// Pieces: a quantity.
    Units,
}

/// A unit of measure, as a factor to the base of its kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Unit {
    /// Seconds.
    Time(f64),
    /// Bytes.
    Size(f64),
    /// Money, percent, years of age, metres: taken as the column has it.
    Plain,
}

/// A word or phrase with a part in the grammar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kw {
    HowMany,
    HowMuch,
    /// `how long`, `how old`.
    HowAdj(&'static Adjective),
    CountOf,
    What,
    Which,
    Who,
    Whose,
    When,
    Where,
    Show,
    Agg(Agg),
    Cmp(Op),
    OrMore,
    OrLess,
    Between,
    Not,
    No,
    Without,
    Except,
    Any,
    All,
    Each,
    Per,
    By,
    Prep,
    Cop,
    Aux,
    Have,
    That,
    There,
    And,
    Or,
    But,
    Their,
    Distinct,
    Superl(Dir, &'static Adjective),
    Comparative(Dir, &'static Adjective),
    /// `highest`, `maximum`: of a column that is named.
    Extreme(Dir),
    /// `higher`, `greater`.
    MoreOf(Dir),
    Most,
    Fewest,
    More,
    Fewer,
    Than,
    Top,
    Bottom,
    First,
    Last,
    BestSelling(Dir),
    Popular,
    Common(Dir),
    Sort,
    Desc,
    Asc,
    Alphabetical,
    Share,
    Exists,
    Named,
    Starts,
    Ends,
    Contains,
    Verb,
    Skip,
    Figure(Figure),
    Part(Part),
    Unit(Unit),
    Reports,
    Manager,
    Subordinates,
    Both,
    /// Everything about something.
    Whole,
    /// Something a fixed planner cannot know: reasons, forecasts, opinions.
    Beyond,
    /// A date that depends on the day it is asked.
    Relative,
}

impl Kw {
    /// Whether it asks for what comes first by some order.
    pub(crate) fn ranks(self) -> bool {
        matches!(
            self,
            Self::Superl(..)
                | Self::Extreme(_)
                | Self::Most
                | Self::Fewest
                | Self::Top
                | Self::Bottom
                | Self::First
                | Self::Last
                | Self::BestSelling(_)
                | Self::Common(_)
        )
    }
}

const LONG: Adjective = Adjective {
    name: "long",
    up: &[
        "length",
        "duration",
        "runtime",
        "millisecond",
        "second",
        "minute",
        "hour",
        "playtime",
        "time",
        "distance",
    ],
    down: &[],
};
const BIG: Adjective = Adjective {
    name: "large",
    up: &[
        "size",
        "byte",
        "area",
        "population",
        "capacity",
        "total",
        "amount",
        "enrollment",
        "quantity",
        "volume",
    ],
    down: &[],
};
const DEAR: Adjective = Adjective {
    name: "expensive",
    up: &["price", "cost", "fee", "fare", "rent", "rate", "tuition", "amount", "total"],
    down: &[],
};
const OLD: Adjective = Adjective {
    name: "old",
    up: &["age"],
    down: &[
        "birth",
        "born",
        "founded",
        "established",
        "built",
        "opened",
        "date",
        "year",
        "created",
        "timestamp",
    ],
};
const NEW: Adjective = Adjective {
    name: "recent",
    up: &["date", "year", "timestamp", "created", "time", "founded", "opened", "built", "day"],
    down: &[],
};
const HEAVY: Adjective = Adjective { name: "heavy", up: &["weight", "mass"], down: &[] };
const TALL: Adjective = Adjective { name: "tall", up: &["height", "elevation", "altitude"], down: &[] };
const FAST: Adjective =
    Adjective { name: "fast", up: &["speed", "velocity"], down: &["time", "duration", "pace"] };
const GOOD: Adjective =
    Adjective { name: "good", up: &["rating", "score", "grade", "gpa", "point", "star"], down: &[] };
const RICH: Adjective =
    Adjective { name: "rich", up: &["balance", "wealth", "worth", "saving", "income"], down: &[] };
const DEEP: Adjective = Adjective { name: "deep", up: &["depth"], down: &[] };
const WIDE: Adjective = Adjective { name: "wide", up: &["width"], down: &[] };
const FAR: Adjective = Adjective { name: "far", up: &["distance"], down: &[] };

/// The role of a phrase in lower case; words are separated by one space.
pub(crate) fn keyword(phrase: &str) -> Option<Kw> {
    PHRASES.iter().find(|(p, _)| p.split('|').any(|alternative| alternative == phrase)).map(|(_, kw)| *kw)
}

/// Most words of a phrase.
pub(crate) const MAX_WORDS: usize = 7;

static PHRASES: &[(&str, Kw)] = &[
    ("how many|how many of", Kw::HowMany),
    ("how much|how much money", Kw::HowMuch),
    ("how long", Kw::HowAdj(&LONG)),
    ("how old", Kw::HowAdj(&OLD)),
    ("how big|how large", Kw::HowAdj(&BIG)),
    ("how expensive", Kw::HowAdj(&DEAR)),
    ("how tall|how high", Kw::HowAdj(&TALL)),
    ("how heavy", Kw::HowAdj(&HEAVY)),
    ("how fast", Kw::HowAdj(&FAST)),
    ("how far", Kw::HowAdj(&FAR)),
    (
        "number of|count of|total number of|count the number of|count|count the|the number of|total count of|amount of",
        Kw::CountOf,
    ),
    ("what|what's|whats", Kw::What),
    ("which|which of", Kw::Which),
    ("who|whom", Kw::Who),
    ("whose", Kw::Whose),
    ("when|on what date|on which date|what day|on which day|at what time", Kw::When),
    ("where", Kw::Where),
    (
        "show|list|find|display|give|return|tell|print|get|fetch|retrieve|report back|select|name all|name the|look up|lookup|see|enumerate|present|identify|provide|compute|calculate|determine|list out|show me|give me|tell me|find out|rank",
        Kw::Show,
    ),
    ("average|avg|mean|on average", Kw::Agg(Agg::Avg)),
    ("sum|sum of|total|totals|combined|overall|cumulative|aggregate", Kw::Agg(Agg::Sum)),
    ("maximum|max", Kw::Agg(Agg::Max)),
    ("minimum|min", Kw::Agg(Agg::Min)),
    (
        "more than|greater than|over|above|exceeding|exceeds|exceed|larger than|higher than|bigger than|in excess of|>|upwards of|exceeded|greater|strictly more than|beyond",
        Kw::Cmp(Op::Gt),
    ),
    (
        "at least|no less than|not less than|a minimum of|minimum of|no fewer than|greater than or equal to|more than or equal to|>=|equal to or greater than|not fewer than",
        Kw::Cmp(Op::Ge),
    ),
    ("less than|fewer than|under|below|lower than|smaller than|<", Kw::Cmp(Op::Lt)),
    (
        "at most|no more than|not more than|up to|a maximum of|maximum of|less than or equal to|fewer than or equal to|<=|equal to or less than|not over|not exceeding",
        Kw::Cmp(Op::Le),
    ),
    ("exactly|equal to|equals|equal|=|==|precisely", Kw::Cmp(Op::Eq)),
    ("not equal to|!=|<>|different from|differs from|other than exactly", Kw::Cmp(Op::Ne)),
    (
        "or more|or above|or higher|or greater|or over|or longer|and above|and more|and up|and over",
        Kw::OrMore,
    ),
    ("or less|or fewer|or below|or under|or lower|or shorter|and below|and under", Kw::OrLess),
    ("between", Kw::Between),
    ("not|never|n't|cannot|nor|not yet|neither", Kw::Not),
    ("no|zero|not any|no such|not a|not a single|not an|lack|lacks|lacking|missing|none of the|none", Kw::No),
    ("without|without any|without a|without an|without having", Kw::Without),
    (
        "except|excluding|except for|other than|besides|apart from|not including|outside|outside of",
        Kw::Except,
    ),
    ("any|some|anything|at all|ever|either", Kw::Any),
    (
        "all|every one of|all of|all the|all of the|entire|whole|full list of|complete list of|complete list|the complete|a complete|list of|list of all|a list of|overview of",
        Kw::All,
    ),
    (
        "each|every|each of the|each of|for each|for every|of each|in each|by each|from each|on each|at each|with each|of every|in every|to each|within each|across each|for each of the",
        Kw::Each,
    ),
    (
        "per|grouped by|broken down by|group by|split by|for each different|for each distinct|according to each|breakdown by|depending on",
        Kw::Per,
    ),
    ("by", Kw::By),
    (
        "of|in|on|from|for|at|to|into|within|during|via|through|among|amongst|across|as|since|until|till|before|after|inside|onto|towards|under the|belonging to|about|regarding|starting from|named after|out of|along|against|toward|prior to|up until|earlier than|later than|located in|based in|published by|according to|where the|throughout|amid|under the name",
        Kw::Prep,
    ),
    (
        "the|a|an|single|a single|this|these|those|such|our|my|your|us|we|i|you|me|particular|given|certain|own|specific|respective|corresponding|associated|related|there's|individual|recorded|various|listed|following|single|also|currently|altogether|respectively|actually|just|only|really|please|kindly|can|could|would|will|shall|should|may|might|want|like to|need|know|so|then|now|too|well|ok|okay|hey|hi there|let|let me|let's|exist|exists|in total|overall in|in the database|in this database|in our database|in the system|in the store|in the data|in the dataset|in the table|on file|on record|database|in all|together|it|them|him|her|he|she|they|that are there|be able|able|i'd|id like|i'd like|wondering|curious|to know|to see|like to know|like to see|thing|ones|one|stored|at the moment|right now|so far|to date|of all time|at present|somebody|someone|anyone|anybody|everyone|each other|full|together with all",
        Kw::Skip,
    ),
    (
        "information on|information about|information of|details of|details on|details about|details for|info on|info about|information for|data on|data about|records of|record of|entries of|everything about|information|info|details|rows of|rows in|rows from|rows|entries in|entries",
        Kw::Whole,
    ),
    ("is|are|was|were|be|been|being|am|isn|aren|become|became", Kw::Cop),
    ("do|does|did|doing|done", Kw::Aux),
    (
        "have|has|had|having|with|contain|contains|include|includes|included|including|containing|possess|possesses|own|owns|owned|feature|features|featuring|hold|holds",
        Kw::Have,
    ),
    (
        "that|who also|which also|that also|for which|in which|on which|for whom|to which|to whom|from which|at which|with which|by whom|where each",
        Kw::That,
    ),
    ("there", Kw::There),
    ("and|&|as well as|and also|along with|together with|plus|,and", Kw::And),
    ("or|or else|or the", Kw::Or),
    ("but|yet|although|however|while|whereas", Kw::But),
    ("their|its|his|her|hers|theirs", Kw::Their),
    ("distinct|different|unique|distinctive|separate", Kw::Distinct),
    ("longest|lengthiest", Kw::Superl(Dir::Most, &LONG)),
    ("shortest|briefest|least long", Kw::Superl(Dir::Least, &LONG)),
    ("longer|lengthier", Kw::Comparative(Dir::Most, &LONG)),
    ("shorter|briefer", Kw::Comparative(Dir::Least, &LONG)),
    ("biggest|largest|hugest", Kw::Superl(Dir::Most, &BIG)),
    ("smallest|littlest|tiniest", Kw::Superl(Dir::Least, &BIG)),
    ("bigger|larger", Kw::Comparative(Dir::Most, &BIG)),
    ("smaller", Kw::Comparative(Dir::Least, &BIG)),
    (
        "most expensive|priciest|costliest|most costly|dearest|highest priced|highest-priced",
        Kw::Superl(Dir::Most, &DEAR),
    ),
    (
        "cheapest|least expensive|most affordable|lowest priced|least costly|most inexpensive",
        Kw::Superl(Dir::Least, &DEAR),
    ),
    (
        "more expensive|pricier|costlier|dearer|costs|cost|costing|priced|priced at|more costly",
        Kw::Comparative(Dir::Most, &DEAR),
    ),
    ("cheaper|less expensive|less costly", Kw::Comparative(Dir::Least, &DEAR)),
    ("oldest|eldest|most senior", Kw::Superl(Dir::Most, &OLD)),
    ("youngest", Kw::Superl(Dir::Least, &OLD)),
    ("older|elder", Kw::Comparative(Dir::Most, &OLD)),
    ("younger", Kw::Comparative(Dir::Least, &OLD)),
    ("newest|latest|most recent|most recently|last placed|newly", Kw::Superl(Dir::Most, &NEW)),
    ("earliest|least recent|least recently", Kw::Superl(Dir::Least, &NEW)),
    ("newer|later|more recent", Kw::Comparative(Dir::Most, &NEW)),
    ("earlier", Kw::Comparative(Dir::Least, &NEW)),
    ("heaviest", Kw::Superl(Dir::Most, &HEAVY)),
    ("lightest", Kw::Superl(Dir::Least, &HEAVY)),
    ("heavier", Kw::Comparative(Dir::Most, &HEAVY)),
    ("lighter", Kw::Comparative(Dir::Least, &HEAVY)),
    ("tallest", Kw::Superl(Dir::Most, &TALL)),
    ("taller", Kw::Comparative(Dir::Most, &TALL)),
    ("fastest|quickest", Kw::Superl(Dir::Most, &FAST)),
    ("slowest", Kw::Superl(Dir::Least, &FAST)),
    ("faster|quicker", Kw::Comparative(Dir::Most, &FAST)),
    ("slower", Kw::Comparative(Dir::Least, &FAST)),
    ("best rated|highest rated|best-rated|best|top rated|highest scoring", Kw::Superl(Dir::Most, &GOOD)),
    ("worst rated|lowest rated|worst", Kw::Superl(Dir::Least, &GOOD)),
    ("better", Kw::Comparative(Dir::Most, &GOOD)),
    ("worse", Kw::Comparative(Dir::Least, &GOOD)),
    ("richest|wealthiest", Kw::Superl(Dir::Most, &RICH)),
    ("poorest", Kw::Superl(Dir::Least, &RICH)),
    ("deepest", Kw::Superl(Dir::Most, &DEEP)),
    ("deeper", Kw::Comparative(Dir::Most, &DEEP)),
    ("widest", Kw::Superl(Dir::Most, &WIDE)),
    ("farthest|furthest", Kw::Superl(Dir::Most, &FAR)),
    (
        "highest|greatest|highest number of|greatest number of|largest number of|most number of",
        Kw::Extreme(Dir::Most),
    ),
    ("lowest|least number of|smallest number of|lowest number of|fewest number of", Kw::Extreme(Dir::Least)),
    ("higher", Kw::MoreOf(Dir::Most)),
    ("lower", Kw::MoreOf(Dir::Least)),
    ("most", Kw::Most),
    ("fewest|least", Kw::Fewest),
    ("more", Kw::More),
    ("fewer|less", Kw::Fewer),
    ("than", Kw::Than),
    ("top|topmost|leading|biggest spending", Kw::Top),
    ("bottom", Kw::Bottom),
    ("first", Kw::First),
    ("last|final", Kw::Last),
    (
        "best selling|best-selling|bestselling|best sold|top selling|top-selling|most sold|most purchased|most bought|most ordered|most often sold|most frequently sold|most frequently ordered|most frequently purchased|most often bought|most often ordered|bestseller|best seller|best sellers|bestsellers|most frequently bought",
        Kw::BestSelling(Dir::Most),
    ),
    (
        "least sold|worst selling|worst-selling|least selling|least ordered|least purchased|least bought|slowest selling",
        Kw::BestSelling(Dir::Least),
    ),
    ("popular|most popular|favourite|favorite|least popular", Kw::Popular),
    (
        "most common|most frequent|most frequently used|most commonly used|most often used|most used|commonest|most prevalent|most commonly",
        Kw::Common(Dir::Most),
    ),
    ("least common|least frequent|rarest|least used|least frequently used", Kw::Common(Dir::Least)),
    (
        "sorted by|ordered by|order by|sort by|in order of|in the order of|ranked by|arranged by|sort them by|order them by|arrange by|sorted in|ordered in",
        Kw::Sort,
    ),
    (
        "descending|desc|in descending order|descending order|in descending order of|from highest to lowest|highest first|largest first|from most to least|from the highest to the lowest|decreasing|newest first|latest first|from newest to oldest|most recent first|in decreasing order|in reverse order|from largest to smallest|in descending alphabetical order|reverse alphabetical order|in reverse alphabetical order|from high to low|from most recent to oldest|biggest first|most first|from longest to shortest",
        Kw::Desc,
    ),
    (
        "ascending|asc|in ascending order|ascending order|in ascending order of|from lowest to highest|lowest first|smallest first|from least to most|increasing|oldest first|earliest first|from oldest to newest|in increasing order|from smallest to largest|from low to high|from shortest to longest|chronologically|in chronological order",
        Kw::Asc,
    ),
    (
        "alphabetically|in alphabetical order|alphabetical order|alphabetical|in ascending alphabetical order|in alphabetic order|lexicographically|lexicographical order|in lexicographical order|in lexicographic order|in alphabetical order of|in alphabetical order by",
        Kw::Alphabetical,
    ),
    (
        "percentage of|percent of|share of|proportion of|fraction of|percentage|what percentage of|what percent of|% of|portion of|ratio of",
        Kw::Share,
    ),
    (
        "is there|are there|are there any|is there any|do we have|do we have any|do you have|do you have any|is there a|is there an|does there exist|have we got|did we have|was there|were there|have there been|do we sell|do we sell any|do we carry",
        Kw::Exists,
    ),
    (
        "named|called|titled|entitled|with the name|with name|whose name is|whose names are|with the title|with title|whose title is|name is|by the name of|under the name|of name|that is called|that are called|known as",
        Kw::Named,
    ),
    (
        "starting with|start with|starts with|beginning with|begins with|begin with|that start with|started with|starting with the letter|start with the letter|starts with the letter|begins with the letter|beginning with the letter|begin with the letter|with the prefix|has the prefix|with prefix",
        Kw::Starts,
    ),
    (
        "ending with|ends with|end with|ending in|ends in|end in|ends with the letter|end with the letter|ending with the letter",
        Kw::Ends,
    ),
    (
        "containing the word|contains the word|contain the word|containing the words|with the word|with the words|contain the words|contains the words|that contain the word|containing the text|like|contain the letter|contains the letter|containing the letter|contain the substring|contains the substring|containing the string|contain the string|includes the word|include the word|including the word|have the word|has the word|having the word|containing the phrase|contains the phrase|contain the phrase|with the substring|has the substring|have the substring|having the substring|contains the string|with the letter|includes the substring|contains text|contain text",
        Kw::Contains,
    ),
    (
        "ordered|born|correspond|corresponds|corresponding|last|lasts|lasted|end|ends|ended|process|processed|founded|established|built|died|located|buy|buys|bought|buying|purchase|purchased|purchasing|purchases|order from|sell|sells|selling|sold|make|makes|made|making|write|writes|written|wrote|release|released|releases|releasing|produce|produced|produces|support|supports|supported|supporting|place|placed|places|placing|supply|supplies|supplied|supplying|ship|ships|shipped|shipping|work|works|worked|working|live|lives|lived|living|come|comes|came|coming|belong|belongs|belonged|appear|appears|appeared|appearing|play|plays|played|playing|teach|teaches|taught|teaching|take|takes|took|taken|taking|enrol|enroll|enrolled|enrols|enrolling|direct|directs|directed|directing|star|stars|starred|starring|publish|publishes|published|publishing|manage by|use|uses|used|using|offer|offers|offered|offering|give out|receive|received|receives|receiving|get|gets|got|getting|participate|participates|participated|participating|attend|attends|attended|attending|visit|visits|visited|visiting|rent|rents|rented|renting|borrow|borrowed|borrows|serve|serves|served|serving|handle|handles|handled|handling|assign|assigned|assigns|live in|locate|located|situated|based|reside|resides|residing|register|registers|registering|sing|sings|sang|sung|perform|performs|performed|performing|record|recorded by|compose by|found|go|goes|went|went to|going|join|joined|joins|win|wins|won|winning|lose|lost|host|hosts|hosted|hosting|represent|represented|represents|associated with|related to|linked to|connected|connect|see by|seen|study|studies|studied|studying|fly|flies|flew|flown|drive|drives|drove|own by|hire|hired|created|create|creates|issue|issued|issues|billed|bill|fall|falls|fall under|fall into|fits|exist in|involved|involve|involves|deal|deals|deliver|delivers|delivered|sponsor|sponsored|sponsors|nominate|nominated|award|awarded|provide|provides|provided|cover|covers|covered|categorized|classified|tagged|listen|read|watch|watched|review|reviewed|reviews|rate|rated|send|sent|sends|carried|carry|carries|happen|happened|took place|occur|occurred|held|taken place|begin|begun|reach|reaches|reached|stay|stayed|book|booked|get by|employ|employs|employed|are in|come from|comes from|belong to|belongs to|originate|originated|hail|stored in|sit|sits|done by|generate|generates|generated|bring in|brings in|brought in|bring|brings|brought|amount to|account for|accounts for|accounted for|accounted|accounts|account|achieve|achieved|look after|looks after|responsible for|responsible|speak|speaks|spoken|met|meet|meets|apply|applied|operate|operates|operated|operating|lend|lent|score|scored|scores|treat|treated|treats|prescribe|prescribed|affected|affect|affects|teaching in|run|runs|ran|lead|leads|led|grow|produced by|stock|stocked|stocks|carry on|charge|charged|respond|ask|asked|pay for|paid for|pay|pays|paid|paying|own by|tried|try|opened|open|return|returned|cook|drink|eat|like by|liked|friends with|follow|follows|followed|post|posted|posts|upload|uploaded|logged|log|commented|answered|answer|completed|complete|finished|received by|contribute|contributes|contributed|acted|act|acts|cast|casted|appear in|appeared in|coach|coaches|coached|train|trained|trains|fought|fight|own of|graduated|graduate|majoring|majored|advise|advises|advised|elect|elected|vote|voted|votes|held by|hold by|depart|departs|departing|departed|arrive|arrives|arriving|arrived|land|lands|landing|landed|leaving|leave|leaves|left|consist|consists|consisting|comprise|comprises|made up",
        Kw::Verb,
    ),
    (
        "earn|earns|earned|revenue|revenues|sales|turnover|earnings|proceeds|spent|spend|spends|spending|amount spent|money spent|sales revenue|sales amount|sales volume|sales total|total spent|total spending|total spend|total sales|total revenue|total turnover|money|sales value|revenue generated|expenditure|purchase amount|value|values|total value|worth|amount of money|amount of money spent|dollar amount|invoiced|invoiced amount",
        Kw::Figure(Figure::Revenue),
    ),
    (
        "units|unit|copies|pieces|units sold|copies sold|quantity sold|quantities sold|number of units|number of units sold|number of copies sold|pieces sold|items sold|number of items sold|units ordered|quantity ordered|total units|total units sold|total quantity sold|sales quantity|sales count",
        Kw::Figure(Figure::Units),
    ),
    ("year|years|calendar year|yearly|annual|annually", Kw::Part(Part::Year)),
    ("month|months|monthly", Kw::Part(Part::YearMonth)),
    ("calendar month|month of the year|month of year", Kw::Part(Part::Month)),
    ("quarter|quarters|quarterly", Kw::Part(Part::Quarter)),
    ("day|days|daily|date", Kw::Part(Part::Day)),
    ("weekday|weekdays|day of the week|day of week|days of the week", Kw::Part(Part::Weekday)),
    ("milliseconds|millisecond|ms", Kw::Unit(Unit::Time(0.001))),
    ("seconds|sec|secs|s", Kw::Unit(Unit::Time(1.0))),
    ("minutes|minute|min|mins", Kw::Unit(Unit::Time(60.0))),
    ("hours|hour|hrs|hr|h", Kw::Unit(Unit::Time(3600.0))),
    ("bytes|byte|b", Kw::Unit(Unit::Size(1.0))),
    ("kb|kilobytes|kilobyte|kib", Kw::Unit(Unit::Size(1024.0))),
    ("mb|megabytes|megabyte|megs|mib", Kw::Unit(Unit::Size(1_048_576.0))),
    ("gb|gigabytes|gigabyte|gib", Kw::Unit(Unit::Size(1_073_741_824.0))),
    (
        "dollars|dollar|usd|$|euros|euro|eur|pounds|cents|%|percent|bucks|years old|year old|years of age|km|kilometers|kilometres|miles|meters|metres|feet|inches|cm|kg|kilograms|degrees|each piece",
        Kw::Unit(Unit::Plain),
    ),
    (
        "report to|reports to|reporting to|reported to|report directly to|reports directly to|reporting directly to",
        Kw::Reports,
    ),
    (
        "manager|managers|boss|bosses|supervisor|supervisors|superior|superiors|managed by|supervised by|manages|manage|supervise|supervises|supervised",
        Kw::Manager,
    ),
    ("subordinates|subordinate|direct reports|direct report|reports|reportees|underlings", Kw::Subordinates),
    ("both|shared by|in common|common to|shared among|shared between", Kw::Both),
    (
        "why|how come|predict|forecast|prediction|recommend|recommendation|suggest|should we|opinion|think|feel|correlation|correlate|correlated|trend|trends|growth|grow by|increase|increased|decrease|decreased|change over time|moving average|median|mode|standard deviation|variance|percentile|quartile|improve|best way|explain|reason|reasons|cause|causes|compare to last|year over year|month over month|churn|retention|outlier|outliers|anomaly|similar to|cohort|probability|likely|likelihood|consecutive|running total|cumulative total|growth rate|fastest growing",
        Kw::Beyond,
    ),
    (
        "today|yesterday|tomorrow|this year|last year|this month|last month|this week|last week|next year|next month|next week|past year|recently|lately|past month|past week|past days|last days|last quarter|this quarter|ago|last 12 months|last 30 days|last 7 days",
        Kw::Relative,
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn phrases_are_found_whole() {
        assert_eq!(keyword("how many"), Some(Kw::HowMany));
        assert_eq!(keyword("more than"), Some(Kw::Cmp(Op::Gt)));
        assert!(matches!(keyword("oldest"), Some(Kw::Superl(Dir::Most, a)) if a.name == "old"));
        assert_eq!(keyword("man"), None);
    }

    #[test]
    fn no_phrase_is_longer_than_the_window() {
        let longest = PHRASES.iter().flat_map(|(p, _)| p.split('|')).map(|p| p.split(' ').count()).max();
        assert!(longest <= Some(MAX_WORDS), "{longest:?}");
    }

    #[test]
    fn the_same_phrase_has_one_role_in_its_list() {
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for (list, (phrases, _)) in PHRASES.iter().enumerate() {
            for p in phrases.split('|') {
                *seen.entry(p).or_insert(list) = list;
            }
        }
        assert!(seen.len() > 400);
    }
}
