//! Kernels, functions and labels over all processes, and what the process that is read calls them.

use super::{
    labels::Named,
    pass::{Launches, Range},
};
use crate::interner::Interner;
use foldhash::HashMap;
use rocshim_trace::{
    Arg, CodeObject, Family, Graph, Hook, Kernel, Launch, family,
    ggml::{Columns, Product},
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
    pub(super) product: Option<Product>,
    pub(super) is_dequantise: bool,
    pub(super) is_torch: bool,
    pub(super) is_optimiser: bool,
    pub(super) is_backward: bool,
}

/// What one launch of a graph executes.
#[derive(Clone, Debug, Default)]
pub(super) struct Executed {
    pub(super) kernels: Vec<(usize, Launches)>,
    /// The columns of its products, in their order.
    pub(super) products: Vec<Option<Range>>,
    /// Its kernels are all known.
    pub(super) listed: bool,
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

    pub(super) fn kernel(&mut self, names: &mut Names, kernel: &Kernel) {
        let owner = kernel.code_object.and_then(|id| self.owners.get(&id));
        let owner = owner.map(|owner| Owner { target: kernel.target.clone(), ..owner.clone() });
        let family = family(&kernel.name, kernel.demangled.as_deref());
        let (name, demangled) = (kernel.name.clone(), kernel.demangled.clone());
        let known = demangled.as_deref().unwrap_or(&name);
        let is_of =
            |of: &str, name: &str| family.is_some_and(|family| (family.of, family.name) == (of, name));
        let local = LocalKernel {
            hook: kernel.hook,
            product: Product::of(kernel),
            is_dequantise: is_of("ggml", "dequantize"),
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
        self.kernels.entry(kernel.id).or_insert(local);
    }

    /// A launch that capture `id` records.
    pub(super) fn capture(&mut self, id: u32, launch: &Launch) {
        let Some(kernel) = launch.kernel.and_then(|id| self.kernels.get(&id)) else { return };
        let recorded = self.captures.entry(id).or_default();
        recorded.count(kernel.number);
        if let Some(product) = &kernel.product {
            recorded.products.push(columns(product, launch));
        }
    }

    /// What a graph executes: by its list, else by what its capture recorded. A list tells no arguments; where the capture
    /// recorded as many products, their columns are the better known ones.
    pub(super) fn graph(&mut self, graph: &Graph) {
        let captured = graph.capture.and_then(|capture| self.captures.get(&capture));
        let mut executed = Executed { listed: graph.complete, ..Executed::default() };
        for node in &graph.kernels {
            let Some(kernel) = node.kernel.and_then(|id| self.kernels.get(&id)) else {
                executed.listed = false;
                continue;
            };
            executed.count(kernel.number);
            if let Some(product) = &kernel.product {
                let launch = Launch { grid: node.grid, block: node.block, ..Launch::default() };
                executed.products.push(columns(product, &launch));
            }
        }
        match captured {
            Some(captured) if !graph.complete => executed = Executed { listed: true, ..captured.clone() },
            Some(captured) if captured.products.len() == executed.products.len() => {
                executed.products.clone_from(&captured.products);
            }
            _ => {}
        }
        self.graphs.insert(graph.id, executed);
    }
}

impl Executed {
    fn count(&mut self, kernel: usize) {
        match self.kernels.iter_mut().find(|(known, _)| *known == kernel) {
            Some((_, launches)) => launches.by_graphs += 1,
            None => self.kernels.push((kernel, Launches { direct: 0, by_graphs: 1 })),
        }
    }
}

/// The columns of a launch of a product, the sums over experts left aside.
pub(super) fn columns(product: &Product, launch: &Launch) -> Option<Range> {
    product.columns(launch).filter(|columns| !columns.of_all_experts()).map(|columns: Columns| columns.into())
}

/// The address that an argument is.
pub(super) fn pointer(launch: &Launch, at: usize) -> Option<u64> {
    match launch.args.get(at)? {
        Arg::Hex(value) if !value.is_zero() => Some(value.0),
        _ => None,
    }
}
