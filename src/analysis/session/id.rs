//! Typed ids that a [`Session`](super::Session) resolves.

use crate::interner::Id;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl Id for $name {
            fn at(index: usize) -> $name {
                $name(u32::try_from(index).unwrap_or(u32::MAX))
            }

            fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// A process, in the order in which the session reads them.
    ProcessId;
    /// A hooked function of a library, over all processes.
    FunctionId;
    /// A code object, over all processes: the same place in a file, or the same content in memory.
    CodeObjectId;
    /// A kernel's symbol, over all processes and code objects.
    SymbolId;
    /// A kernel: a symbol of a code object for a target, over all processes.
    KernelId;
}
