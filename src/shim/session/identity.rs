//! Identity of the process, for the trace's header.

use crate::platform::objects;
use rocshim_drain::Stat;
use rocshim_ring::clock;
use rocshim_ring::definition::{ProcessIdentity, Text};

/// Prefixes of the environment variables that a trace records …
const RECORDED: [&str; 40] = [
    "AMD_",
    "CUDA_VISIBLE_DEVICES",
    "GGML_",
    "GPU_",
    "GROUP_RANK",
    "HIPBLASLT_",
    "HIPBLAS_",
    "HIP_",
    "HSA_",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LLAMA_",
    "LOCAL_RANK",
    "LOCAL_WORLD_SIZE",
    "LSB_JOBID",
    "MIOPEN_",
    "NCCL_",
    "OLLAMA_",
    "OMPI_COMM_WORLD_",
    "PBS_JOBID",
    "PMIX_RANK",
    "PMI_",
    "PYTORCH_",
    "RANK",
    "ROCBLAS_",
    "ROCM_",
    "ROCR_",
    "ROCSHIM_",
    "SLURMD_NODENAME",
    "SLURM_ARRAY_",
    "SLURM_JOB_ID",
    "SLURM_LOCALID",
    "SLURM_NODEID",
    "SLURM_NTASKS",
    "SLURM_PROCID",
    "SLURM_STEP_ID",
    "TENSILE_",
    "TORCHELASTIC_",
    "TRITON_",
    "WORLD_SIZE",
];
/// … unless the name contains one of these. (`ROCSHIM_RUN` is internal to `rocshim run`.)
const SECRET: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "ROCSHIM_RUN"];

/// Returns the identity of this process.
pub(crate) fn identity() -> ProcessIdentity<'static> {
    let text = |text: String| Text::from(text);
    let read = |path: &str| std::fs::read(path).unwrap_or_default();
    let words = read("/proc/self/cmdline");
    let argv = words.split(|b| *b == 0).map(|word| text(String::from_utf8_lossy(word).into_owned()));
    let mut argv: Vec<_> = argv.collect();
    argv.pop();
    let stat = Stat::of("self");
    let is_recorded = |name: &str| {
        RECORDED.iter().any(|prefix| name.starts_with(prefix))
            && !SECRET.iter().any(|word| name.contains(word))
    };
    let env = std::env::vars_os().filter_map(|(name, value)| {
        let (name, value) = (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned());
        is_recorded(&name).then(|| (text(name), text(value)))
    });
    ProcessIdentity {
        rocshim: env!("CARGO_PKG_VERSION").into(),
        pid: std::process::id(),
        ppid: stat.map_or(0, |stat| stat.ppid),
        start_ticks: stat.map_or(0, |stat| stat.start_ticks),
        exe: text(objects::executable()),
        argv,
        env: env.collect(),
        host: text(String::from_utf8_lossy(&read("/proc/sys/kernel/hostname")).trim().to_owned()),
        tsc: clock::is_tsc(),
        ..ProcessIdentity::default()
    }
}
