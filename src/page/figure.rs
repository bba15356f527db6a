//! Renders figures: a specification for plotly.js, a description in words, and the data as a table.

use super::grid::Grid;
use maud::{Markup, PreEscaped, html};
use serde_json::{Value, json};

/// A figure.
pub(super) struct Figure {
    /// Its name for scripts, and a part of its id.
    pub(super) key: &'static str,
    pub(super) title: &'static str,
    /// A description of the figure in words, for people who cannot see it.
    pub(super) words: String,
    /// What a reader has to know to read it.
    pub(super) note: Option<String>,
    pub(super) layout: Value,
    /// The views; if there are several, buttons with their names switch between them.
    pub(super) views: Vec<View>,
    pub(super) data: Grid,
    /// Layout settings for a narrow window, in addition to the common ones.
    pub(super) narrow: Value,
    /// True to show buttons that zoom along the time axis.
    pub(super) zooms: bool,
    /// Minimum readable width in pixels; a narrower window scrolls the figure.
    pub(super) least_width: u32,
}

/// A variant of a figure.
pub(super) struct View {
    pub(super) name: &'static str,
    pub(super) data: Vec<Value>,
    /// Layout settings in addition to the common ones.
    pub(super) layout: Value,
}

impl View {
    pub(super) fn only(data: Vec<Value>) -> Vec<View> {
        vec![View { name: "", data, layout: json!({}) }]
    }
}

impl Figure {
    /// Renders the figure; `prefix` makes its id unique to its run.
    pub(super) fn markup(&self, prefix: &str) -> Markup {
        let id = format!("{prefix}{}-figure", self.key);
        let views: Vec<Value> =
            self.views.iter().map(|view| json!({ "data": view.data, "layout": view.layout })).collect();
        let spec = json!({ "layout": self.layout, "views": views, "narrow": self.narrow });
        html! {
            figure id=(id) {
                figcaption {
                    h3 id={ (id) "-title" } { (self.title) }
                    @if let Some(note) = &self.note { p.note { (note) } }
                }
                @if self.zooms || self.views.len() > 1 {
                    div.controls {
                        @if self.views.len() > 1 {
                            div role="group" aria-label={ (self.title) ": shown by" } {
                                @for (at, view) in self.views.iter().enumerate() {
                                    button type="button" data-for=(id) data-view=(at) aria-pressed=(at == 0) { (view.name) }
                                }
                            }
                        }
                        @if self.zooms {
                            div role="group" aria-label={ (self.title) ": zoom" } {
                                button type="button" data-for=(id) data-zoom="0.5" aria-label="Zoom in" { "+" }
                                button type="button" data-for=(id) data-zoom="2" aria-label="Zoom out" { "−" }
                                button type="button" data-for=(id) data-pan="-0.25" aria-label="Earlier" { "‹" }
                                button type="button" data-for=(id) data-pan="0.25" aria-label="Later" { "›" }
                                button type="button" data-for=(id) data-zoom="0" { "Whole run" }
                            }
                        }
                    }
                }
                div.canvas tabindex="0" role="group" aria-labelledby={ (id) "-title" } aria-describedby={ (id) "-words" } {
                    div.plot data-figure=(id) style={ "min-width:" (self.least_width) "px" } {}
                }
                p.words id={ (id) "-words" } { (self.words) }
                script type="application/json" id={ (id) "-spec" } { (PreEscaped(in_script(&spec))) }
                @if self.data.len() > 0 {
                    details.data { summary { "The data as a table" } (self.data.markup(prefix)) }
                }
            }
        }
    }
}

/// Returns JSON for a script element, in which nothing ends the element or begins a comment.
pub(super) fn in_script(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// Escapes untrusted text in a figure, because plotly.js interprets tags and entities.
pub(super) fn label(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The same, shortened to `width` characters.
pub(super) fn short_label(text: &str, width: usize) -> String {
    label(&rocshim_report::names::fit(text, width))
}

/// Returns the page's colour with this number, which has a light and a dark variant.
pub(super) fn colour(number: usize) -> String {
    format!("@c{}", number % 12)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_the_script_or_is_markup_in_a_figure() {
        let spec = json!({ "name": "</script><!--<script>&" });
        let text = in_script(&spec);
        assert!(!text.contains(['<', '>', '&']), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).expect("still JSON"), spec);
        assert_eq!(label("f<a & b>"), "f&lt;a &amp; b&gt;");
    }
}
