//! The strict grammar: an allow-list of members, operators and stages. What is not on it is an objection.

use dbagent_core::guard::{Finding, Rule};
use dbagent_core::json::Json;

use super::language::{Command, Expression, Filter, Order, Path, Stage, Test};

type Grammar<T> = Result<T, Finding>;

/// Stages and operators that run code of the caller's inside the database.
const CODE: &[&str] = &["$where", "$function", "$accumulator", "$expr"];

fn syntax<T>(message: String) -> Grammar<T> {
    Err(Finding::new(Rule::Syntax, message, None))
}

fn unknown<T>(what: &str, name: &str, known: &str) -> Grammar<T> {
    if CODE.contains(&name) {
        return Err(Finding::new(Rule::ForbiddenFunction, format!("{name} runs code in the database"), None));
    }
    let finding = Finding::new(Rule::UnknownSyntax, format!("{name} is no {what} here"), None);
    Err(finding.advice(format!("Known are {known}.")))
}

pub(super) fn command(json: &Json) -> Grammar<Command> {
    let Some(members) = json.as_object() else {
        return syntax(format!("a request is an object, not {}", json.type_name()));
    };
    let Some(("op", Json::String(op))) = members.first().map(|(k, v)| (k.as_str(), v)) else {
        return syntax("a request starts with \"op\" and the name of an operation".into());
    };
    let known: &[&str] = match op.as_str() {
        "find" => &["op", "collection", "filter", "projection", "sort", "skip", "limit"],
        "aggregate" => &["op", "collection", "pipeline"],
        "insert" => &["op", "collection", "documents"],
        "update" => &["op", "collection", "filter", "set"],
        "delete" => &["op", "collection", "filter"],
        "create" | "drop" => &["op", "collection"],
        other => return unknown("operation", other, "find and aggregate"),
    };
    if let Some((key, _)) = members.iter().find(|(key, _)| !known.contains(&key.as_str())) {
        return unknown(&format!("member of {op}"), key, &known.join(", "));
    }
    let collection = name(json, "collection")?;
    Ok(match op.as_str() {
        "find" => Command::Read { collection, stages: find(json)? },
        "aggregate" => {
            let mut stages = Vec::new();
            for item in array(json, "pipeline")? {
                stages.push(stage(item)?);
            }
            Command::Read { collection, stages }
        }
        "insert" => Command::Insert { collection, documents: array(json, "documents")?.to_vec() },
        "update" => {
            Command::Update { collection, filter: optional_filter(json)?, set: object(json, "set")?.to_vec() }
        }
        "delete" => Command::Delete { collection, filter: optional_filter(json)? },
        "create" => Command::Create { collection },
        _ => Command::Drop { collection },
    })
}

fn find(json: &Json) -> Grammar<Vec<Stage>> {
    let mut stages = Vec::new();
    if json.get("filter").is_some() {
        stages.push(Stage::Match(optional_filter(json)?));
    }
    if let Some(sort) = json.get("sort") {
        stages.push(Stage::Sort(orders(sort)?));
    }
    if let Some(skip) = json.get("skip") {
        stages.push(Stage::Skip(whole(skip, "skip")?));
    }
    if let Some(limit) = json.get("limit") {
        stages.push(Stage::Limit(whole(limit, "limit")?));
    }
    if let Some(projection) = json.get("projection") {
        stages.push(project(projection)?);
    }
    Ok(stages)
}

fn stage(json: &Json) -> Grammar<Stage> {
    let Some([(name, value)]) = json.as_object() else {
        return syntax("a stage is an object with one member".into());
    };
    Ok(match name.as_str() {
        "$match" => Stage::Match(filter(value)?),
        "$project" => project(value)?,
        "$sort" => Stage::Sort(orders(value)?),
        "$skip" => Stage::Skip(whole(value, "$skip")?),
        "$limit" => Stage::Limit(whole(value, "$limit")?),
        "$unwind" => match expression(value)? {
            Expression::Field(path) => Stage::Unwind(path),
            _ => return syntax("$unwind takes a field such as \"$tags\"".into()),
        },
        "$count" => match value.as_str().filter(|name| Path::read(name).is_some()) {
            Some(name) => Stage::Count(name.to_owned()),
            None => return syntax("$count takes the name of a field".into()),
        },
        "$group" => group(value)?,
        "$lookup" => lookup(value)?,
        "$out" | "$merge" => match value.as_str() {
            Some(into) => Stage::Out(into.to_owned()),
            None => return syntax(format!("{name} takes the name of a collection")),
        },
        other => {
            return unknown(
                "stage",
                other,
                "$match, $project, $group, $sort, $skip, $limit, $unwind, $count, $lookup",
            );
        }
    })
}

