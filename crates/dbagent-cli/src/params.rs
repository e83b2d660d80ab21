//! `--param`: the values of a statement's parameters.

use dbagent::json::{Json, JsonLimits};
use dbagent::request::Params;
use dbagent::{Error, Param};

use crate::input::invalid;

/// Reads the values: `VALUE` by position, `3=VALUE` by number, `name=VALUE` by name. A value is JSON where
/// it can be read as such (5, "5", true, null, {"$date": "2024-05-01"}), else the text as it is.
///
/// # Errors
/// [`ErrorKind::InvalidRequest`](dbagent::ErrorKind::InvalidRequest) with the number of the option.
pub(crate) fn read(options: &[String]) -> Result<Params, Error> {
    let mut positional: Vec<Option<Param>> = Vec::new();
    let mut named: Vec<(String, Param)> = Vec::new();
    for (i, option) in options.iter().enumerate() {
        let place = |e: Error| e.with("--param", i + 1);
        match key(option) {
            Some((key, text)) if key.bytes().all(|b| b.is_ascii_digit()) => {
                let number = key.parse::<usize>().ok().filter(|n| (1..=MOST).contains(n));
                let number = number.ok_or_else(|| {
                    place(invalid(format!("parameters are numbered from 1 to {MOST}, not {key}")))
                })?;
                if positional.len() < number {
                    positional.resize(number, None);
                }
                let value = value(text).map_err(place)?;
                if let Some(slot) = positional.get_mut(number - 1)
                    && slot.replace(value).is_some()
                {
                    return Err(place(invalid(format!("the parameter {number} is given twice"))));
                }
            }
            Some((key, text)) => {
                if named.iter().any(|(name, _)| name == key) {
                    return Err(place(invalid(format!("the parameter {key} is given twice"))));
                }
                named.push((key.to_owned(), value(text).map_err(place)?));
            }
            None => positional.push(Some(value(option).map_err(place)?)),
        }
    }
    match (positional.is_empty(), named.is_empty()) {
        (true, true) => Ok(Params::None),
        (true, false) => Ok(Params::Named(named)),
        (false, false) => {
            Err(invalid("parameters are given by position and by name").hint("use one of the two"))
        }
        (false, true) => {
            let missing = positional.iter().position(Option::is_none);
            match missing {
                Some(missing) => Err(invalid(format!("the parameter {} has no value", missing + 1))),
                None => Ok(Params::Positional(positional.into_iter().flatten().collect())),
            }
        }
    }
}

/// The most parameters of a statement.
const MOST: usize = 10_000;

/// The key of `KEY=VALUE`, where KEY is a number or a name.
fn key(option: &str) -> Option<(&str, &str)> {
    let (key, value) = option.split_once('=')?;
    let good = |c: char| c.is_alphanumeric() || c == '_';
    (!key.is_empty() && key.chars().all(good)).then_some((key, value))
}

fn value(text: &str) -> Result<Param, Error> {
    match Json::parse(text, JsonLimits::default()) {
        Ok(json) => Param::from_json(&json),
        Err(_) => Ok(Param::Text(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(options: &[&str]) -> Result<Params, String> {
        read(&options.iter().map(|o| (*o).to_owned()).collect::<Vec<_>>()).map_err(|e| e.to_string())
    }

    #[test]
    fn values_are_json_or_text() {
        assert_eq!(
            params(&["5", "\"5\"", "Rock", "null", "{\"$date\":\"2024-05-01\"}", "-1.5", "\"a=b\""]).unwrap(),
            Params::Positional(vec![
                Param::I64(5),
                Param::Text("5".into()),
                Param::Text("Rock".into()),
                Param::Null,
                Param::Date("2024-05-01".into()),
                Param::F64(-1.5),
                Param::Text("a=b".into()),
            ])
        );
        assert_eq!(params(&[]).unwrap(), Params::None);
    }

    #[test]
    fn places_and_names() {
        assert_eq!(params(&["2=b", "1=a"]).unwrap(), params(&["a", "b"]).unwrap());
        assert_eq!(
            params(&["genre=Rock", "n=3"]).unwrap(),
            Params::Named(vec![("genre".into(), Param::Text("Rock".into())), ("n".into(), Param::I64(3))])
        );
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert!(params(&["2=b"]).unwrap_err().contains("parameter 1 has no value"));
        assert!(params(&["1=a", "1=b"]).unwrap_err().contains("given twice"));
        assert!(params(&["a=1", "2"]).unwrap_err().contains("by position and by name"));
        assert!(params(&["0=1"]).unwrap_err().contains("from 1"));
        assert!(params(&["[1]"]).unwrap_err().contains("--param: 1"));
    }
}
