//! Builds the chain of each decision: the common part, and each library's own.

use super::{
    WhyBuilder, backend,
    callers::BinaryFile,
    catalogs::{CatalogFolder, LibraryText, OnDisk, Wanted, WantedProblem},
    environment::variable,
    ggml, hipblaslt, miopen,
    rows::{Change, Decision, Link, SetVariable, Subject, Why},
    seen::{Asked, CallEnd, ConvKey, Gemm, Kernel, Key, Process, Seen},
    tensile,
};
use crate::evidence::observations::Observation;
use crate::{Evidence, units::counted};
use rocshim_catalog::Product;
use rocshim_trace::{CodeObject, Word, file_name};
use std::collections::{BTreeMap, BTreeSet};

impl WhyBuilder {
    /// The catalogs that would explain the GEMMs of rocBLAS, one for each process that has some.
    pub fn wanted(&self) -> Vec<Wanted> {
        let mut products: BTreeMap<usize, BTreeSet<&Product>> = BTreeMap::new();
        for (key, _) in self.decisions.all() {
            if let Asked::Gemm(gemm) = &key.asked {
                products.entry(key.process).or_default().extend(&gemm.product);
            }
        }
        let wanted = products.into_iter().filter_map(|(number, products)| {
            let process = &self.processes[number];
            let folder = |object: &CodeObject| Some(object.file.as_deref()?.rsplit_once('/')?.0.to_owned());
            let folders: BTreeSet<String> = process.objects.iter().filter_map(folder).collect();
            // From two folders at once no library reads.
            let path = folders.first().filter(|_| folders.len() == 1 && !products.is_empty())?.clone();
            Some(Wanted {
                process: number,
                path,
                target: process.target()?.to_owned(),
                host: process.host.clone(),
                epoch: process.epoch,
                objects: process.objects.clone(),
                products: products.into_iter().cloned().collect(),
            })
        });
        wanted.collect()
    }

    /// The files whose functions would name callers, and the addresses in each.
    pub fn binaries(&self) -> BTreeMap<BinaryFile, BTreeSet<u64>> {
        self.chains.wanted()
    }

    /// The texts that are looked for in libraries.
    pub fn texts(&self) -> BTreeSet<LibraryText> {
        self.processes.iter().filter_map(backend::wanted).collect()
    }

    /// The convolutions that MIOpen's find database is asked about.
    pub fn problems(&self) -> BTreeSet<WantedProblem> {
        let conv = |(key, _): &(Key, Seen)| match &key.asked {
            Asked::Conv(conv) => self.problem(key.process, conv),
            _ => None,
        };
        self.decisions.all().iter().filter_map(conv).collect()
    }

    fn problem(&self, number: usize, conv: &ConvKey) -> Option<WantedProblem> {
        let process = &self.processes[number];
        let folder = |name: &str| process.environment.get(name).cloned();
        Some(WantedProblem {
            process: number,
            host: process.host.clone(),
            // The database's names have no features.
            target: process.target()?.split(':').next()?.to_owned(),
            key: conv.key.clone()?,
            user: folder("MIOPEN_USER_DB_PATH"),
            installed: folder("MIOPEN_SYSTEM_DB_PATH"),
        })
    }

    /// All decisions with their chains.
    pub fn finish(self, on_disk: &OnDisk) -> Why {
        let mut order: Vec<&(Key, Seen)> =
            self.decisions.all().iter().filter(|(_, seen)| seen.calls > 0).collect();
        order.sort_by_key(|(key, seen)| (subject(key), std::cmp::Reverse(seen.calls)));
        let decisions =
            order.into_iter().enumerate().map(|(at, (key, seen))| self.decision(at + 1, key, seen, on_disk));
        let decisions = decisions.collect();
        let limits = self.processes.iter().filter_map(|process| {
            let limits = process.limits()?;
            Some(format!(
                "limited: process {}: {limits}; a decision may be missing or have fewer calls",
                process.pid
            ))
        });
        let notes = limits.chain(self.notes.iter().cloned()).collect();
        let environment = environment(&self.processes);
        let first_launches = self.chains.first_launches(&on_disk.functions);
        Why { format: 1, decisions, first_launches, environment, notes }
    }

