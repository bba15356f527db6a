//! Kernels, functions and labels over all processes, and what the process that is read calls them.

use super::{
    labels::Named,
    pass::{Launches, Range},
};
use crate::{code_objects::is_of_library, families::is_product, interner::Interner};
use foldhash::HashMap;
use rocshim_trace::{
    Arg, Call, CodeObject, Family, Graph, Hook, Kernel, Launch, family,
    ggml::{Columns, MatMul},
};

/// A kernel of a code object.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct KernelInfo {
    pub(super) name: String,
    pub(super) demangled: Option<String>,
    pub(super) family: Option<&'static Family>,
    pub(super) owner: Option<Owner>,
}

/// The code object that a kernel is of.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Owner {
    pub(super) source: String,
    pub(super) path: Option<String>,
    pub(super) ordinal: Option<u32>,
    pub(super) target: Option<String>,
    pub(super) file: Option<String>,
}

impl Owner {
    /// True for the code objects that `library` brings: within it, or in its folder.
    pub(super) fn is_of(&self, library: &str) -> bool {
        is_of_library(self.path.as_deref(), self.file.as_deref(), library)
    }
}

/// Names over all processes.
pub(super) struct Names {
    pub(super) kernels: Interner<(String, Option<Owner>), KernelInfo>,
    /// Library and function.
    pub(super) functions: Interner<(String, String), (String, String)>,
    pub(super) labels: Interner<Named, Named>,
}

/// A kernel as the process that is read defined it.
pub(super) struct LocalKernel {
    pub(super) number: usize,
    pub(super) hook: Option<u16>,
    pub(super) product: Option<MatMul>,
    /// It makes matrix products, and the call that launches it tells of what shape, if anything does.
    pub(super) is_blas: bool,
    pub(super) is_dequantise: bool,
    pub(super) is_torch: bool,
    /// It is one of those that programs launch which run language models: ggml's, attention, rotary embedding.
    pub(super) is_of_language_model: bool,
    pub(super) is_optimiser: bool,
    pub(super) is_backward: bool,
}

/// What one launch of a graph executes.
#[derive(Clone, Debug, Default)]
pub(super) struct Executed {
    pub(super) kernels: Vec<(usize, Launches)>,
    /// Library calls of which the capture recorded what they launched.
    pub(super) functions: HashMap<usize, u64>,
    /// The columns and the weights of its products, in their order.
    pub(super) products: Vec<(Option<Range>, Option<u64>)>,
    /// Products whose columns are not known.
    pub(super) opaque: u64,
    /// Its kernels are all known.
    pub(super) listed: bool,
    /// While it is captured: where dequantised weights lie, and where they were read.
    dequantised: HashMap<u64, u64>,
}

/// What the process that is read has defined.
#[derive(Default)]
pub(super) struct Local {
    pub(super) kernels: HashMap<u32, LocalKernel>,
    owners: HashMap<u32, Owner>,
    hooks: HashMap<u16, usize>,
    pub(super) graphs: HashMap<u32, Executed>,
    /// What captures have recorded.
    captures: HashMap<u32, Executed>,
}

impl Names {
    pub(super) fn new() -> Names {
        Names { kernels: Interner::new(), functions: Interner::new(), labels: Interner::new() }
    }
}

impl Local {
    pub(super) fn hook(&mut self, names: &mut Names, hook: &Hook) {
        let key = (hook.of.clone(), hook.name.clone());
        self.hooks.insert(hook.id, names.functions.number(key.clone(), || key));
    }

    pub(super) fn function(&self, hook: u16) -> Option<usize> {
        self.hooks.get(&hook).copied()
    }

    pub(super) fn code_object(&mut self, object: &CodeObject) {
        let (source, path, file) = (object.source.clone(), object.path.clone(), object.file.clone());
        self.owners.insert(object.id, Owner { source, path, ordinal: object.ordinal, target: None, file });
    }

    /// True for a kernel of a language model.
    pub(super) fn kernel(&mut self, names: &mut Names, kernel: &Kernel) -> bool {
        let owner = kernel.code_object.and_then(|id| self.owners.get(&id));
        let owner = owner.map(|owner| Owner { target: kernel.target.clone(), ..owner.clone() });
        let family = family(&kernel.name, kernel.demangled.as_deref());
        let (name, demangled) = (kernel.name.clone(), kernel.demangled.clone());
        let known = demangled.as_deref().unwrap_or(&name);
        let is_of =
            |of: &str, name: &str| family.is_some_and(|family| (family.of, family.name) == (of, name));
        let product = MatMul::of(kernel);
        let local = LocalKernel {
            hook: kernel.hook,
            is_blas: product.is_none() && is_product(family.map(|family| family.name)),
            product,
            is_dequantise: is_of("ggml", "dequantize"),
            is_of_language_model: family.is_some_and(is_of_language_model),
            is_torch: family.is_some_and(|family| family.of == "PyTorch"),
            is_optimiser: is_of("PyTorch", "optimiser"),
            is_backward: known.contains("backward") || known.contains("Backward"),
            number: names.kernels.number((name.clone(), owner.clone()), || KernelInfo {
                name,
                demangled,
                family,
                owner,
            }),
        };
        self.kernels.entry(kernel.id).or_insert(local).is_of_language_model
    }

