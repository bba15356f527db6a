//! Parses a line of a trace into a record.

use crate::Record;

/// Why a line is not a record of this format.
#[derive(Debug)]
pub enum LineError {
    /// Not JSON, or truncated.
    Json(serde_json::Error),
    /// JSON, but without the `type` key of a rocshim record.
    Foreign,
}

impl std::fmt::Display for LineError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LineError::Json(e) => write!(f, "incomplete or invalid record: {e}"),
            LineError::Foreign => write!(f, "JSON, but not a rocshim record (no \"type\")"),
        }
    }
}

impl std::error::Error for LineError {}

/// Parses one line (with or without its line end). A type that this version does not know is
/// `Record::Unknown`.
pub fn parse_line(line: &[u8]) -> Result<Record, LineError> {
    serde_json::from_slice(line).map_err(|e| {
        let foreign =
            serde_json::from_slice::<serde_json::Value>(line).is_ok_and(|v| v.get("type").is_none());
        if foreign { LineError::Foreign } else { LineError::Json(e) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_type_does_not_stop_a_reader() {
        assert_eq!(parse_line(br#"{"type":"from_the_future","x":[1]}"#).unwrap(), Record::Unknown);
    }

    #[test]
    fn an_unknown_key_does_not_stop_a_reader() {
        let line = br#"{"type":"gap","tid":1,"t":0,"dur":0,"lost":1,"reason":"ring_full","new":true}"#;
        assert!(matches!(parse_line(line).unwrap(), Record::Gap(_)));
    }

    #[test]
    fn truncated_and_foreign_lines_are_distinguished() {
        assert!(matches!(parse_line(br#"{"type":"gap","tid"#), Err(LineError::Json(_))));
        assert!(matches!(parse_line(br#"{"ts":12,"ph":"X"}"#), Err(LineError::Foreign)));
    }
}
