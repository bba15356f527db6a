//! What `--help` prints below the options.

pub(super) const NOTES: &str = "\
A trace is a file that `run` or the preloaded library wrote, a folder of them, or `-` for \
standard input; compressed files (.zst, .gz) are read too.

Begin with:  rocshim run -o traces -- CMD
             rocshim summary traces";

pub(super) const RUN_NOTES: &str = "\
Traces go to the folder -o, else $ROCSHIM_OUT, else ./rocshim-out. Each process fills in %h (host), \
%r (rank), %p (process) and others, see `rocshim variables`: -o 'traces/%h/rank%r-%p'. Without --only, $ROCSHIM_ONLY \
decides, else every program is recorded.

Input and output are the program's own; rocshim prints to standard error when the program has \
ended. The exit code is the program's; 125: rocshim itself failed, 126: the program cannot be \
run, 127: it was not found. A program that dies by a signal ends rocshim by the same signal.

Example:  rocshim run -o traces -- ollama serve";

pub(super) const SUMMARY_NOTES: &str = "\
A folder stands for all its .ndjson and .ndjson.zst files. Times are host times: how long the \
program's own call took, not how long the GPU worked. On a terminal, tables show their first \
rows and fit its width; in a file or a pipe, all rows are written.

--phase: calls that make no event (a hooked function that only sets something) are counted per \
process; for a phase they are limited.

--json prints one object: format (1), phase (if one was given), epoch (Unix nanoseconds, to \
which first_ns and last_ns are relative), totals, unseen (why there may have been more), \
processes, families, kernels, gemms, convolutions, streams, threads, gaps, modules, \
code_objects, libraries, functions, failures, losses, in_flight, notes. Times are integers in \
nanoseconds (…_ns); `evidence` is confirmed, confirmed_absent, inferred, limited or unresolved, \
and `why` gives the reason.

--csv TABLE takes one of these: `rocshim summary --csv kernels traces`. A nested value has a \
name with a dot (shape.grid), a list of numbers is one cell separated by blanks, a list of \
objects is one cell of JSON.";

pub(super) const PHASES_NOTES: &str = "\
A pass is one evaluation of a model. It ends with a copy to the host or, for a chunk of a \
prompt, where the same weights come again. Its columns (ne11) are those that most of its matrix \
multiplications have; its tokens are the columns of all its passes. A pass whose last \
multiplication has fewer columns than the others evaluates a prompt; a pass with a single column \
decodes a token. A program that trains has forward, backward and optimiser instead. roctx \
ranges, rocshim.h and --labels take precedence. All of this is inferred, by the rule that is \
printed with it.

--json prints one object: format (1), epoch, processes, phases, kinds (all phases of a kind, \
with their kernels by name), libraries, losses, notes and, with --passes, passes. Times are ns \
since the epoch (…_ns).";

pub(super) const PROXY_NOTES: &str = "\
Responses are the files that samples/prompt_ladder.py writes, or the JSON answers of Ollama or \
llama-server, streamed or not. A request is what was launched between the times at which it was \
sent and answered; without such times, requests and answers are matched in order, if there are \
as many of both.

For each request three statements are compared with the launches: how many tokens of the prompt \
were evaluated (ne11, chunk by chunk), by which kernels (up to 8 columns: MMVQ, more: MMQ), and \
how many tokens were generated. Each is confirmed, contradicted by observation, inferred, \
limited or unresolved, with the rule. The clock of the client must be that of the traced machine.

--json prints one object: format (1), epoch, requests, others (passes in no request's time), \
processes, losses, notes.

Example:  rocshim run -o traces -- llama-server -m model.gguf &
          samples/prompt_ladder.py --server llama-server --tokens 7-12,290 --out answers.ndjson
          rocshim proxy traces --responses answers.ndjson";

pub(super) const HOOKS_NOTES: &str = "\
Without TRACE: the functions that librocshim.so hooks, by library. With TRACE: those that were \
called, and those whose real function was not found; with --all those that were never called \
too. --json prints a list of all of them.";

pub(super) const VERIFY_NOTES: &str = "\
A trace is right when every line is a record, everything that a line refers to was defined \
before it, and for each thread produced = written + lost: written are the events in the file, \
each once, and lost are those that its gaps count. What a killed process left in its ring files \
counts as written. The exit code is 1 when something is wrong, and when that cannot be decided \
because the ring files of a killed process are gone. A trace that was deleted by hand while \
the ring files of its process are left is neither right nor wrong: `deleted` says so.

A process that still runs has no totals yet: what it has written so far is checked.";

pub(super) const RECOVER_NOTES: &str = "\
Without TRACE: lists the ring files that killed processes of yours have left, with the traces \
that they belong to, and changes nothing. --finish-all finishes all of these; --discard removes the \
ring files of those whose trace, or its folder, was deleted.

--json prints a list: of what was left (trace, rings, bytes, is_deleted: the trace, or its \
folder, was deleted), or of the traces named (trace, outcome: finished with `events`, whole, running, lost, \
discarded, or failed with `why`).";