    fn decision(&self, id: usize, key: &Key, seen: &Seen, on_disk: &OnDisk) -> Decision {
        let catalog = on_disk.catalogs.iter().find(|catalog| catalog.process == key.process);
        let process = &self.processes[key.process];
        let (mut links, mut changes) = (Vec::new(), Vec::new());
        let mut launches: Vec<(usize, (u64, u64))> = seen.launches.iter().map(|(k, n)| (*k, *n)).collect();
        launches.sort_by_key(|(kernel, launches)| (std::cmp::Reverse(*launches), *kernel));
        let kernels: Vec<&Kernel> = launches.iter().map(|(kernel, _)| &self.kernels[*kernel]).collect();
        let title = match &key.asked {
            Asked::Gemm(gemm) => {
                links.push(asked_gemm(gemm, seen, process));
                links.extend(asked_by(seen));
                links.extend(gemm.workspace.map(|_| backend::caller(seen, process)));
                links.push(chosen(&kernels, &launches, key.end));
                match gemm.workspace {
                    Some(_) => hipblaslt::explain(gemm, seen, process, &mut links, &mut changes),
                    None => {
                        rocblas(gemm, (seen, process), key, &kernels, catalog, &mut links, &mut changes);
                        if seen.handed_on == 0
                            && !kernels.is_empty()
                            && gemm.library.starts_with("librocblas")
                        {
                            links.extend(backend::kept(process, on_disk));
                        }
                    }
                }
                format!("{} {}", gemm.problem.in_short(), gemm.function)
            }
            Asked::Conv(conv) => {
                links.push(asked_conv(conv, seen));
                links.extend(asked_by(seen));
                links.push(chosen(&kernels, &launches, key.end));
                let wanted = self.problem(key.process, conv);
                let found = wanted.and_then(|wanted| on_disk.problems.get(&wanted));
                miopen::explain(conv, seen, (process, found), &mut links, &mut changes);
                let [x, w, _] = conv.tensors.each_ref().map(|t| t.as_deref().unwrap_or("?"));
                format!("{} convolution of {x} with {w}, {}", conv.direction, conv.function)
            }
            Asked::Ggml { family, element, band } => {
                let element = element.as_deref().map(|element| format!(" {element}")).unwrap_or_default();
                links.push(asked_ggml(family, &element, seen));
                links.push(chosen(&kernels, &launches, key.end));
                ggml::explain(family, seen, &kernels, process, &mut links, &mut changes);
                format!("ggml {family}{element}{}", band.in_words())
            }
        };
        if seen.answers_differ {
            limit_to_last(&mut links);
        }
        // What was asked before may be among what is missing.
        if matches!(subject(key), Subject::Matmul | Subject::Convolution) && process.limits().is_some() {
            limit(&mut links);
        }
        let overridden = process.environment.get("HSA_OVERRIDE_GFX_VERSION");
        links.extend(overridden.map(|value| {
            let text =
                format!("HSA_OVERRIDE_GFX_VERSION={value}: the GPU reported this target, whatever it is");
            Link::new("decided", Evidence::Inferred, text)
        }));
        let kernels = launches.iter().map(|(number, (launches, _))| {
            let kernel = &self.kernels[*number];
            (kernel.name.clone(), kernel.demangled.clone(), *launches)
        });
        let (kernels, calls, pid) = (kernels.collect(), seen.calls, process.pid);
        let first_call = self.first_calls.get(&(key.process, key.asked.clone()));
        let first_call = first_call.map(|number| self.chains.first_call(*number, &on_disk.functions));
        Decision { id, subject: subject(key), pid, title, calls, kernels, links, changes, first_call }
    }
}

/// Says that what was returned for the problem is not the same for all calls of the decision.
fn limit_to_last(links: &mut Vec<Link>) {
    limit(links);
    let text = "the answers for this problem differed between the calls: the last one is described";
    links.push(Link::new("possible", Evidence::Limited, text));
}