fn group(json: &Json) -> Grammar<Stage> {
    let Some(members) = json.as_object() else { return syntax("$group takes an object".into()) };
    let Some((first, key)) = members.first().filter(|(k, _)| k == "_id") else {
        return syntax("$group starts with \"_id\", what to group by (null for everything)".into());
    };
    let mut fields = Vec::new();
    for (field, value) in members.iter().filter(|(k, _)| k != first) {
        let Some([(accumulator, argument)]) = value.as_object() else {
            return syntax(format!("the field {field:?} of $group takes one accumulator such as $sum"));
        };
        if CODE.contains(&accumulator.as_str()) {
            return unknown("accumulator", accumulator, "");
        }
        fields.push((field.clone(), accumulator.clone(), expression(argument)?));
    }
    let key = if *key == Json::Null { None } else { Some(expression(key)?) };
    Ok(Stage::Group { key, fields })
}

fn lookup(json: &Json) -> Grammar<Stage> {
    const KNOWN: &[&str] = &["from", "localField", "foreignField", "as"];
    let Some(members) = json.as_object() else { return syntax("$lookup takes an object".into()) };
    if let Some((key, _)) = members.iter().find(|(key, _)| !KNOWN.contains(&key.as_str())) {
        return unknown("member of $lookup", key, &KNOWN.join(", "));
    }
    Ok(Stage::Lookup {
        from: name(json, "from")?,
        local: field(&name(json, "localField")?)?,
        foreign: field(&name(json, "foreignField")?)?,
        into: name(json, "as")?,
    })
}

fn project(json: &Json) -> Grammar<Stage> {
    let Some(members) = json.as_object().filter(|m| !m.is_empty()) else {
        return syntax("a projection is an object that names fields".into());
    };
    let is = |value: &Json, digit: &str| matches!(value, Json::Number(n) if n == digit);
    if members.iter().all(|(_, value)| is(value, "0") || *value == Json::Bool(false)) {
        let paths: Result<_, _> = members.iter().map(|(key, _)| field(key)).collect();
        return Ok(Stage::Leave(paths?));
    }
    let mut kept = Vec::new();
    for (key, value) in members {
        let path = field(key)?;
        let value = match value {
            v if is(v, "1") || *v == Json::Bool(true) => Expression::Field(path),
            v if is(v, "0") || *v == Json::Bool(false) => {
                return syntax("a projection either keeps fields or leaves them out".into());
            }
            v => expression(v)?,
        };
        kept.push((key.clone(), value));
    }
    Ok(Stage::Keep(kept))
}

fn orders(json: &Json) -> Grammar<Vec<(Path, Order)>> {
    let Some(members) = json.as_object().filter(|m| !m.is_empty()) else {
        return syntax("a sort order is an object of fields with 1 or -1".into());
    };
    members
        .iter()
        .map(|(key, value)| match value.as_i64() {
            Some(1) => Ok((field(key)?, Order::Up)),
            Some(-1) => Ok((field(key)?, Order::Down)),
            _ => syntax(format!("the order of {key:?} is 1 or -1")),
        })
        .collect()
}

