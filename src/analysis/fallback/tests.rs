use super::super::nesting::Launches;
use super::*;
use crate::evidence::made::{CONFIRMED, CONFIRMED_ABSENT};

const SOURCE: &str = "Cijk_Ailk_Bljk_SB_MT64x64x8_SE_GSU1_ISA000_K1_KLS";
const ASSEMBLY: &str = "Cijk_Ailk_Bljk_HHS_BH_MT64x64x8_SE_GSU1_ISA900_K1_KLA";
const SILENT: &str = "Cijk_Ailk_Bljk_HHS_BH_MT64x64x8_SE_K1";
const BUILT_IN: &str = "rocblas_gemm_kernel";

/// Code objects, one of each situation: a fallback file, a target's own, one without a known file,
/// rocBLAS itself.
fn objects() -> [CodeObject; 4] {
    let memory = CodeObject { source: "memory".into(), ..CodeObject::default() };
    let file = |id, name: &str, fallback| CodeObject {
        id,
        file: Some(format!("/rocblas/library/{name}")),
        fallback: Some(fallback),
        ..memory.clone()
    };
    let unmatched = Some("no file of the library folders has its size".into());
    let path = Some("/lib/librocblas.so.4".into());
    [
        file(1, "TensileLibrary_fallback_gfx900.hsaco", true),
        file(2, "TensileLibrary_gfx900.co", false),
        CodeObject { unmatched, ..memory.clone() },
        CodeObject { source: "fat_binary".into(), path, ..CodeObject::default() },
    ]
}

/// The verdict on launches inside GEMM calls, of kernels out of these objects (`None`: not known).
fn judged(launches: &[(&str, Option<usize>, u64)], gap: Option<&str>) -> Fallback {
    let (mut session, mut fallbacks) = (Session::default(), Fallbacks::default());
    let objects = objects().map(|object| session.intern_code_object("0", &object));
    let mut inside = Vec::new();
    for (name, object, dispatched) in launches {
        let symbol = session.intern_symbol(name.to_string(), None);
        fallbacks.add(symbol, object.map(|object| objects[object]), *dispatched);
        inside.push((symbol, Launches { launches: *dispatched, ..Launches::default() }));
    }
    fallbacks.add_gemm(&Contents { kernels: inside, ..Contents::default() });
    fallbacks.judge(&session, gap)
}

#[test]
fn a_kernel_out_of_a_fallback_file_is_confirmed_with_the_file() {
    let found = judged(&[(SOURCE, Some(0), 5), (ASSEMBLY, Some(1), 7), ("Cijk_S", Some(2), 9)], Some("lost"));
    let row = FallbackRow {
        kernel: SOURCE.into(),
        launches: 5,
        file: Some("/rocblas/library/TensileLibrary_fallback_gfx900.hsaco".into()),
        evidence: CONFIRMED,
    };
    assert_eq!(found.kernels, [row]);
    assert_eq!((found.evidence, found.products), (CONFIRMED, 12), "a helper is no product");
    assert_eq!(found.why, "5 of 12 product launches");
}

#[test]
fn none_is_confirmed_absent_only_where_every_product_came_out_of_another_file_and_nothing_was_unseen() {
    let all = [(ASSEMBLY, Some(1), 7), (BUILT_IN, Some(3), 2)];
    let found = judged(&all, None);
    assert_eq!((found.evidence, found.products), (CONFIRMED_ABSENT, 9));
    assert_eq!(found.why, "all 9 product launches came out of other files");
    assert_eq!(judged(&all, Some("3 events were lost")).evidence, Evidence::Limited);
    assert_eq!(judged(&[], None).evidence, CONFIRMED_ABSENT);
    assert_eq!(judged(&[], Some("3 events were lost")).why, "3 events were lost");
}

#[test]
fn where_the_file_is_not_known_the_name_may_tell() {
    let found = judged(&[(SOURCE, Some(2), 5), (ASSEMBLY, Some(1), 1)], None);
    assert_eq!((found.evidence, found.kernels[0].evidence), (Evidence::Inferred, Evidence::Inferred));
    assert_eq!(found.kernels[0].file, None);
    let found = judged(&[(ASSEMBLY, Some(2), 5), (ASSEMBLY, Some(1), 1)], None);
    assert_eq!((found.evidence, found.kernels.len()), (Evidence::Inferred, 0));
    assert!(found.why.starts_with("5 of 6 launches are placed by their kernels' names: "), "{}", found.why);
}

#[test]
fn what_neither_file_nor_name_tells_stays_unresolved() {
    for (name, object) in [(SILENT, Some(2)), (SILENT, None), (BUILT_IN, Some(2)), ("Custom_Cijk_x", Some(2))]
    {
        let found = judged(&[(name, object, 4), (ASSEMBLY, Some(1), 1)], None);
        assert_eq!((found.evidence, found.products), (Evidence::Unresolved, 5), "{name}: {}", found.why);
    }
    let found = judged(&[(SILENT, Some(2), 4), (SILENT, None, 1), (SOURCE, Some(0), 2)], None);
    assert_eq!(found.evidence, CONFIRMED);
    assert_eq!(
        found.why,
        "2 of 7 product launches; of 5 launches the library is not known: its code object was never seen being \
         loaded, no file of the library folders has its size"
    );
}

#[test]
fn launches_that_failed_were_not_dispatched() {
    let found = judged(&[(SOURCE, Some(0), 0)], None);
    assert_eq!((found.evidence, found.products), (CONFIRMED_ABSENT, 0));
}

#[test]
fn a_kernel_outside_of_gemm_calls_that_is_not_tensiles_does_not_count() {
    let (mut session, mut fallbacks) = (Session::default(), Fallbacks::default());
    fallbacks.add(session.intern_symbol("triton_kernel".into(), None), None, 3);
    let found = fallbacks.judge(&session, None);
    assert_eq!((found.evidence, found.products), (CONFIRMED_ABSENT, 0));
}

#[test]
fn the_rules_show_their_answers() {
    let none = || Facts { fallback: 0, by_name: 0, unknown: 0, limit: None };
    let some = Facts { fallback: 1, ..none() };
    crate::evidence::rules::check(&SOME, &some, &[none()], &[]);
    let unmet = [some, Facts { limit: Some("lost".into()), ..none() }];
    let unknown = [Facts { by_name: 1, ..none() }, Facts { unknown: 1, ..none() }];
    crate::evidence::rules::check(&NONE, &none(), &unmet, &unknown);
}
