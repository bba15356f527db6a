//! Maps function handles to kernels and code objects, over time.
//!
//! Handles are reused after a module is unloaded, so a launch is named by what its handle meant at
//! the time of the call.

use crate::arguments::Arguments;
use crate::history::History;
use crate::parameters::demangle;
use foldhash::HashMap;
use rocshim_ring::kernel::KernelCode;
use rocshim_trace::Callers;

/// A kernel as defined.
pub(crate) struct Kernel {
    pub(crate) name: Box<str>,
    pub(crate) code_object: Option<u32>,
    /// Module or fat binary handle.
    owner: u64,
    /// Its metadata in the code object.
    pub(crate) code: Option<Code>,
    /// The callers of its first launch.
    pub(crate) callers: Option<Callers>,
}

/// A kernel's metadata and its argument decoder.
pub(crate) struct Code {
    pub(crate) code: KernelCode<'static>,
    /// `None`: not known.
    pub(crate) arguments: Option<Arguments>,
}

/// All kernels and code objects.
#[derive(Default)]
pub(crate) struct Kernels {
    kernels: HashMap<u32, Kernel>,
    /// `hipFunction_t` or host stub → kernel.
    functions: HashMap<u64, History<u32>>,
    /// Module or fat binary handle → code object.
    owners: HashMap<u64, History<u32>>,
    /// Module or fat binary handle → (from when on, function) of its functions.
    members: HashMap<u64, Vec<(u64, u64)>>,
}

impl Kernels {
    /// A module or fat binary `owner` holds code object `number` from `stamp` on.
    pub(crate) fn own(&mut self, stamp: u64, owner: u64, number: u32) {
        self.owners.entry(owner).or_default().set(stamp, Some(number));
    }

    /// `function` means kernel `number`, called `name`, of `owner` from `stamp` on.
    pub(crate) fn name(&mut self, stamp: u64, owner: u64, function: u64, number: u32, name: &str) {
        let code_object = self.owner(owner, stamp);
        self.kernels
            .insert(number, Kernel { name: name.into(), code_object, owner, code: None, callers: None });
        self.functions.entry(function).or_default().set(stamp, Some(number));
        self.members.entry(owner).or_default().push((stamp, function));
    }

    /// `function` means from `stamp` on what `of` means then.
    pub(crate) fn same(&mut self, stamp: u64, function: u64, of: u64) {
        let Some((number, kernel)) = self.function(of, stamp) else { return };
        let owner = kernel.owner;
        self.functions.entry(function).or_default().set(stamp, Some(number));
        self.members.entry(owner).or_default().push((stamp, function));
    }

    /// Invalidates `owner` and all its functions from `stamp` on.
    pub(crate) fn forget(&mut self, stamp: u64, owner: u64) {
        if let Some(history) = self.owners.get_mut(&owner) {
            history.set(stamp, None);
        }
        let Some(members) = self.members.get_mut(&owner) else { return };
        // The handle may have been reused before the definition of its unload arrives.
        let (gone, left) = std::mem::take(members).into_iter().partition(|(from, _)| *from <= stamp);
        *members = left;
        let gone: Vec<(u64, u64)> = gone;
        for (_, function) in gone {
            if let Some(history) = self.functions.get_mut(&function) {
                history.set(stamp, None);
            }
        }
    }

    /// Sets the metadata of the kernel that `function` meant at `stamp`.
    pub(crate) fn describe(&mut self, stamp: u64, function: u64, code: KernelCode) {
        let number = self.functions.get(&function).and_then(|history| history.at(stamp));
        let Some(kernel) = number.and_then(|number| self.kernels.get_mut(&number)) else { return };
        let mut code = code.into_owned();
        let arguments = Arguments::of(&mut code, demangle(&kernel.name).as_deref());
        kernel.code = Some(Code { code, arguments });
    }

