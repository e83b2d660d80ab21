//! Runs a pipeline: documents flow through its stages one by one, and `stop` is asked between them.

use std::collections::HashMap;
use std::sync::Arc;

use dbagent_core::json::Json;
use dbagent_core::{Error, ErrorKind, Result};

use super::catalogue;
use super::engine::{Collection, Store, values};
use super::expression::{ACCUMULATORS, arithmetic, comparable, compare, value};
use super::language::{Expression, Filter, Order, Stage, Test};

/// Why a statement must not go on, if it must not.
pub(super) type Stop = Arc<dyn Fn() -> Option<Error> + Send + Sync>;

/// Documents as they come.
pub(super) type Documents = Box<dyn Iterator<Item = Result<Json>> + Send>;

/// Documents that a stage holds at once, for sorting and grouping.
const MOST_HELD: usize = 1_000_000;

/// The fields of the result, in order, and its documents.
pub(super) fn pipeline(
    store: &Store,
    collection: &str,
    stages: &[Stage],
    stop: &Stop,
) -> Result<(Vec<String>, Documents)> {
    let from = store.collection(collection)?;
    let mut columns = catalogue::top_fields(from);
    let mut documents = source(from, Arc::clone(stop));
    for stage in stages {
        (columns, documents) = apply(store, stage, columns, documents)?;
    }
    Ok((columns, documents))
}

/// Where the pipeline writes to, if it does.
pub(super) fn out(stages: &[Stage]) -> Option<&str> {
    stages.iter().find_map(|stage| match stage {
        Stage::Out(into) => Some(into.as_str()),
        _ => None,
    })
}

fn source(collection: &Collection, stop: Stop) -> Documents {
    let documents: Documents = match collection {
        Collection::Documents(documents) => {
            let documents = Arc::clone(documents);
            Box::new((0..documents.len()).filter_map(move |i| documents.get(i).cloned()).map(Ok))
        }
        Collection::Sequence(end) => {
            let numbers = 1..=end.unwrap_or(u64::MAX);
            Box::new(numbers.map(|n| Ok(Json::Object(vec![("n".to_owned(), Json::Number(n.to_string()))]))))
        }
    };
    Box::new(documents.map(move |document| match stop() {
        Some(over) => Err(over),
        None => document,
    }))
}

fn apply(
    store: &Store,
    stage: &Stage,
    mut columns: Vec<String>,
    documents: Documents,
) -> Result<(Vec<String>, Documents)> {
    let documents: Documents = match stage.clone() {
        Stage::Match(filter) => {
            Box::new(documents.filter(move |d| d.as_ref().map_or(true, |document| holds(document, &filter))))
        }
        Stage::Skip(n) => Box::new(documents.skip(usize::try_from(n).unwrap_or(usize::MAX))),
        Stage::Limit(n) => Box::new(documents.take(usize::try_from(n).unwrap_or(usize::MAX))),
        Stage::Keep(fields) => {
            columns = fields.iter().map(|(name, _)| name.clone()).collect();
            Box::new(documents.map(move |document| {
                let document = document?;
                let kept = fields.iter().map(|(name, e)| Ok((name.clone(), value(&document, e)?)));
                Ok(Json::Object(kept.collect::<Result<_>>()?))
            }))
        }
        Stage::Leave(paths) => {
            columns.retain(|column| !paths.iter().any(|path| path.to_string() == *column));
            Box::new(documents.map(move |document| {
                let mut document = document?;
                for path in &paths {
                    remove(&mut document, &path.0);
                }
                Ok(document)
            }))
        }
        Stage::Unwind(path) => {
            let Some(field) = path.0.first().filter(|_| path.0.len() == 1).cloned() else {
                return Err(Error::new(ErrorKind::Unsupported, "$unwind takes a field of the top level"));
            };
            Box::new(documents.flat_map(move |document| unwind(document, &field)))
        }
        Stage::Sort(orders) => {
            let mut held = hold(documents)?;
            held.sort_by(|a, b| {
                let key = |document: &Json, path| {
                    values(document, path).first().map_or(Json::Null, |v| (*v).clone())
                };
                orders
                    .iter()
                    .map(|(path, order)| match order {
                        Order::Up => compare(&key(a, path), &key(b, path)),
                        Order::Down => compare(&key(b, path), &key(a, path)),
                    })
                    .find(|order| order.is_ne())
                    .unwrap_or(std::cmp::Ordering::Equal)
            });
            Box::new(held.into_iter().map(Ok))
        }
        Stage::Count(name) => {
            columns = vec![name.clone()];
            let mut count = 0_u64;
            for document in documents {
                document?;
                count += 1;
            }
            Box::new(std::iter::once(Ok(Json::Object(vec![(name, Json::Number(count.to_string()))]))))
        }
        Stage::Group { key, fields } => {
            columns =
                std::iter::once("_id".to_owned()).chain(fields.iter().map(|(n, ..)| n.clone())).collect();
            Box::new(group(documents, key.as_ref(), &fields)?.into_iter().map(Ok))
        }
        Stage::Lookup { from, local, foreign, into } => {
            columns.retain(|column| *column != into);
            columns.push(into.clone());
            let other = match store.collection(&from)? {
                Collection::Documents(documents) => Arc::clone(documents),
                Collection::Sequence(_) => {
                    return Err(Error::new(ErrorKind::Unsupported, "a sequence cannot be joined"));
                }
            };
            Box::new(documents.map(move |document| {
                let mut document = document?;
                let keys: Vec<Json> = values(&document, &local).into_iter().cloned().collect();
                let joined = other.iter().filter(|o| values(o, &foreign).iter().any(|v| keys.contains(v)));
                let joined = Json::Array(joined.cloned().collect());
                if let Json::Object(members) = &mut document {
                    members.retain(|(key, _)| *key != into);
                    members.push((into.clone(), joined));
                }
                Ok(document)
            }))
        }
        Stage::Out(_) => documents,
    };
    Ok((columns, documents))
}

