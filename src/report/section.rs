//! A part of a page: a title, a table, remarks under it; and paragraphs. In text or in Markdown.

use super::{
    colour, markdown,
    table::{Form, Style, Table, broken},
    visible::visible,
};

/// A title, a table, and remarks under it.
pub(super) fn section(title: &str, table: &Table, style: &Style, remarks: &[String]) -> Option<String> {
    let title = &visible(title);
    let remarks: Vec<String> = remarks.iter().map(|remark| visible(remark).into_owned()).collect();
    if style.form == Form::Markdown {
        let parts = [markdown::title(title), markdown::table(table)];
        let remarks = remarks.iter().map(|remark| markdown::paragraph(remark));
        return Some(
            parts.into_iter().chain(remarks).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n"),
        );
    }
    let titles = broken(title, style.width.unwrap_or(usize::MAX));
    let titles: Vec<String> = titles.into_iter().map(|line| colour::title(line, style.colour)).collect();
    let mut text = format!("{}\n{}", titles.join("\n"), table.text(style));
    let room = style.width.map_or(usize::MAX, |width| width.saturating_sub(4));
    for line in remarks.iter().flat_map(|remark| broken(remark, room)) {
        text.push_str(&format!("  {line}\n"));
    }
    Some(text)
}

/// A paragraph of words, in lines that fit.
pub(super) fn paragraph(words: &str, style: &Style) -> String {
    let words = visible(words);
    match style.form {
        Form::Markdown => markdown::paragraph(&words),
        Form::Text => broken(&words, style.width.unwrap_or(usize::MAX)).join("\n") + "\n",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Column;

    #[test]
    fn a_section_is_the_same_in_text_and_in_markdown() {
        let mut table = Table::new(&[Column::Right("calls"), Column::Left("kernel")]);
        table.row(vec!["7".into(), "a<int>".into()]);
        let page = |style: &Style| section("Kernels", &table, style, &["one".into(), "two".into()]).unwrap();
        assert_eq!(page(&Style::default()), "Kernels\n  calls  kernel\n      7  a<int>\n  one\n  two\n");
        let markdown = Style { form: Form::Markdown, ..Style::default() };
        assert_eq!(
            page(&markdown),
            "## Kernels\n\n| calls | kernel |\n|---:|---|\n| 7 | a\\<int\\> |\n\none\n\ntwo\n"
        );
        assert_eq!(paragraph("1 process: 2 launches", &markdown), "1 process: 2 launches\n");
    }
}