pub(super) fn filter(json: &Json) -> Grammar<Filter> {
    let Some(members) = json.as_object() else { return syntax("a filter is an object".into()) };
    let mut all = Vec::new();
    for (key, value) in members {
        let several = || -> Grammar<Vec<Filter>> {
            match value.as_array().filter(|items| !items.is_empty()) {
                Some(items) => items.iter().map(filter).collect(),
                None => syntax(format!("{key} takes a list of filters")),
            }
        };
        match key.as_str() {
            "$and" => all.push(Filter::All(several()?)),
            "$or" => all.push(Filter::Any(several()?)),
            "$nor" => all.push(Filter::None(several()?)),
            operator if operator.starts_with('$') => {
                return unknown("operator over filters", operator, "$and, $or, $nor");
            }
            name => {
                let path = field(name)?;
                for test in tests(value)? {
                    all.push(Filter::Field(path.clone(), test));
                }
            }
        }
    }
    Ok(Filter::All(all))
}

fn tests(json: &Json) -> Grammar<Vec<Test>> {
    let operators = json.as_object().filter(|m| m.iter().any(|(key, _)| key.starts_with('$')));
    let Some(operators) = operators else { return Ok(vec![Test::Equal(json.clone())]) };
    operators
        .iter()
        .map(|(operator, value)| {
            let list = || match value.as_array() {
                Some(items) => Ok(items.to_vec()),
                None => syntax(format!("{operator} takes a list")),
            };
            Ok(match operator.as_str() {
                "$eq" => Test::Equal(value.clone()),
                "$ne" => Test::NotEqual(value.clone()),
                "$gt" => Test::Greater(value.clone()),
                "$gte" => Test::GreaterOrEqual(value.clone()),
                "$lt" => Test::Less(value.clone()),
                "$lte" => Test::LessOrEqual(value.clone()),
                "$in" => Test::In(list()?),
                "$nin" => Test::NotIn(list()?),
                "$exists" => match value.as_bool() {
                    Some(there) => Test::Exists(there),
                    None => return syntax("$exists takes true or false".into()),
                },
                other => {
                    return unknown("operator", other, "$eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $exists");
                }
            })
        })
        .collect()
}

fn expression(json: &Json) -> Grammar<Expression> {
    match json {
        Json::String(text) => match text.strip_prefix('$') {
            Some(path) => Ok(Expression::Field(field(path)?)),
            None => Ok(Expression::Literal(json.clone())),
        },
        Json::Object(members) => match members.as_slice() {
            [(name, value)] if name == "$literal" => Ok(Expression::Literal(value.clone())),
            [(name, value)] if name.starts_with('$') => {
                if CODE.contains(&name.as_str()) {
                    return unknown("function", name, "");
                }
                let arguments = match value {
                    Json::Array(items) => items.iter().map(expression).collect::<Result<_, _>>()?,
                    other => vec![expression(other)?],
                };
                Ok(Expression::Call(name.clone(), arguments))
            }
            _ => syntax("an expression is a field, a value or one function".into()),
        },
        Json::Array(_) => syntax("an expression is no list; write {\"$literal\": […]}".into()),
        _ => Ok(Expression::Literal(json.clone())),
    }
}

fn field(text: &str) -> Grammar<Path> {
    match Path::read(text) {
        Some(path) => Ok(path),
        None => syntax(format!("{text:?} is no name of a field")),
    }
}

fn name(json: &Json, key: &str) -> Grammar<String> {
    match json.get(key).and_then(Json::as_str).filter(|name| !name.is_empty()) {
        Some(name) => Ok(name.to_owned()),
        None => syntax(format!("{key:?} is missing; it must be a text")),
    }
}

fn array<'a>(json: &'a Json, key: &str) -> Grammar<&'a [Json]> {
    match json.get(key).and_then(Json::as_array) {
        Some(items) => Ok(items),
        None => syntax(format!("{key:?} is missing; it must be a list")),
    }
}

fn object<'a>(json: &'a Json, key: &str) -> Grammar<&'a [(String, Json)]> {
    match json.get(key).and_then(Json::as_object) {
        Some(members) => Ok(members),
        None => syntax(format!("{key:?} is missing; it must be an object")),
    }
}

fn optional_filter(json: &Json) -> Grammar<Filter> {
    json.get("filter").map_or(Ok(Filter::All(Vec::new())), filter)
}

fn whole(json: &Json, what: &str) -> Grammar<u64> {
    match json.as_u64() {
        Some(n) => Ok(n),
        None => syntax(format!("{what} takes a whole number from 0")),
    }
}
