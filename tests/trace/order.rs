//! The rules that span lines: order, references, counters that must agree.

use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The violations in a trace; none if it keeps the rule.
pub(crate) type Complaints = Vec<String>;

/// Times and durations are each rounded down to a nanosecond: a sum may be off by one.
const ROUNDING: u64 = 1;

/// Types that are events.
const EVENTS: [&str; 13] = [
    "launch",
    "gemm",
    "matmul",
    "blas",
    "conv",
    "span",
    "mark",
    "load",
    "copy",
    "sync",
    "graph_call",
    "graph_launch",
    "gpu",
];

/// An event, with what the rules need; `line` counts from 1.
struct Event<'a> {
    line: usize,
    tid: u64,
    id: u64,
    parent: Option<u64>,
    t: u64,
    end: u64,
    in_flight: bool,
    value: &'a Value,
}

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("no number {key} in {value}"))
}

fn kind(value: &Value) -> &str {
    value["type"].as_str().unwrap_or_default()
}

fn of_kind<'a>(lines: &'a [Value], wanted: &'a str) -> impl Iterator<Item = (usize, &'a Value)> {
    lines
        .iter()
        .enumerate()
        .filter(move |(_, value)| kind(value) == wanted)
        .map(|(at, value)| (at + 1, value))
}

fn events(lines: &[Value]) -> impl Iterator<Item = Event<'_>> {
    lines.iter().enumerate().filter_map(|(at, value)| {
        let in_flight = kind(value) == "in_flight";
        let value = if in_flight { &value["event"] } else { value };
        let (t, parent) = (value["t"].as_u64()?, value["parent"].as_u64());
        if !EVENTS.contains(&kind(value)) {
            return None;
        }
        let (tid, id) = (value["tid"].as_u64()?, value["id"].as_u64()?);
        let end = t + number(value, "dur");
        Some(Event { line: at + 1, tid, id, parent, t, end, in_flight, value })
    })
}

fn by_thread<'a>(lines: &'a [Value]) -> BTreeMap<u64, Vec<Event<'a>>> {
    let mut threads: BTreeMap<u64, Vec<Event>> = BTreeMap::new();
    events(lines).for_each(|event| threads.entry(event.tid).or_default().push(event));
    threads
}

/// What a thread lost, by reason.
fn lost(lines: &[Value], tid: u64) -> HashMap<&str, u64> {
    let mut reasons = HashMap::new();
    for (_, gap) in of_kind(lines, "gap").filter(|(_, gap)| number(gap, "tid") == tid) {
        *reasons.entry(gap["reason"].as_str().unwrap_or_default()).or_default() += number(gap, "lost");
    }
    reasons
}

pub(crate) fn the_header_is_the_first_line_and_no_other(lines: &[Value]) -> Complaints {
    let at: Vec<usize> = of_kind(lines, "header").map(|(line, _)| line).collect();
    if at == [1] { Vec::new() } else { vec![format!("headers in lines {at:?}")] }
}

pub(crate) fn the_footer_is_the_last_line_and_no_other(lines: &[Value]) -> Complaints {
    let at: Vec<usize> = of_kind(lines, "footer").map(|(line, _)| line).collect();
    if at == [lines.len()] { Vec::new() } else { vec![format!("footers in lines {at:?} of {}", lines.len())] }
}

