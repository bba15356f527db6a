//! Classifies kernels for phases: by symbol and code object, with the roles that their names imply.

use super::labels::Named;
use crate::{
    code_objects::is_of_library,
    families::is_product,
    interner::{Interner, PerId},
    session::{KernelId, LocalKernel, Session, SymbolId},
};
use rocshim_trace::{Arg, Family, Launch, ggml::MatMul};

/// A kernel of a code object.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct KernelInfo {
    pub(super) name: String,
    pub(super) demangled: Option<String>,
    pub(super) family: Option<&'static Family>,
    pub(super) owner: Option<CodeObjectKey>,
}

/// The code object of a kernel, as phases identify it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct CodeObjectKey {
    pub(super) source: String,
    pub(super) path: Option<String>,
    pub(super) ordinal: Option<u32>,
    pub(super) target: Option<String>,
    pub(super) file: Option<String>,
}

impl CodeObjectKey {
    /// Returns true for code objects of `library`: within it, or in its folder.
    pub(super) fn is_of(&self, library: &str) -> bool {
        is_of_library(self.path.as_deref(), self.file.as_deref(), library)
    }
}

/// Kernels and labels of all processes.
#[derive(Default)]
pub(super) struct Registry {
    pub(super) kernels: Interner<(SymbolId, Option<CodeObjectKey>), KernelInfo>,
    pub(super) labels: Interner<Named, Named>,
    roles: PerId<KernelId, Option<Roles>>,
}

/// Roles of a kernel, by its name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Roles {
    /// Its number in [`Registry::kernels`].
    pub(super) number: usize,
    /// True for a family of GEMM kernels.
    is_gemm: bool,
    pub(super) is_dequantise: bool,
    pub(super) is_torch: bool,
    /// True for kernels of programs with language models: ggml's, attention, rotary embedding.
    pub(super) is_of_language_model: bool,
    pub(super) is_optimiser: bool,
    pub(super) is_backward: bool,
}

/// A kernel as defined in the process being read.
#[derive(Clone, Copy)]
pub(super) struct DefinedKernel<'a> {
    pub(super) roles: Roles,
    pub(super) product: Option<&'a MatMul>,
}

impl Registry {
    /// Adds a kernel definition, and derives its roles.
    pub(super) fn define(&mut self, session: &Session, local: &LocalKernel) -> Roles {
        if let Some(roles) = *self.roles.of(local.id) {
            return roles;
        }
        let (kernel, symbol) = (session.kernel(local.id), session.symbol(local.symbol));
        let owner = kernel.code_object.map(|id| session.code_object(id)).map(|object| CodeObjectKey {
            source: object.source.clone(),
            path: object.path.clone(),
            ordinal: object.ordinal,
            target: kernel.target.clone(),
            file: object.file.clone(),
        });
        let family = symbol.family();
        let is_of =
            |of: &str, name: &str| family.is_some_and(|family| (family.of, family.name) == (of, name));
        let name = symbol.readable();
        let roles = Roles {
            is_gemm: is_product(family.map(|family| family.name)),
            is_dequantise: is_of("ggml", "dequantize"),
            is_of_language_model: family.is_some_and(is_of_language_model),
            is_torch: family.is_some_and(|family| family.of == "PyTorch"),
            is_optimiser: is_of("PyTorch", "optimiser"),
            is_backward: name.contains("backward") || name.contains("Backward"),
            number: self.kernels.number((local.symbol, owner.clone()), || KernelInfo {
                name: symbol.name.clone(),
                demangled: symbol.demangled.clone(),
                family,
                owner,
            }),
        };
        *self.roles.of(local.id) = Some(roles);
        roles
    }

    /// Returns a kernel by its id in the process being read.
    pub(super) fn of<'a>(&self, session: &'a Session, kernel: Option<u32>) -> Option<DefinedKernel<'a>> {
        let local = session.process().kernel(kernel?)?;
        let roles = *self.roles.get(local.id)?.as_ref()?;
        Some(DefinedKernel { roles, product: local.product.as_ref() })
    }
}

impl DefinedKernel<'_> {
    /// Returns true for a GEMM whose columns neither this launch nor an enclosing call has.
    pub(super) fn is_opaque(&self, launch: &Launch) -> bool {
        match self.product {
            Some(product) => product.columns(launch).is_none(),
            None => self.roles.is_gemm && launch.call.parent.is_none(),
        }
    }
}

/// Returns true when phases read the arguments of a kernel's launches.
pub(super) fn wants_arguments(kernel: &rocshim_trace::Kernel) -> bool {
    let is_dequantise = || {
        let family = rocshim_trace::family(&kernel.name, kernel.demangled.as_deref());
        family.is_some_and(|family| (family.of, family.name) == ("ggml", "dequantize"))
    };
    MatMul::of(kernel).is_some() || is_dequantise()
}

fn is_of_language_model(family: &Family) -> bool {
    family.of == "ggml" || family.name.ends_with("attention") || family.name == "rope"
}

/// Returns an argument as an address.
pub(super) fn pointer(launch: &Launch, at: usize) -> Option<u64> {
    match launch.args.get(at)? {
        Arg::Hex(value) if !value.is_zero() => Some(value.0),
        _ => None,
    }
}