    /// A launch that capture `id` records.
    pub(super) fn capture(&mut self, id: u32, launch: &Launch) {
        let Some(kernel) = launch.kernel.and_then(|id| self.kernels.get(&id)) else { return };
        let recorded = self.captures.entry(id).or_default();
        recorded.count(kernel.number);
        recorded.opaque += u64::from(kernel.is_opaque(launch));
        if let Some(product) = &kernel.product {
            recorded.products.push((columns(product, launch), pointer(launch, 0)));
        }
        if let (true, Some(from), Some(to)) = (kernel.is_dequantise, pointer(launch, 0), pointer(launch, 1)) {
            recorded.dequantised.insert(to, from);
        }
    }

    /// A library's call of which capture `id` records the launches; `product` are the columns and the weights of the
    /// matrix product that it makes, if it makes one.
    pub(super) fn capture_call(&mut self, id: u32, call: &Call, product: Option<(i64, u64)>) {
        let function = self.function(call.hook);
        let recorded = self.captures.entry(id).or_default();
        function.into_iter().for_each(|function| *recorded.functions.entry(function).or_default() += 1);
        if let Some((n, a)) = product {
            // Weights that were dequantised for this product lie where others lie for the next one.
            let weights = recorded.dequantised.remove(&a).unwrap_or(a);
            recorded.dequantised.clear();
            recorded.products.push((exactly(n), Some(weights)));
        }
    }

    /// What a graph executes: by its list, else by what its capture recorded. A list tells no arguments and no calls of
    /// libraries; the capture does, where it recorded the same kernels.
    pub(super) fn graph(&mut self, graph: &Graph) {
        let captured = graph.capture.and_then(|capture| self.captures.get(&capture));
        let mut executed = Executed { listed: graph.complete, ..Executed::default() };
        for node in &graph.kernels {
            let Some(kernel) = node.kernel.and_then(|id| self.kernels.get(&id)) else {
                executed.listed = false;
                continue;
            };
            executed.count(kernel.number);
            let launch = Launch { grid: node.grid, block: node.block, ..Launch::default() };
            executed.opaque += u64::from(kernel.is_opaque(&launch));
            if let Some(product) = &kernel.product {
                executed.products.push((columns(product, &launch), None));
            }
        }
        match captured {
            Some(captured) if !graph.complete => executed = Executed { listed: true, ..captured.clone() },
            Some(captured) if captured.has_kernels_of(&executed) => {
                executed = Executed { listed: executed.listed, ..captured.clone() };
            }
            _ => {}
        }
        self.graphs.insert(graph.id, executed);
    }
}

impl LocalKernel {
    /// True for a matrix product whose columns neither this launch nor a call around it tells.
    pub(super) fn is_opaque(&self, launch: &Launch) -> bool {
        match &self.product {
            Some(product) => product.columns(launch).is_none(),
            None => self.is_blas && launch.call.parent.is_none(),
        }
    }
}

impl Executed {
    fn count(&mut self, kernel: usize) {
        match self.kernels.iter_mut().find(|(known, _)| *known == kernel) {
            Some((_, launches)) => launches.by_graphs += 1,
            None => self.kernels.push((kernel, Launches { direct: 0, by_graphs: 1 })),
        }
    }

    fn has_kernels_of(&self, other: &Executed) -> bool {
        let sorted = |executed: &Executed| {
            let mut kernels = executed.kernels.clone();
            kernels.sort_by_key(|(kernel, _)| *kernel);
            kernels
        };
        sorted(self) == sorted(other)
    }

    /// The weights of its first product.
    pub(super) fn first_weights(&self) -> Option<u64> {
        self.products.first().and_then(|(_, weights)| *weights)
    }
}

/// This many columns.
pub(super) fn exactly(n: i64) -> Option<Range> {
    u64::try_from(n).ok().map(|n| Range { least: n, most: n })
}

/// The columns of a launch of a product, the sums over experts left aside.
pub(super) fn columns(product: &MatMul, launch: &Launch) -> Option<Range> {
    product.columns(launch).filter(|columns| !columns.of_all_experts()).map(|columns: Columns| columns.into())
}

fn is_of_language_model(family: &Family) -> bool {
    family.of == "ggml" || family.name.ends_with("attention") || family.name == "rope"
}

/// The address that an argument is.
pub(super) fn pointer(launch: &Launch, at: usize) -> Option<u64> {
    match launch.args.get(at)? {
        Arg::Hex(value) if !value.is_zero() => Some(value.0),
        _ => None,
    }
}
