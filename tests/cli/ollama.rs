//! `rocshim ollama` on a made-up root with a stand-in for systemctl: what install writes, what is
//! in its way, and that uninstall leaves the system as it was.

use rocshim_tests::{Outcome, Traced, artifacts};
use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

const UNIT: &str =
    "[Unit]\nDescription=Ollama Service\n[Service]\nExecStart=/usr/local/bin/ollama serve\nUser=ollama\n";

/// A system: a service's unit file, the library, and a systemctl that notes what it is asked.
struct System(tempfile::TempDir);

impl System {
    fn new(unit: &str) -> System {
        let system = System(tempfile::tempdir().unwrap());
        system.write("etc/systemd/system/ollama.service", unit);
        for folder in ["", "usr", "usr/local", "usr/local/lib"] {
            fs::create_dir_all(system.path(folder)).unwrap();
            fs::set_permissions(system.path(folder), fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::copy(artifacts::shim(), system.path("usr/local/lib/librocshim.so")).unwrap();
        let systemctl = "#!/bin/sh\n[ \"$1\" = show ] && echo 0 || echo \"$@\" >>\"${0%/*}/asked\"\n";
        system.write("bin/systemctl", systemctl);
        fs::set_permissions(system.path("bin/systemctl"), fs::Permissions::from_mode(0o755)).unwrap();
        system
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), text).unwrap();
    }

    /// `rocshim ollama` on it.
    fn ollama(&self, words: &[&str]) -> Outcome {
        let path = std::env::var("PATH").unwrap();
        Traced::rocshim(["ollama"])
            .args(words)
            .arg("--root")
            .arg(self.0.path())
            .env("PATH", format!("{}:{path}", self.path("bin").display()))
            .env("ROCSHIM_LIB", self.path("usr/local/lib/librocshim.so"))
            .run()
    }

    /// Every file and folder of it, with its content and mode, but for what systemctl noted.
    fn content(&self) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
        let mut content = BTreeMap::new();
        collect(self.0.path(), &mut content);
        content.remove(&self.path("bin/asked"));
        content
    }

    fn drop_in(&self) -> String {
        fs::read_to_string(self.path("etc/systemd/system/ollama.service.d/50-rocshim.conf")).unwrap()
    }

    fn asked(&self) -> String {
        fs::read_to_string(self.path("bin/asked")).unwrap_or_default()
    }
}

fn collect(folder: &Path, into: &mut BTreeMap<PathBuf, (u32, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let mode = entry.metadata().unwrap().permissions().mode();
        if entry.path().is_dir() {
            into.insert(entry.path(), (mode, Vec::new()));
            collect(&entry.path(), into);
        } else {
            into.insert(entry.path(), (mode, fs::read(entry.path()).unwrap()));
        }
    }
}

#[test]
fn install_writes_one_file_and_uninstall_leaves_the_system_as_it_was() {
    let system = System::new(UNIT);
    let before = system.content();

    let dry = system.ollama(&["install", "--dry-run"]).ok();
    assert_eq!(system.content(), before, "--dry-run changes nothing");
    assert_eq!(system.asked(), "");

    let installed = system.ollama(&["install", "--yes"]).ok();
    assert_eq!(
        (installed.stderr.as_str(), system.asked().as_str()),
        ("", "daemon-reload\ntry-restart ollama.service\n")
    );
    assert!(dry.stdout.contains(&system.drop_in()), "{}", dry.stdout);
    assert_eq!(
        system.drop_in().split_once('\n').unwrap().1,
        "[Service]\n\
         Environment=\"LD_PRELOAD=/usr/local/lib/librocshim.so\"\n\
         Environment=ROCSHIM_OUT=/var/lib/rocshim \"ROCSHIM_ONLY=ollama,llama-server\"\n\
         Environment=ROCSHIM_DISK_MIB=2000 ROCSHIM_DISK_FULL=oldest ROCSHIM_COMPRESS=zstd\n\
         StateDirectory=rocshim\n"
    );
    // Again, with another bound: the same file.
    system.ollama(&["install", "--disk-mib", "5"]).ok();
    assert!(system.drop_in().contains("ROCSHIM_DISK_MIB=5 "));

    let status = system.ollama(&["status"]).ok();
    assert!(status.stdout.contains("50-rocshim.conf"), "{}", status.stdout);
    let status: serde_json::Value =
        serde_json::from_str(&system.ollama(&["status", "--json"]).ok().stdout).unwrap();
    assert_eq!((&status["verdict"], &status["findings"][0]["subject"]), (&"warn".into(), &"service".into()));

    let gone = system.ollama(&["uninstall"]).ok();
    assert!(gone.stdout.contains("this takes effect after:\n  systemctl daemon-reload"), "{}", gone.stdout);
    assert_eq!(system.content(), before, "uninstall leaves nothing");
    system.ollama(&["uninstall"]).ok();
    assert_eq!(system.ollama(&["status"]).code, Some(1));
}