/// Makes what is confirmed of the decision limited.
fn limit(links: &mut [Link]) {
    let decided = links.iter_mut().filter(|link| link.step == "decided");
    decided.filter(|link| link.evidence.is_confirmed()).for_each(|link| link.evidence = Evidence::Limited);
}

fn subject(key: &Key) -> Subject {
    match &key.asked {
        Asked::Gemm(gemm) if gemm.workspace.is_some() => Subject::Matmul,
        Asked::Gemm(_) => Subject::Gemm,
        Asked::Conv(_) => Subject::Convolution,
        Asked::Ggml { .. } => Subject::Ggml,
    }
}

/// The chain of a GEMM of rocBLAS or hipBLAS.
fn rocblas(
    gemm: &Gemm,
    (seen, process): (&Seen, &Process),
    key: &Key,
    kernels: &[&Kernel],
    catalog: Option<&CatalogFolder>,
    links: &mut Vec<Link>,
    changes: &mut Vec<Change>,
) {
    if seen.handed_on == seen.calls {
        links.extend(backend::handed_on(&gemm.function, seen, process));
        return;
    }
    if let Some(index) = gemm.problem.solution.filter(|index| *index > 0) {
        let text = format!("the program asked for the solution with index {index}");
        links.push(Link::new("decided", Observation::Argument.evidence(), text));
        changes.push(Change {
            what: "algo standard instead of solution_index".into(),
            effect: "the library chooses".into(),
        });
        return;
    }
    let products = |kernel: &&&Kernel| kernel.tensile.as_ref().is_some_and(|tensile| tensile.is_product());
    let of_tensile: Vec<&Kernel> = kernels.iter().filter(products).copied().collect();
    if of_tensile.is_empty() && !kernels.is_empty() {
        let text = "rocBLAS took kernels of its own, not Tensile's; by which rule is not in the trace";
        links.push(Link::new("decided", Evidence::Unresolved, text));
        return;
    }
    match &gemm.product {
        Some(product) => {
            let gemm = tensile::Gemm { process, product, kernels: of_tensile, end: key.end, catalog };
            tensile::explain(&gemm, links, changes);
        }
        None => links.push(Link::new(
            "decided",
            Evidence::Unresolved,
            "this form, or these types, are not read from the catalog",
        )),
    }
}

fn asked_gemm(gemm: &Gemm, seen: &Seen, process: &Process) -> Link {
    let problem = &gemm.problem;
    let word = |word: &Option<Word>| word.clone().unwrap_or_else(|| "?".into());
    let number = |value: &Option<i64>| value.map_or("?".into(), |value| value.to_string());
    let types = problem.types.each_ref().map(word).join(" ");
    let mut parts = vec![
        format!("{}{}, {}", gemm.function, of_library(gemm, process), problem.form),
        format!("op(A) {} op(B) {}", word(&problem.trans_a), word(&problem.trans_b)),
        format!(
            "m {} n {} k {} batch {}",
            number(&problem.m),
            number(&problem.n),
            number(&problem.k),
            number(&problem.batch)
        ),
        format!("A B C D {types} computed in {}", word(&problem.compute)),
        format!("leading dimensions {}", gemm.leading.each_ref().map(number).join(" ")),
    ];
    parts.extend(
        problem.epilogue.as_ref().filter(|e| *e != "default").map(|epilogue| format!("then {epilogue}")),
    );
    parts.extend(gemm.workspace.map(|bytes| format!("workspace {bytes} bytes")));
    if seen.alignment.iter().all(|bytes| *bytes > 0) {
        let aligned =
            seen.alignment.map(|bytes| if bytes == 256 { "256+".into() } else { bytes.to_string() });
        parts.push(format!("pointers aligned to {} bytes", aligned.join(" ")));
    }
    parts.extend(gemm.settings.iter().map(|(name, value)| format!("{name} {value}")));
    parts.extend(seen.streams());
    Link::new("asked", Observation::Argument.evidence(), parts.join("; "))
}

