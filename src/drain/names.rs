//! Handle → kernel → code object, by time.
//!
//! Handles are reused after a module is unloaded: a launch is named by what its handle meant when it was made.

use crate::arguments::Arguments;
use crate::history::History;
use crate::parameters::demangle;
use foldhash::HashMap;
use rocshim_ring::kernel::KernelCode;

/// A kernel as it was defined.
pub(crate) struct Kernel {
    pub(crate) name: Box<str>,
    pub(crate) code_object: Option<u32>,
    /// Module or fat binary handle.
    owner: u64,
    /// What its code object says of it.
    pub(crate) code: Option<Code>,
}

/// A kernel's code and how its arguments are read.
pub(crate) struct Code {
    pub(crate) code: KernelCode<'static>,
    /// `None`: they are not known.
    pub(crate) arguments: Option<Arguments>,
}

/// Everything that has a name.
#[derive(Default)]
pub(crate) struct Names {
    kernels: HashMap<u32, Kernel>,
    /// `hipFunction_t` or host stub → kernel.
    functions: HashMap<u64, History<u32>>,
    /// Module or fat binary handle → code object.
    owners: HashMap<u64, History<u32>>,
    /// Module or fat binary handle → (from when on, function) of those that die with it.
    members: HashMap<u64, Vec<(u64, u64)>>,
}

impl Names {
    /// A module or fat binary `owner` holds code object `number` from `stamp` on.
    pub(crate) fn own(&mut self, stamp: u64, owner: u64, number: u32) {
        self.owners.entry(owner).or_default().set(stamp, Some(number));
    }

    /// `function` means kernel `number`, called `name`, of `owner` from `stamp` on.
    pub(crate) fn name(&mut self, stamp: u64, owner: u64, function: u64, number: u32, name: &str) {
        let code_object = self.owner(owner, stamp);
        self.kernels.insert(number, Kernel { name: name.into(), code_object, owner, code: None });
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

    /// `owner` and all its functions mean nothing from `stamp` on.
    pub(crate) fn forget(&mut self, stamp: u64, owner: u64) {
        if let Some(history) = self.owners.get_mut(&owner) {
            history.set(stamp, None);
        }
        let Some(members) = self.members.get_mut(&owner) else { return };
        // The handle may have been given out again before its unload is told.
        let (gone, left) = std::mem::take(members).into_iter().partition(|(from, _)| *from <= stamp);
        *members = left;
        let gone: Vec<(u64, u64)> = gone;
        for (_, function) in gone {
            if let Some(history) = self.functions.get_mut(&function) {
                history.set(stamp, None);
            }
        }
    }

    /// The kernel that `function` meant at `stamp` has this code.
    pub(crate) fn describe(&mut self, stamp: u64, function: u64, code: KernelCode) {
        let number = self.functions.get(&function).and_then(|history| history.at(stamp));
        let Some(kernel) = number.and_then(|number| self.kernels.get_mut(&number)) else { return };
        let mut code = code.into_owned();
        let arguments = Arguments::of(&mut code, demangle(&kernel.name).as_deref());
        kernel.code = Some(Code { code, arguments });
    }

    /// What `function` meant at `stamp`.
    pub(crate) fn function(&self, function: u64, stamp: u64) -> Option<(u32, &Kernel)> {
        let number = self.functions.get(&function)?.at(stamp)?;
        self.kernels.get(&number).map(|kernel| (number, kernel))
    }

    /// From which stamp on `function` means what it means now.
    pub(crate) fn since(&self, function: u64) -> Option<u64> {
        self.functions.get(&function)?.since()
    }

    /// What a kernel's code object says of its arguments.
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

    fn at(names: &Names, function: u64, stamp: u64) -> Option<(u32, String, Option<u32>)> {
        names.function(function, stamp).map(|(id, kernel)| (id, kernel.name.to_string(), kernel.code_object))
    }

    #[test]
    fn a_reused_handle_means_what_it_meant_at_the_time() {
        let mut names = Names::default();
        names.own(10, 0xa, 1);
        names.name(11, 0xa, 0xf, 2, "first");
        names.forget(20, 0xa);
        names.own(30, 0xa, 3);
        names.name(31, 0xa, 0xf, 4, "second");
        assert_eq!(at(&names, 0xf, 10), None, "before it was made");
        assert_eq!(at(&names, 0xf, 11), Some((2, "first".into(), Some(1))));
        assert_eq!(at(&names, 0xf, 25), None, "between unload and reuse");
        assert_eq!(at(&names, 0xf, 99), Some((4, "second".into(), Some(3))));
    }

    #[test]
    fn an_unload_that_is_told_late_does_not_undo_a_reuse() {
        let mut names = Names::default();
        names.own(10, 0xa, 1);
        names.name(11, 0xa, 0xf, 2, "first");
        names.own(30, 0xb, 3);
        names.name(31, 0xb, 0xf, 4, "second");
        names.forget(20, 0xa);
        assert_eq!(at(&names, 0xf, 40), Some((4, "second".into(), Some(3))));
        assert_eq!(at(&names, 0xf, 25), None);
    }

    #[test]
    fn another_handle_of_a_kernel_means_what_the_first_one_means() {
        let mut names = Names::default();
        names.own(10, 0xa, 1);
        names.name(11, 0xa, 0xf, 2, "k");
        names.same(12, 0xf2, 0xf);
        names.same(13, 0xf3, 0xdead);
        assert_eq!(at(&names, 0xf2, 12), Some((2, "k".into(), Some(1))));
        assert_eq!((at(&names, 0xf2, 11), at(&names, 0xf3, 99)), (None, None));
        names.forget(20, 0xa);
        assert_eq!(at(&names, 0xf2, 20), None, "and dies with it");
    }

    #[test]
    fn a_kernel_whose_module_was_never_seen_has_a_name_and_no_code_object() {
        let mut names = Names::default();
        names.name(1, 0xdead, 0xf, 0, "k");
        assert_eq!(at(&names, 0xf, 2), Some((0, "k".into(), None)));
    }
}
