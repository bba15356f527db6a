//! One target for all parsers: `ROCSHIM_PARSER` says which is fed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rocshim_tests::damage::{PARSERS, Parser, Remains, WhenFull, feed, remains};
use std::sync::LazyLock;

static PARSER: LazyLock<Parser> = LazyLock::new(|| {
    let name = std::env::var("ROCSHIM_PARSER").unwrap_or_default();
    let found = PARSERS.iter().find(|(parser, _)| *parser == name);
    found.unwrap_or_else(|| panic!("ROCSHIM_PARSER={name} is none of {PARSERS:?}")).1
});
static REMAINS: LazyLock<Remains> = LazyLock::new(|| remains(WhenFull::Drop));

fuzz_target!(|bytes: &[u8]| feed(*PARSER, bytes, &REMAINS));