/// The file of the library that was called, where the trace has it.
fn of_library(gemm: &Gemm, process: &Process) -> String {
    let Some(library) = process.library(&gemm.library) else { return String::new() };
    let build = library.build_id.as_deref().and_then(|id| id.get(..8)).map(|id| format!(", build {id}"));
    format!(" of {}{}", file_name(&library.path), build.unwrap_or_default())
}

fn asked_conv(conv: &ConvKey, seen: &Seen) -> Link {
    let [x, w, y] = conv.tensors.each_ref().map(|tensor| tensor.as_deref().unwrap_or("?"));
    let mut parts = vec![
        format!("{}, {}", conv.function, conv.direction),
        format!("input {x}, filter {w}, output {y}"),
        format!(
            "pads {:?} strides {:?} dilations {:?} groups {}",
            conv.pads, conv.strides, conv.dilations, conv.groups
        ),
    ];
    parts.extend(seen.streams());
    Link::new("asked", Observation::Argument.evidence(), parts.join("; "))
}

fn asked_ggml(family: &str, element: &str, seen: &Seen) -> Link {
    let launches = counted(seen.calls, "launch");
    let range = |(least, most): &(u64, u64)| match least == most {
        true => least.to_string(),
        false => format!("{least} to {most}"),
    };
    let columns: Vec<String> = seen.columns.keys().take(8).map(range).collect();
    let more = seen.columns.len().saturating_sub(8);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let columns = match columns.is_empty() {
        true => String::new(),
        false => format!("; columns (ne11) {}{more}", columns.join(", ")),
    };
    let experts = if seen.of_experts > 0 { ", of all experts together for some" } else { "" };
    let text = format!("{launches} of {family}{element}{columns}{experts}");
    // Columns are read by the known layouts of ggml's kernels.
    Link::new("asked", Evidence::Inferred, text).from("names and arguments of ggml's kernels")
}

fn asked_by(seen: &Seen) -> Option<Link> {
    let by =
        seen.asked_by.iter().map(|(function, calls)| format!("{function} ({calls} of {} calls)", seen.calls));
    let by = by.collect::<Vec<_>>().join(", ");
    (!by.is_empty()).then(|| Link::new("asked by", Observation::Call.evidence(), by))
}

fn chosen(kernels: &[&Kernel], launches: &[(usize, (u64, u64))], end: CallEnd) -> Link {
    if kernels.is_empty() {
        let failed = end.failure().map(|failure| format!("; {failure}")).unwrap_or_default();
        return Link::new(
            "chosen",
            Evidence::Unresolved,
            format!("no kernel was seen inside the call{failed}"),
        );
    }
    let each = kernels.iter().zip(launches).take(4).map(|(kernel, (_, launches))| {
        let name = kernel.in_short();
        let origin = tensile::origin(kernel).map(|origin| format!(" of {origin}")).unwrap_or_default();
        match launches {
            (0, failed) => format!("{failed} failed x {name}{origin}"),
            (ran, 0) => format!("{ran} x {name}{origin}"),
            (ran, failed) => format!("{ran} and {failed} failed x {name}{origin}"),
        }
    });
    let text = each.collect::<Vec<_>>().join("; ");
    let more = kernels.len().saturating_sub(4);
    let more = if more > 0 { format!("; {more} more kernels") } else { String::new() };
    Link::new("chosen", Observation::Launch.evidence(), text + &more)
}

/// The variables of the table that processes had set.
fn environment(processes: &[Process]) -> Vec<SetVariable> {
    let mut set: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, value) in processes.iter().flat_map(|process| &process.environment) {
        set.entry(name).or_default().insert(value);
    }
    let known = set.into_iter().filter_map(|(name, values)| {
        let variable = *variable(name)?;
        let values = values.into_iter().map(|value| format!("{name}={value}")).collect();
        Some(SetVariable { variable, values })
    });
    known.collect()
}
