//! An independent validator of the trace format, which shares no code with rocshim's reader.

use serde_json::Value;

/// A compiled schema.
#[derive(Debug)]
pub(crate) struct Validator(jsonschema::Validator);

impl Validator {
    /// The validator of `schema`, a JSON Schema of draft 2020-12.
    pub(crate) fn new(schema: &Value) -> Self {
        Self(jsonschema::draft202012::new(schema).expect("a schema"))
    }

    /// Why `value` is not valid.
    pub(crate) fn violation(&self, value: &Value) -> Option<String> {
        self.0.validate(value).err().map(|error| format!("{error} at {}", error.instance_path()))
    }

    /// True if `value` is valid.
    pub(crate) fn is_valid(&self, value: &Value) -> bool {
        self.0.is_valid(value)
    }
}