fn hold(documents: Documents) -> Result<Vec<Json>> {
    let mut held = Vec::new();
    for document in documents {
        if held.len() == MOST_HELD {
            return Err(Error::new(
                ErrorKind::Exhausted,
                format!("a stage holds at most {MOST_HELD} documents"),
            ));
        }
        held.push(document?);
    }
    Ok(held)
}

fn unwind(document: Result<Json>, field: &str) -> Vec<Result<Json>> {
    let document = match document {
        Ok(document) => document,
        Err(e) => return vec![Err(e)],
    };
    let Some(Json::Array(items)) = document.get(field).cloned() else { return vec![Ok(document)] };
    let with = |item: Json| {
        let mut one = document.clone();
        if let Json::Object(members) = &mut one
            && let Some(member) = members.iter_mut().find(|(key, _)| key == field)
        {
            member.1 = item;
        }
        Ok(one)
    };
    items.into_iter().map(with).collect()
}

fn remove(document: &mut Json, path: &[String]) {
    let (Json::Object(members), Some((first, rest))) = (document, path.split_first()) else { return };
    if rest.is_empty() {
        members.retain(|(key, _)| key != first);
    } else if let Some((_, inner)) = members.iter_mut().find(|(key, _)| key == first) {
        remove(inner, rest);
    }
}

fn group(
    documents: Documents,
    key: Option<&Expression>,
    fields: &[(String, String, Expression)],
) -> Result<Vec<Json>> {
    if let Some((_, unknown, _)) = fields.iter().find(|(_, name, _)| !ACCUMULATORS.contains(&name.as_str())) {
        return Err(Error::new(ErrorKind::UnknownFunction, format!("there is no accumulator {unknown}")));
    }
    let mut groups: Vec<(Json, Vec<Vec<Json>>)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for document in hold(documents)? {
        let id = key.map_or(Ok(Json::Null), |key| value(&document, key))?;
        let place = *places.entry(id.to_string()).or_insert_with(|| {
            groups.push((id, vec![Vec::new(); fields.len()]));
            groups.len() - 1
        });
        let Some((_, gathered)) = groups.get_mut(place) else { continue };
        for ((_, _, expression), values) in fields.iter().zip(gathered) {
            let found = value(&document, expression)?;
            if found != Json::Null {
                values.push(found);
            }
        }
    }
    groups
        .into_iter()
        .map(|(id, gathered)| {
            let mut members = vec![("_id".to_owned(), id)];
            for ((name, accumulator, _), values) in fields.iter().zip(gathered) {
                members.push((name.clone(), accumulate(accumulator, values)?));
            }
            Ok(Json::Object(members))
        })
        .collect()
}

fn accumulate(accumulator: &str, values: Vec<Json>) -> Result<Json> {
    let numbers = || values.iter().filter(|v| matches!(v, Json::Number(_)));
    let sum = || numbers().try_fold(Json::Number("0".into()), |sum, n| arithmetic("$add", &sum, n));
    Ok(match accumulator {
        "$sum" => sum()?,
        "$avg" => match numbers().count() {
            0 => Json::Null,
            n => arithmetic("$divide", &sum()?, &Json::Number(n.to_string()))?,
        },
        "$min" => values.into_iter().min_by(compare).unwrap_or(Json::Null),
        _ => values.into_iter().max_by(compare).unwrap_or(Json::Null),
    })
}

/// Whether a document fits a filter.
pub(super) fn holds(document: &Json, filter: &Filter) -> bool {
    match filter {
        Filter::All(filters) => filters.iter().all(|filter| holds(document, filter)),
        Filter::Any(filters) => filters.iter().any(|filter| holds(document, filter)),
        Filter::None(filters) => !filters.iter().any(|filter| holds(document, filter)),
        Filter::Field(path, test) => {
            let mut found = values(document, path);
            // A list fits when one of its items does, and by itself.
            let items = found.iter().filter_map(|v| v.as_array()).flatten().collect::<Vec<_>>();
            found.extend(items);
            let any = |fits: &dyn Fn(&Json) -> bool| found.iter().any(|value| fits(value));
            let equal = |wanted: &Json| {
                any(&|v| compare(v, wanted).is_eq()) || (found.is_empty() && *wanted == Json::Null)
            };
            let ordered = |wanted: &Json, fits: &dyn Fn(std::cmp::Ordering) -> bool| {
                any(&|v| comparable(v, wanted) && fits(compare(v, wanted)))
            };
            match test {
                Test::Equal(wanted) => equal(wanted),
                Test::NotEqual(wanted) => !equal(wanted),
                Test::Greater(wanted) => ordered(wanted, &|o| o.is_gt()),
                Test::GreaterOrEqual(wanted) => ordered(wanted, &|o| o.is_ge()),
                Test::Less(wanted) => ordered(wanted, &|o| o.is_lt()),
                Test::LessOrEqual(wanted) => ordered(wanted, &|o| o.is_le()),
                Test::In(list) => list.iter().any(equal),
                Test::NotIn(list) => !list.iter().any(equal),
                Test::Exists(there) => found.is_empty() != *there,
            }
        }
    }
}
