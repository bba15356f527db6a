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
                bytes[i] = $text.as_bytes()[i];
                i += 1;
            }
            bytes
        };
    };
}
