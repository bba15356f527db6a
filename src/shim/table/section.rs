//! Tables stored as text in sections of librocshim.so, so that the command prints those of the very
//! library it loads.

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

/// Returns the byte to store for `text[i]`. The row separator `\x1e` becomes a line feed; line
/// breaks that `stringify!` puts into long signatures become spaces.
pub(crate) const fn flat(text: &[u8], i: usize) -> u8 {
    match text[i] {
        b'\n' => b' ',
        b'\x1e' => b'\n',
        byte => byte,
    }
}
