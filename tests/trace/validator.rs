//! The independent validator of the trace format, which shares nothing with rocshim's own reader.

use serde_json::Value;

/// One schema, held against values.
#[derive(Debug)]
pub(crate) struct Validator(jsonschema::Validator);

impl Validator {
    /// The validator of `schema`, a JSON Schema of draft 2020-12.
    pub(crate) fn new(schema: &Value) -> Self {
        Self(jsonschema::draft202012::new(schema).expect("a schema"))
    }

    /// Why `value` does not fulfil the schema.
    pub(crate) fn complaint(&self, value: &Value) -> Option<String> {
        self.0.validate(value).err().map(|error| format!("{error} at {}", error.instance_path()))
    }

    /// True when `value` fulfils the schema.
    pub(crate) fn is_valid(&self, value: &Value) -> bool {
        self.0.is_valid(value)
    }
}
