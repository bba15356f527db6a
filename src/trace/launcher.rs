//! How launchers of parallel jobs number a job's processes: torchrun, Open MPI, PMIx, MPICH, Slurm.

/// The variables of a process's rank, each with that of the number of ranks. The first that holds a
/// number counts.
pub const RANKS: [(&str, &str); 5] = [
    ("RANK", "WORLD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMIX_RANK", "PMI_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
];

/// The variables of a process's rank among those of its machine.
pub const LOCAL_RANKS: [&str; 3] = ["LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"];

/// The variables of the number of a process's machine in the job.
pub const NODES: [&str; 2] = ["SLURM_NODEID", "GROUP_RANK"];

/// The variables of a job's id.
pub const JOBS: [&str; 4] = ["SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "TORCHELASTIC_RUN_ID"];

/// A process's rank, with the variable that holds it and that of the number of ranks. `value` is
/// the value of an environment variable.
pub fn rank<T: AsRef<str>>(value: impl Fn(&str) -> Option<T>) -> Option<(u32, &'static str, &'static str)> {
    RANKS.into_iter().find_map(|(rank, size)| Some((value(rank)?.as_ref().parse().ok()?, rank, size)))
}
