//! Text that the command reads from the library's file, so that both always show one table.

/// Puts the constant text `$text` into section `$section` of the library.
macro_rules! rocshim_section {
    ($section:literal, $text:ident) => {
        #[used]
        #[allow(unsafe_code)] // an attribute that moves a constant; nothing is executed
        #[unsafe(link_section = $section)]
        static SECTION_TEXT: [u8; $text.len()] = {
            let mut bytes = [0; $text.len()];
            let mut i = 0;
            while i < bytes.len() {
                bytes[i] = crate::table::section::flat($text.as_bytes(), i);
                i += 1;
            }
            bytes
        };
    };
}

/// The byte at `i`: rows end with `\x1e`, which becomes the line end; the line breaks that `stringify!` puts into long
/// signatures become spaces.
pub(crate) const fn flat(text: &[u8], i: usize) -> u8 {
    match text[i] {
        b'\n' => b' ',
        b'\x1e' => b'\n',
        byte => byte,
    }
}