    /// Sets the callers of the first launch of the kernel that `function` meant at `stamp`.
    pub(crate) fn called(&mut self, stamp: u64, function: u64, callers: Callers) {
        let number = self.functions.get(&function).and_then(|history| history.at(stamp));
        if let Some(kernel) = number.and_then(|number| self.kernels.get_mut(&number)) {
            kernel.callers.get_or_insert(callers);
        }
    }

    /// The kernel that `function` meant at `stamp`, with its definition number.
    pub(crate) fn function(&self, function: u64, stamp: u64) -> Option<(u32, &Kernel)> {
        let number = self.functions.get(&function)?.at(stamp)?;
        self.kernels.get(&number).map(|kernel| (number, kernel))
    }

    /// The stamp from which the current meaning of `function` holds.
    pub(crate) fn since(&self, function: u64) -> Option<u64> {
        self.functions.get(&function)?.since()
    }

    /// The argument decoder of a kernel.
    pub(crate) fn arguments(&self, number: u32) -> Option<&Arguments> {
        self.kernels.get(&number)?.code.as_ref()?.arguments.as_ref()
    }

    /// The code object that `owner` held at `stamp`.
    pub(crate) fn owner(&self, owner: u64, stamp: u64) -> Option<u32> {
        self.owners.get(&owner)?.at(stamp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(kernels: &Kernels, function: u64, stamp: u64) -> Option<(u32, String, Option<u32>)> {
        kernels
            .function(function, stamp)
            .map(|(id, kernel)| (id, kernel.name.to_string(), kernel.code_object))
    }

    #[test]
    fn a_reused_handle_means_what_it_meant_at_the_time() {
        let mut kernels = Kernels::default();
        kernels.own(10, 0xa, 1);
        kernels.name(11, 0xa, 0xf, 2, "first");
        kernels.forget(20, 0xa);
        kernels.own(30, 0xa, 3);
        kernels.name(31, 0xa, 0xf, 4, "second");
        assert_eq!(at(&kernels, 0xf, 10), None, "before it was made");
        assert_eq!(at(&kernels, 0xf, 11), Some((2, "first".into(), Some(1))));
        assert_eq!(at(&kernels, 0xf, 25), None, "between unload and reuse");
        assert_eq!(at(&kernels, 0xf, 99), Some((4, "second".into(), Some(3))));
    }

    #[test]
    fn an_unload_defined_late_does_not_undo_a_reuse() {
        let mut kernels = Kernels::default();
        kernels.own(10, 0xa, 1);
        kernels.name(11, 0xa, 0xf, 2, "first");
        kernels.own(30, 0xb, 3);
        kernels.name(31, 0xb, 0xf, 4, "second");
        kernels.forget(20, 0xa);
        assert_eq!(at(&kernels, 0xf, 40), Some((4, "second".into(), Some(3))));
        assert_eq!(at(&kernels, 0xf, 25), None);
    }

    #[test]
    fn a_second_handle_of_a_kernel_means_the_same() {
        let mut kernels = Kernels::default();
        kernels.own(10, 0xa, 1);
        kernels.name(11, 0xa, 0xf, 2, "k");
        kernels.same(12, 0xf2, 0xf);
        kernels.same(13, 0xf3, 0xdead);
        assert_eq!(at(&kernels, 0xf2, 12), Some((2, "k".into(), Some(1))));
        assert_eq!((at(&kernels, 0xf2, 11), at(&kernels, 0xf3, 99)), (None, None));
        kernels.forget(20, 0xa);
        assert_eq!(at(&kernels, 0xf2, 20), None, "and becomes invalid with it");
    }

    #[test]
    fn a_kernel_of_an_unknown_module_has_a_name_and_no_code_object() {
        let mut kernels = Kernels::default();
        kernels.name(1, 0xdead, 0xf, 0, "k");
        assert_eq!(at(&kernels, 0xf, 2), Some((0, "k".into(), None)));
    }
}