pub(crate) fn what_has_an_id_is_defined_before_its_first_use(lines: &[Value]) -> Complaints {
    let mut defined: HashSet<(&str, u64)> = HashSet::new();
    let mut violations = Vec::new();
    for (at, value) in lines.iter().enumerate() {
        let event = if kind(value) == "in_flight" { &value["event"] } else { value };
        // A report's kernel is one that the runtime named; its hook is in the table, and called.
        let is_report = kind(event) == "gpu";
        let of_report = |what| match (is_report, what) {
            (true, "kernel") => "gpu_kernel",
            (true, "hook") => "hook_table",
            (_, what) => what,
        };
        let named = ["hook", "library", "kernel", "code_object", "capture", "graph", "stream"]
            .map(|what| (of_report(what), event[what].as_u64().filter(|id| (what, *id) != ("stream", 0))));
        let called = value["calls"].as_array().into_iter().flatten().map(|pair| ("hook", pair[0].as_u64()));
        let held =
            value["kernels"].as_array().into_iter().flatten().map(|k| ("kernel", k["kernel"].as_u64()));
        for (what, id) in named.into_iter().chain(called).chain(held) {
            if let Some(id) = id.filter(|id| !defined.contains(&(what, *id))) {
                violations.push(format!("line {}: {what} {id} was not defined: {value}", at + 1));
            }
        }
        let what = kind(value);
        if let (
            "hook" | "library" | "kernel" | "gpu_kernel" | "code_object" | "capture" | "graph" | "stream",
            Some(id),
        ) = (what, value["id"].as_u64())
        {
            defined.insert((what, id));
        }
        let table = value["names"].as_array().filter(|_| what == "hook_table");
        let first = value["first"].as_u64().unwrap_or(0);
        defined.extend((first..).take(table.map_or(0, Vec::len)).map(|id| ("hook_table", id)));
    }
    violations
}

pub(crate) fn what_is_defined_again_is_the_same(lines: &[Value]) -> Complaints {
    let mut known: HashMap<(&str, u64), &Value> = HashMap::new();
    let mut violations = Vec::new();
    for (at, value) in lines.iter().enumerate() {
        let same = match kind(value) {
            "library" | "kernel" | "gpu_kernel" | "code_object" | "capture" | "graph" | "stream" => {
                |a: &Value, b: &Value| a == b
            }
            "hook" => |a: &Value, b: &Value| ["name", "of", "point"].iter().all(|key| a[key] == b[key]),
            _ => continue,
        };
        let before = *known.entry((kind(value), number(value, "id"))).or_insert(value);
        if !same(before, value) {
            violations.push(format!("line {}: {value} was {before}", at + 1));
        }
    }
    violations
}

pub(crate) fn a_hook_is_bound_before_it_sees_a_call_and_stays_bound(lines: &[Value]) -> Complaints {
    let mut states: HashMap<u64, &str> = HashMap::new();
    let of_kernels: HashMap<u64, &Value> =
        of_kind(lines, "kernel").map(|(_, kernel)| (number(kernel, "id"), &kernel["hook"])).collect();
    let mut violations = Vec::new();
    for (at, value) in lines.iter().enumerate() {
        let event = if kind(value) == "in_flight" { &value["event"] } else { value };
        if kind(value) == "hook" {
            let state = value["state"].as_str().unwrap_or_default();
            if states.insert(number(value, "id"), state) == Some("bound") && state != "bound" {
                violations.push(format!("line {}: was bound before: {value}", at + 1));
            }
        } else if kind(value) == "gpu" {
            // The runtime calls the shim: no function that would be bound.
        } else if let Some(id) = hook_of(event, &of_kernels).filter(|id| states.get(id) != Some(&"bound")) {
            violations.push(format!("line {}: hook {id} is not bound: {value}", at + 1));
        }
    }
    violations
}

/// The hook of an event; for a launch possibly that of its kernel.
fn hook_of(event: &Value, of_kernels: &HashMap<u64, &Value>) -> Option<u64> {
    let of_kernel =
        || of_kernels.get(&event["kernel"].as_u64().filter(|_| kind(event) == "launch")?)?.as_u64();
    event["hook"].as_u64().or_else(of_kernel)
}

pub(crate) fn every_launch_has_a_hook(lines: &[Value]) -> Complaints {
    let of_kernels: HashMap<u64, &Value> =
        of_kind(lines, "kernel").map(|(_, kernel)| (number(kernel, "id"), &kernel["hook"])).collect();
    let without = |event: Event| {
        let is_without = hook_of(event.value, &of_kernels).is_none();
        is_without.then(|| format!("line {}: no hook: {}", event.line, event.value))
    };
    events(lines).filter_map(without).collect()
}

