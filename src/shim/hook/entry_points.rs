//! Ways in for the interception points: which function of the shim leads to a given real address.
//!
//! ```text
//!   dlsym(handle, "hipLaunchKernel") ─► the real address ─► offer ─► our function that leads there
//! ```

use crate::lifecycle::{caught, guarded};
use crate::platform::fork;
use crate::platform::objects::{self, Object};
use crate::platform::signals::quietly;
use crate::session::process::Process;
use crate::symbols::binding;
use crate::table::row::{Hook, InterceptionPoint, Table, WAYS};
use parking_lot::Mutex;
use rocshim_ring::clock;
use rocshim_ring::definition::Definition;
use std::ffi::c_void;
use std::sync::OnceLock;

/// Whoever gives out a way holds this. (Locked by way of `forks`, as the other two: a child goes on to use them.)
static GIVING: Mutex<()> = Mutex::new(());
/// Objects that pass the hooks by: path, and whether in a namespace of its own.
static PASSING: Mutex<Vec<(String, bool)>> = Mutex::new(Vec::new());

/// True for an address in this library.
pub(crate) fn is_own(address: *const c_void) -> bool {
    static OWN: OnceLock<Option<Object>> = OnceLock::new();
    let own = OWN.get().unwrap_or_else(|| {
        let _held = fork::hold_off();
        OWN.get_or_init(|| objects::holder(is_own as *const c_void))
    });
    own.as_ref().is_some_and(|own| own.holds(address))
}

/// What the program is to be given instead of `address`, the real function of `hook`: our function that leads there, or
/// `address` itself where nothing is recorded or no way is left.
pub(crate) fn offer(hook: &'static Hook, address: *mut c_void, point: InterceptionPoint) -> *mut c_void {
    let offered = || {
        if is_own(address) {
            return None;
        }
        let path = objects::holder(address)?.path;
        let way = claim(hook, address, point, &path)?;
        Some(hook.ways[way].own())
    };
    quietly(|| caught(offered)).flatten().unwrap_or(address)
}

/// The number of a way of `hook` to `address`, which `path` holds; `None` when there is none left.
pub(crate) fn claim(
    hook: &Hook,
    address: *mut c_void,
    point: InterceptionPoint,
    path: &str,
) -> Option<usize> {
    let giving = fork::lock(&GIVING);
    let leads = |way: &usize| hook.ways[*way].real() == address;
    let numbers = || 1..WAYS;
    let number = numbers().find(leads).or_else(|| {
        let is_free = |way: &usize| hook.ways[*way].real().is_null();
        let number = numbers().find(is_free).or_else(|| numbers().find(|way| is_stale(hook, *way)))?;
        hook.ways[number].close();
        hook.ways[number].lead_to(address);
        Some(number)
    })?;
    let is_news = hook.ways[number].open(point);
    drop(giving);
    if is_news {
        guarded(|process| tell(process, hook, number, Some(path)));
    }
    Some(number)
}

/// The library behind a way is gone.
fn is_stale(hook: &Hook, way: usize) -> bool {
    objects::holder(hook.ways[way].real()).is_none()
}

/// Tells where way number `way` of `hook` leads; `None`: nowhere.
pub(crate) fn tell(process: &Process, hook: &Hook, way: usize, path: Option<&str>) {
    let (id, points) = (hook.id_of(way), hook.ways[way].points());
    process.define(clock::now(), Definition::Bound { hook: id, points, path: path.map(Into::into) });
}

/// The object `path` is being opened so that it passes the hooks by.
pub(crate) fn pass_by(path: &str, namespace: bool) {
    fork::lock(&PASSING).push((path.to_owned(), namespace));
    guarded(|process| tell_passing(process, path, namespace));
}

fn tell_passing(process: &Process, path: &str, namespace: bool) {
    process.define(clock::now(), Definition::Bypass { path: path.into(), namespace });
}

/// Tells of what happened before the process began to record: ways that were given out, objects that pass them by.
pub(crate) fn tell_early(process: &Process) {
    fork::lock(&PASSING).iter().for_each(|(path, namespace)| tell_passing(process, path, *namespace));
    for hook in &process.table {
        for way in (1..WAYS).filter(|way| hook.ways[*way].points() != 0) {
            let path = objects::holder(hook.ways[way].real()).map(|object| object.path);
            tell(process, hook, way, path.as_deref());
        }
    }
}

/// Notices that libraries have come or gone: what way 0 of each row leads to may have changed, and is looked up again.
/// Called from the hooks that load code, name functions or make handles, of which every caller of a new copy needs one
/// before its first launch.
#[inline]
pub(crate) fn freshen(table: fn() -> Table) {
    let generation = objects::generation();
    if binding::is_outdated(generation) {
        quietly(|| caught(|| binding::look_again(table(), generation)));
    }
}
