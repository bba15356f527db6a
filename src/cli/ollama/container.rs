//! Prints how to record Ollama in a container: a compose file and command lines, to be copied.

use super::unit::TRACES;
use std::path::Path;

/// Returns the text for a library at this path of the host.
pub(crate) fn container(shim: &Path) -> String {
    let shim = shim.display();
    format!(
        "\
# compose.yaml, for `docker compose up` or `podman compose up`
services:
  ollama:
    image: ollama/ollama:rocm
    devices: [/dev/kfd, /dev/dri]
    ports: [\"11434:11434\"]
    shm_size: 1g
    volumes:
      - ollama:/root/.ollama
      - {shim}:/opt/rocshim/librocshim.so:ro
      - ./traces:{TRACES}
    environment:
      LD_PRELOAD: /opt/rocshim/librocshim.so
      ROCSHIM_OUT: {TRACES}
      ROCSHIM_RINGS: {TRACES}
      ROCSHIM_ONLY: ollama,llama-server
      ROCSHIM_DISK_MIB: 2000
      ROCSHIM_DISK_FULL: oldest
      ROCSHIM_COMPRESS: zstd
volumes:
  ollama:

# The same as a command line; `podman` takes the same options, with `:Z` after the volumes under
# SELinux.
docker run --device /dev/kfd --device /dev/dri -p 11434:11434 --shm-size 1g \\
    -v ollama:/root/.ollama -v {shim}:/opt/rocshim/librocshim.so:ro -v ./traces:{TRACES} \\
    -e LD_PRELOAD=/opt/rocshim/librocshim.so -e ROCSHIM_OUT={TRACES} -e ROCSHIM_RINGS={TRACES} \\
    -e ROCSHIM_ONLY=ollama,llama-server -e ROCSHIM_DISK_MIB=2000 -e ROCSHIM_DISK_FULL=oldest \\
    -e ROCSHIM_COMPRESS=zstd ollama/ollama:rocm

# Rings are beside the traces: what a killed runner had not yet written can be read after the
# container is gone.
rocshim summary traces
"
    )
}
