use super::*;
use std::fs;
use xxhash_rust::xxh3::xxh3_128;

const FALLBACK: &str = "TensileLibrary_Type_SS_Contraction_l_Ailk_Bljk_Cijk_Dijk_fallback_gfx900.hsaco";
const OWN: &str = "TensileLibrary_Type_HH_HPA_Contraction_l_Ailk_Bljk_Cijk_Dijk_gfx900.co";

/// A ROCm installation with these files.
struct Rocm(tempfile::TempDir);

impl Rocm {
    fn with(files: &[(&str, &[u8])]) -> Rocm {
        let rocm = Rocm(tempfile::tempdir().unwrap());
        for (path, bytes) in files {
            let path = rocm.path(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        rocm
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    /// The result with this library loaded, as a path in the installation.
    fn find(&self, library: &str, image: &[u8]) -> Result<(String, Option<bool>), String> {
        let mut files = LibraryFiles::default();
        files.add_library(self.path(library).to_str().unwrap());
        self.found(&mut files, image)
    }

    fn found(&self, files: &mut LibraryFiles, image: &[u8]) -> Result<(String, Option<bool>), String> {
        let (path, fallback) = files.find(image.len() as u64, xxh3_128(image))?;
        Ok((path.strip_prefix(self.0.path()).unwrap().to_str().unwrap().into(), fallback))
    }
}

#[test]
fn an_image_is_the_file_of_equal_size_and_contents() {
    let folder = "lib/rocblas/library";
    let (own, fallback) = (format!("{folder}/{OWN}"), format!("{folder}/{FALLBACK}"));
    let rocm = Rocm::with(&[
        (&own, b"own code"),
        (&fallback, b"fallback"),
        (&format!("{folder}/a.dat"), b"a secret"),
    ]);
    let find = |image: &[u8]| rocm.find("lib/librocblas.so.4", image);
    assert_eq!(find(b"own code"), Ok((own, Some(false))));
    assert_eq!(find(b"fallback"), Ok((fallback, Some(true))));
    assert_eq!(find(b"Own code").unwrap_err(), "files of the library folders have its size, and other bytes");
    assert_eq!(find(b"a secret").unwrap_err(), "files of the library folders have its size, and other bytes");
    assert_eq!(find(b"own").unwrap_err(), "no file of the library folders has its size");
}

#[test]
fn every_folder_that_a_library_searches_is_searched() {
    for (library, folder) in [
        ("rocblas/lib/librocblas.so.0.1", "Tensile/library"),
        ("lib/librocblas.so", "lib/library"),
        ("lib/asan/librocblas.so.4", "lib/rocblas/library"),
        ("lib/librocblas.so.5", "Tensile/library"),
        ("lib/librocblas.so.5", "lib/rocblas/library/gfx900"),
        ("lib/librocblas.so.5", "lib/rocblas/library/gfx90a-xnack+"),
        ("lib/librocblas.so.4", "lib/rocblas/4.4.1/library"),
        ("lib/libhipblaslt.so.0", "Tensile/library"),
        ("lib/libhipblaslt.so.1", "lib/hipblaslt/library/gfx942"),
    ] {
        let file = format!("{folder}/{OWN}");
        let rocm = Rocm::with(&[(&file, b"code")]);
        fs::create_dir_all(rocm.path(library).parent().unwrap()).unwrap();
        let (found, _) =
            rocm.find(library, b"code").unwrap_or_else(|why| panic!("{library} {folder}: {why}"));
        let real = |path: &str| fs::canonicalize(rocm.path(path)).unwrap();
        assert_eq!(real(&found), real(&file), "{library}");
    }
}

#[test]
fn the_environment_of_the_traced_process_overrides_the_folders() {
    let (usual, asked) = (format!("lib/rocblas/library/{OWN}"), format!("mine/gfx900/{FALLBACK}"));
    let rocm = Rocm::with(&[(&usual, b"usual"), (&asked, b"asked")]);
    let mut files = LibraryFiles::default();
    let folder = rocm.path("mine");
    files.set_environment([("ROCBLAS_TENSILE_LIBPATH", folder.to_str().unwrap())].into_iter());
    files.add_library(rocm.path("lib/librocblas.so.4").to_str().unwrap());
    assert_eq!(rocm.found(&mut files, b"asked"), Ok((asked, Some(true))));
    assert!(rocm.found(&mut files, b"usual").is_err());

    let mut files = LibraryFiles::default();
    files.set_environment([("ROCBLAS_TENSILE_LIBPATH", "mine")].into_iter());
    files.add_library(rocm.path("lib/librocblas.so.4").to_str().unwrap());
    let why = rocm.found(&mut files, b"asked").unwrap_err();
    assert_eq!(why, "ROCBLAS_TENSILE_LIBPATH is a relative path, mine");
}

#[test]
fn a_missing_file_is_explained() {
    let rocm = Rocm::with(&[]);
    assert_eq!(
        rocm.find("lib/libamdhip64.so.6", b"x").unwrap_err(),
        "neither rocBLAS nor hipBLASLt is loaded"
    );
    let why = rocm.find("lib/librocblas.so.4", b"x").unwrap_err();
    assert!(
        why.starts_with("no library folder holds files here, ") && why.contains("Tensile/library"),
        "{why}"
    );
}

#[test]
fn a_folder_is_listed_once_and_a_file_read_once() {
    let file = format!("lib/rocblas/library/{OWN}");
    let rocm = Rocm::with(&[(&file, b"code")]);
    let mut files = LibraryFiles::default();
    files.add_library(rocm.path("lib/librocblas.so.4").to_str().unwrap());
    assert_eq!(rocm.found(&mut files, b"code"), Ok((file.clone(), Some(false))));
    fs::write(rocm.path(&file), "more").unwrap();
    assert_eq!(rocm.found(&mut files, b"code"), Ok((file, Some(false))));
}

#[test]
fn equal_files_are_fallback_only_if_both_names_say_so() {
    let folder = "lib/rocblas/library";
    let (own, both) = (format!("{folder}/{OWN}"), format!("{folder}/{FALLBACK}"));
    let rocm = Rocm::with(&[(&own, b"code"), (&both, b"code")]);
    assert_eq!(rocm.find("lib/librocblas.so.4", b"code").unwrap().1, None);
    let rocm = Rocm::with(&[(&both, b"code"), (&format!("{folder}/gfx900/{FALLBACK}"), b"code")]);
    assert_eq!(rocm.find("lib/librocblas.so.4", b"code").unwrap().1, Some(true));
}

#[test]
fn the_file_name_says_whether_it_is_fallback() {
    for (name, said) in [
        (FALLBACK, Some(true)),
        (OWN, Some(false)),
        ("TensileLibrary_Type_I8I_HPA_Contraction_l_Alik_Bjlk_Cijk_Dijk_CU60_gfx90a.co", Some(false)),
        ("TensileLibrary_HH_SH_A_Bias_SAV_Type_HH_Contraction_l_Alik_Bljk_Cijk_Dijk_gfx942.co", Some(false)),
        ("Kernels.so-000-gfx900.hsaco", None),
        ("TensileLibrary_gfx900.co", None),
        ("TensileLibrary_Type_SS_Contraction_l_Ailk_Bljk_Cijk_Dijk_fallback.dat", None),
        ("my_fallback_gfx900.hsaco", None),
        ("extop_gfx942.co", None),
    ] {
        assert_eq!(fallback(Path::new("/opt/rocm/lib/rocblas/library").join(name).as_path()), said, "{name}");
    }
}
