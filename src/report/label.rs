//! Chooses the names of kernels on a page: short, and distinct.

use super::{
    names::{tidy, to_tile},
    table::Style,
};
use rocshim_analysis::table::{Cell, Head};
use std::collections::HashMap;

/// Returns the cells of a column as text; kernels get distinct names.
pub(crate) fn texts(cells: &[&Cell], head: &Head, style: &Style) -> Vec<String> {
    let mut names: Vec<Name> = Vec::new();
    for cell in cells {
        if let Cell::Kernel(symbol, demangled) = cell {
            names.push((symbol, demangled.as_deref()));
        }
    }
    let mut labels = labels(&names, style).into_iter();
    let mut text = |cell: &&Cell| match cell {
        Cell::Kernel(..) => labels.next().unwrap_or_default(),
        cell => cell.text(head),
    };
    cells.iter().map(&mut text).collect()
}

/// Returns a kernel's name as shown.
pub(crate) fn label(name: &str, demangled: Option<&str>, style: &Style) -> String {
    let readable = demangled.unwrap_or(name);
    match (style.full_names, to_tile(name)) {
        (true, _) => readable.into(),
        (false, Some(short)) => format!("{short}…"),
        (false, None) => tidy(readable).into(),
    }
}

/// A symbol, and the demangled name if that differs.
pub(crate) type Name<'a> = (&'a str, Option<&'a str>);

/// Returns the names of all rows. Kernels that differ only in parts that are usually omitted keep
/// these parts: for Tensile kernels, the parameters that not all of them have.
pub(crate) fn labels(names: &[Name], style: &Style) -> Vec<String> {
    let label = |(name, demangled): Name| label(name, demangled, style);
    let mut alike: HashMap<String, Vec<&str>> = HashMap::new();
    for name in names {
        let alike = alike.entry(label(*name)).or_default();
        if !alike.contains(&name.0) {
            alike.push(name.0);
        }
    }
    names
        .iter()
        .map(|name| match label(*name) {
            short if alike[&short].len() == 1 => short,
            short => own_parameters(name.0, &alike[&short])
                .map_or_else(|| name.1.unwrap_or(name.0).to_string(), |own| short + &own),
        })
        .collect()
}

/// Returns the parameters in a Tensile kernel's name that others lack; `None` without any.
fn own_parameters(name: &str, alike: &[&str]) -> Option<String> {
    to_tile(name)?;
    let lacks = |other: &str, word: &str| !other.split('_').any(|known| known == word);
    let own: Vec<&str> =
        name.split('_').filter(|word| alike.iter().any(|other| lacks(other, word))).collect();
    (!own.is_empty()).then(|| own.join("_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labelled(names: &[&str]) -> Vec<String> {
        labels(&names.iter().map(|name| (*name, None)).collect::<Vec<_>>(), &Style::default())
    }

    #[test]
    fn products_of_one_tile_are_distinguished_by_what_they_do_not_share() {
        let [one, other] =
            ["Cijk_Ailk_Bljk_SB_MT64x64x8_SN_TLDS1_VW4", "Cijk_Ailk_Bljk_SB_MT64x64x8_SN_TLDS2_VW4"];
        assert_eq!(labelled(&[one]), ["Cijk_Ailk_Bljk_SB_MT64x64x8…"]);
        assert_eq!(
            labelled(&[one, other]),
            ["Cijk_Ailk_Bljk_SB_MT64x64x8…TLDS1", "Cijk_Ailk_Bljk_SB_MT64x64x8…TLDS2"]
        );
        // A name that has no parameter beyond the other's.
        let longer = format!("{one}_PGR2");
        assert_eq!(
            labelled(&[one, &longer]),
            [one.to_string(), "Cijk_Ailk_Bljk_SB_MT64x64x8…PGR2".to_string()]
        );
    }
}
