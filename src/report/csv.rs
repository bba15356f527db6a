//! Converts one table of a `--json` object to CSV (RFC 4180, with Unix line ends): raw numbers
//! under stable names.
//!
//! A nested value gets a name with dots (`shape.grid`), a list of numbers or words is one cell
//! separated by blanks, a list of objects is one cell of JSON.

use anyhow::{Result, bail};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use std::fmt;

/// Returns the rows of the array `table` in `value` (`gpu.kernels`: of an object in it); an object
/// is one row.
///
/// # Errors
/// When there is no such table; the message lists those that exist.
pub(super) fn csv(value: &impl Serialize, table: &str) -> Result<String> {
    let json: Json = serde_json::from_str(&serde_json::to_string(value)?)?;
    let Json::Map(members) = &json else { bail!("this page has no tables; --json prints it") };
    let is_table = |json: &Json| matches!(json, Json::List(_) | Json::Map(_));
    let rows = match table.split('.').try_fold(&json, Json::member).filter(|json| is_table(json)) {
        Some(Json::List(rows)) => rows.as_slice(),
        Some(row) => std::slice::from_ref(row),
        None => {
            let tables = members.iter().filter(|(_, json)| is_table(json)).map(|(name, _)| name.as_str());
            bail!("there is no table `{table}`; there are: {}", tables.collect::<Vec<_>>().join(", "))
        }
    };
    let rows: Vec<Vec<(String, String)>> = rows.iter().map(flat).collect();
    let mut writer = csv::Writer::from_writer(Vec::new());
    let columns = columns(&rows);
    if columns.is_empty() {
        return Ok(String::new());
    }
    writer.write_record(&columns)?;
    for row in &rows {
        let cell =
            |column: &&str| row.iter().find(|(name, _)| name == column).map_or("", |(_, text)| text.as_str());
        writer.write_record(columns.iter().map(cell))?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// Returns the names in all rows, in order of first occurrence. A member that is null in some rows
/// and an object in others gets no column itself.
fn columns(rows: &[Vec<(String, String)>]) -> Vec<&str> {
    let mut columns: Vec<&str> = Vec::new();
    for row in rows {
        let mut place = 0;
        for (name, _) in row {
            match columns.iter().position(|known| known == name) {
                Some(at) => place = at + 1,
                None => {
                    columns.insert(place, name);
                    place += 1;
                }
            }
        }
    }
    let all = columns.clone();
    columns.retain(|name| {
        !all.iter().any(|other| other.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')))
    });
    columns
}

/// Returns the cells of a row, with their names.
fn flat(row: &Json) -> Vec<(String, String)> {
    fn add(prefix: &str, json: &Json, cells: &mut Vec<(String, String)>) {
        let Json::Map(members) = json else { return cells.push((prefix.to_string(), json.cell())) };
        for (name, json) in members {
            let name = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
            add(&name, json, cells);
        }
    }
    let mut cells = Vec::new();
    add(if matches!(row, Json::Map(_)) { "" } else { "value" }, row, &mut cells);
    cells
}

/// JSON whose members stay in their order.
enum Json {
    Null,
    Bool(bool),
    Number(serde_json::Number),
    Text(String),
    List(Vec<Json>),
    Map(Vec<(String, Json)>),
}

impl Json {
    fn member(&self, name: &str) -> Option<&Json> {
        let Json::Map(members) = self else { return None };
        members.iter().find(|(known, _)| known == name).map(|(_, json)| json)
    }

    fn cell(&self) -> String {
        match self {
            Json::Null => String::new(),
            Json::Text(text) => text.clone(),
            Json::List(items) if items.iter().all(|item| !matches!(item, Json::List(_) | Json::Map(_))) => {
                items.iter().map(Json::cell).collect::<Vec<_>>().join(" ")
            }
            other => serde_json::to_string(other).unwrap_or_default(),
        }
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Null => serializer.serialize_unit(),
            Json::Bool(value) => serializer.serialize_bool(*value),
            Json::Number(number) => number.serialize(serializer),
            Json::Text(text) => serializer.serialize_str(text),
            Json::List(items) => serializer.collect_seq(items),
            Json::Map(members) => serializer.collect_map(members.iter().map(|(name, json)| (name, json))),
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(InOrder)
    }
}

struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(serde_json::Number::from_f64(value).map_or(Json::Null, Json::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        let mut map = Vec::new();
        while let Some(member) = members.next_entry()? {
            map.push(member);
        }
        Ok(Json::Map(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `b` before `a`, so that order shows.
    fn printed(table: &str) -> Result<String> {
        let text = r#"{"format":1,"rows":[{"name":"f<a, b>(\"x\")","tile":null,"b":5,"a":[1,2,3]},{"name":"g","tile":{"m":64,"n":null},"b":null,"a":[],"inside":[{"k":1}]}],"one":{"z":1.5,"y":true},"none":[]}"#;
        csv(&serde_json::from_str::<Json>(text)?, table)
    }

    #[test]
    fn an_array_is_rows_with_raw_numbers_in_the_order_of_the_json() {
        assert_eq!(
            printed("rows").unwrap(),
            "name,tile.m,tile.n,b,a,inside\n\"f<a, b>(\"\"x\"\")\",,,5,1 2 3,\ng,64,,,,\"[{\"\"k\"\":1}]\"\n"
        );
        assert_eq!(printed("one").unwrap(), "z,y\n1.5,true\n");
        assert_eq!(
            printed("one.z").unwrap_err().to_string(),
            "there is no table `one.z`; there are: rows, one, none"
        );
        assert_eq!(printed("none").unwrap(), "");
    }

    #[test]
    fn a_wrong_name_lists_the_tables() {
        for name in ["row", "format"] {
            let error = printed(name).unwrap_err().to_string();
            assert_eq!(error, format!("there is no table `{name}`; there are: rows, one, none"));
        }
    }
}