pub(crate) fn no_two_events_have_one_number(lines: &[Value]) -> Complaints {
    let mut seen = HashMap::new();
    let again = |event: Event| {
        let before = seen.insert((event.tid, event.id), event.line)?;
        Some(format!("lines {before} and {}: both {} of thread {}", event.line, event.id, event.tid))
    };
    events(lines).filter_map(again).collect()
}

pub(crate) fn numbers_are_in_order_of_entry_without_holes_but_for_losses(lines: &[Value]) -> Complaints {
    let mut violations = Vec::new();
    for (tid, mut events) in by_thread(lines) {
        events.sort_by_key(|event| event.id);
        for pair in events.windows(2).filter(|pair| pair[0].t > pair[1].t) {
            violations
                .push(format!("lines {} and {}: entered in the other order", pair[0].line, pair[1].line));
        }
        let (highest, lost) =
            (events.last().map_or(0, |event| event.id), lost(lines, tid).values().sum::<u64>());
        let missing = highest - events.len() as u64;
        if missing > lost {
            violations.push(format!("thread {tid}: {missing} numbers are missing, {lost} events were lost"));
        }
    }
    violations
}

pub(crate) fn lines_of_a_thread_are_in_order_of_return(lines: &[Value]) -> Complaints {
    let mut latest: HashMap<(u64, bool), (usize, u64)> = HashMap::new();
    let mut violations = Vec::new();
    let gap = |(line, gap): (usize, &Value)| {
        let t = number(gap, "t");
        (line, number(gap, "tid"), t, t + number(gap, "dur"), true)
    };
    // The events of a deleted segment are counted in a later one.
    let in_place = |(_, gap): &(usize, &Value)| gap["reason"] != "part_removed";
    let gaps = of_kind(lines, "gap").filter(in_place).map(gap).filter(|(_, tid, ..)| *tid != 0);
    let returned =
        events(lines).filter(|event| !event.in_flight).map(|e| (e.line, e.tid, e.end, e.end, false));
    let mut all: Vec<_> = gaps.chain(returned).collect();
    all.sort_unstable();
    for (line, tid, from, to, is_gap) in all {
        // Losses for several reasons happen at the same time.
        let (before, end) =
            latest.get(&(tid, false)).max(latest.get(&(tid, !is_gap))).copied().unwrap_or_default();
        latest.insert((tid, is_gap), (line, to));
        if end > from + ROUNDING {
            violations.push(format!("line {line}: {from}, but line {before} of that thread is of {end}"));
        }
    }
    violations
}

pub(crate) fn a_parent_is_there_and_comes_after_its_children(lines: &[Value]) -> Complaints {
    let mut violations = Vec::new();
    for (tid, events) in by_thread(lines) {
        let by_id: HashMap<u64, &Event> = events.iter().map(|event| (event.id, event)).collect();
        let mut missing = HashSet::new();
        for child in &events {
            let Some(parent) = child.parent else { continue };
            match by_id.get(&parent) {
                Some(parent) if parent.in_flight || parent.line > child.line => {}
                Some(parent) => {
                    violations.push(format!("line {}: its parent is line {}", child.line, parent.line))
                }
                None => drop(missing.insert((parent, child.line))),
            }
        }
        // A parent may be lost; but a call that was nested too deep has no children.
        let lost: u64 =
            lost(lines, tid).iter().filter(|(why, _)| **why != "nested_too_deep").map(|(_, n)| n).sum();
        let parents: HashSet<u64> = missing.iter().map(|(parent, _)| *parent).collect();
        if parents.len() as u64 > lost {
            violations.push(format!(
                "thread {tid} lost {lost} events, but these have no parent (parent, line): {missing:?}"
            ));
        }
    }
    violations
}

