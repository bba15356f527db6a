//! Writes the seeds of a parser into a folder: `seeds PARSER FOLDER`.

use rocshim_tests::damage::{PARSERS, seeds};
use std::path::PathBuf;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (name, folder) =
        (arguments.next().unwrap_or_default(), PathBuf::from(arguments.next().unwrap_or_default()));
    let (_, parser) = PARSERS.iter().find(|(parser, _)| *parser == name).expect("a parser's name");
    std::fs::create_dir_all(&folder).expect("a folder");
    for (number, seed) in seeds(*parser).iter().enumerate() {
        std::fs::write(folder.join(format!("seed-{number}")), seed).expect("a seed");
    }
}