#[test]
fn uninstall_removes_the_rings_of_runners_that_were_killed() {
    let system = System::new(UNIT);
    let (out, rings) = (system.path("var/lib/rocshim"), tempfile::tempdir().unwrap());
    system.ollama(&["install"]).ok();
    fs::create_dir_all(&out).unwrap();
    // Of the second one the trace is still empty: its collector is not given the time to write.
    for launches in ["5", "500"] {
        let mut runner = std::process::Command::new(artifacts::program("steps"));
        runner.args([launches, "kill -9 $PPID"]).env("LD_PRELOAD", artifacts::shim());
        runner.env("ROCSHIM_OUT", &out).env("ROCSHIM_RINGS", rings.path()).status().unwrap();
    }
    let left = || fs::read_dir(rings.path()).unwrap().count();
    assert_eq!((left(), fs::read_dir(&out).unwrap().count()), (2, 2));
    let command = Traced::rocshim(["ollama", "uninstall", "--remove-traces", "--root"]).arg(system.0.path());
    let path = format!("{}:{}", system.path("bin").display(), std::env::var("PATH").unwrap());
    command.env("PATH", path).env("ROCSHIM_RINGS", rings.path()).run().ok();
    assert_eq!((left(), out.exists()), (0, false));
}

#[test]
fn files_of_others_are_kept() {
    let system = System::new(UNIT);
    system.write(
        "etc/systemd/system/ollama.service.d/override.conf",
        "[Service]\nEnvironment=OLLAMA_DEBUG=1 LD_PRELOAD=/usr/lib/libjemalloc.so\n",
    );
    system.write("var/lib/rocshim/ollama-1.ndjson.zst", "");
    let before = system.content();
    system.ollama(&["install"]).ok();
    let preload = "\"LD_PRELOAD=/usr/local/lib/librocshim.so:/usr/lib/libjemalloc.so\"";
    assert!(system.drop_in().contains(preload), "{}", system.drop_in());
    let kept = system.ollama(&["uninstall"]).ok();
    assert_eq!(system.content(), before);
    assert!(kept.stdout.contains("--remove-traces"), "{}", kept.stdout);
    system.ollama(&["uninstall", "--remove-traces"]).ok();
    assert!(!system.path("var/lib/rocshim").exists());

    system.write("etc/systemd/system/ollama.service.d/50-rocshim.conf", "[Service]\n");
    let before = system.content();
    for words in [["install", "--yes"], ["uninstall", "--yes"]] {
        let refused = system.ollama(&words);
        assert_eq!(refused.code, Some(1));
        assert!(refused.stderr.contains("was not made by `rocshim ollama install`"), "{}", refused.stderr);
    }
    assert_eq!(system.content(), before);
}

#[test]
fn an_obstacle_is_reported_and_nothing_is_changed() {
    let way = |service: &str, prepare: &dyn Fn(&System), said: &str| {
        let system = System::new(&format!("{UNIT}{service}"));
        prepare(&system);
        let before = system.content();
        let refused = system.ollama(&["install", "--yes"]);
        assert_eq!(refused.code, Some(1), "{said}");
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
        assert_eq!((system.content(), system.asked()), (before, String::new()));
    };
    way(
        "RootDirectory=/srv/ollama\n",
        &|_| (),
        "RootDirectory=/srv/ollama gives the service a view of the file system of its own",
    );
    way(
        "EnvironmentFile=-/etc/default/ollama\n",
        &|system| system.write("etc/default/ollama", "LD_PRELOAD=\n"),
        "EnvironmentFile=/etc/default/ollama sets `LD_PRELOAD=`, which overrides the drop-in's",
    );
    let close = |system: &System| {
        fs::set_permissions(system.path("usr/local/lib"), fs::Permissions::from_mode(0o700)).unwrap();
    };
    way("", &close, "the service's user cannot read");
    // The library is found where the root's own path would hide it.
    let home = System::new(&format!("{UNIT}ProtectHome=yes\nProtectSystem=strict\nPrivateTmp=yes\n"));
    home.ollama(&["install"]).ok();
    fs::create_dir_all(home.path("home/me")).unwrap();
    fs::copy(artifacts::shim(), home.path("home/me/librocshim.so")).unwrap();
    let shim = home.path("home/me/librocshim.so");
    let refused = home.ollama(&["install", "--shim", shim.to_str().unwrap()]);
    assert!(refused.stderr.contains("ProtectHome= hides /home/me/librocshim.so"), "{}", refused.stderr);

    let none = System::new(UNIT);
    fs::remove_file(none.path("etc/systemd/system/ollama.service")).unwrap();
    let refused = none.ollama(&["install"]);
    assert!(refused.stderr.contains("there is no ollama.service"), "{}", refused.stderr);
    assert_eq!(refused.stderr.lines().count(), 1, "{}", refused.stderr);
}

#[test]
fn a_container_gets_a_compose_file_with_the_library() {
    let advice = Traced::rocshim(["ollama", "container"]).run().ok().stdout;
    let shim = artifacts::shim().canonicalize().unwrap();
    assert!(advice.contains(&format!("- {}:/opt/rocshim/librocshim.so:ro", shim.display())), "{advice}");
    for word in ["devices: [/dev/kfd, /dev/dri]", "ROCSHIM_RINGS: /var/lib/rocshim", "docker run "] {
        assert!(advice.contains(word), "{word}: {advice}");
    }
}