pub(crate) fn a_parent_encloses_its_children(lines: &[Value]) -> Complaints {
    let mut violations = Vec::new();
    for events in by_thread(lines).values() {
        let by_id: HashMap<u64, &Event> = events.iter().map(|event| (event.id, event)).collect();
        for child in events {
            let Some(parent) = child.parent.and_then(|id| by_id.get(&id)) else { continue };
            let ends_inside = parent.in_flight || child.end <= parent.end + ROUNDING;
            if child.id <= parent.id || child.t < parent.t || !ends_inside {
                violations
                    .push(format!("lines {} and {}: not one inside the other", child.line, parent.line));
            }
        }
    }
    violations
}

pub(crate) fn every_thread_has_one_account_and_it_is_right(lines: &[Value]) -> Complaints {
    let mut violations = Vec::new();
    let written = |tid| events(lines).filter(|event| event.tid == tid && !event.in_flight).count() as u64;
    let mut accounts = HashSet::new();
    for (line, account) in of_kind(lines, "thread") {
        let tid = number(account, "tid");
        let (said, there) = (number(account, "written"), written(tid));
        let (said_lost, counted) = (number(account, "lost"), lost(lines, tid).values().sum::<u64>());
        if number(account, "produced") != said + said_lost || said != there || said_lost != counted {
            violations
                .push(format!("line {line}: {there} events and {counted} lost are there, but {account}"));
        }
        if !accounts.insert(tid) {
            violations.push(format!("line {line}: a second account of thread {tid}"));
        }
    }
    let of_gaps = of_kind(lines, "gap").map(|(_, gap)| number(gap, "tid")).filter(|tid| *tid != 0);
    let without: HashSet<u64> =
        events(lines).map(|event| event.tid).chain(of_gaps).filter(|tid| !accounts.contains(tid)).collect();
    violations.extend(without.iter().map(|tid| format!("thread {tid} has no account")));
    violations
}

pub(crate) fn nothing_is_later_than_the_footer(lines: &[Value]) -> Complaints {
    let Some((_, footer)) = of_kind(lines, "footer").last() else { return vec!["no footer".into()] };
    let gaps = of_kind(lines, "gap").map(|(line, gap)| (line, number(gap, "t") + number(gap, "dur")));
    let all = events(lines).map(|event| (event.line, event.end)).chain(gaps);
    let late = all.filter(|(_, end)| *end > number(footer, "t") + ROUNDING);
    late.map(|(line, end)| format!("line {line}: {end}, but {footer}")).collect()
}

pub(crate) fn a_grid_is_its_work_items_divided_by_the_block(lines: &[Value]) -> Complaints {
    // Trailing ones are omitted.
    let triple = |value: &Value, key: &str| -> [u64; 3] {
        std::array::from_fn(|i| value[key].get(i).map_or(1, |number| number.as_u64().expect("a number")))
    };
    let wrong = |event: Event| {
        event.value.get("items")?;
        let [items, grid, block] = ["items", "grid", "block"].map(|key| triple(event.value, key));
        let blocks: [u64; 3] =
            std::array::from_fn(|i| if block[i] == 0 { 0 } else { items[i].div_ceil(block[i]) });
        (grid != blocks).then(|| format!("line {}: {blocks:?} expected: {}", event.line, event.value))
    };
    events(lines).filter_map(wrong).collect()
}

pub(crate) fn an_unload_names_the_code_object_that_its_module_was_loaded_from(lines: &[Value]) -> Complaints {
    let mut loaded: HashMap<&Value, &Value> = HashMap::new();
    let mut violations = Vec::new();
    let mut moves: Vec<Event> = events(lines).filter(|e| kind(e.value) == "load" && !e.in_flight).collect();
    moves.sort_by_key(|event| event.end);
    for event in moves.iter().filter(|event| event.value.get("status").is_none()) {
        let (module, object) = (&event.value["module"], &event.value["code_object"]);
        if event.value["action"] == "load" {
            loaded.insert(module, object);
        } else if let Some(was) = loaded.remove(module).filter(|was| *was != object) {
            violations.push(format!("line {}: code object {was} expected: {}", event.line, event.value));
        }
    }
    violations
}
