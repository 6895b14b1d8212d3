//! What the processors of a server do for a cluster: a fixed script on `kubist serve` with a data
//! directory, and on a kube-apiserver with etcd. Both sync what they acknowledge to the disk.

use super::controllers::{Controllers, Credentials, Programs, server_authority};
use super::load::Load;
use super::record::{self, Record};
use super::web::Web;
use super::{Options, TOKEN};
use crate::bench::machine;
use crate::bench::table::Table;
use crate::interop::server::Server;
use crate::upstream::{self, Keeping, Store, Upstream, self_signed, service_account_key};
use kubist_test_support::process::Outcome;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long the nodes do nothing but tell that they live.
const IDLE: Duration = Duration::from_secs(60);
/// How many times as much CPU the other servers may be expected to take.
const GOAL: f64 = 4.0;

/// What was measured of a phase: its seconds, and the CPU seconds of each process.
struct Phase {
    name: String,
    wall: f64,
    cpu: Vec<f64>,
}

/// A server under test. Dropping it stops it.
struct Subject {
    url: String,
    credentials: Credentials,
    /// The ids of its processes.
    processes: Vec<u32>,
    _held: Held,
}

#[expect(dead_code, reason = "the server is only held until it is dropped")]
enum Held {
    Kubist(Server),
    Upstream(Upstream),
}

/// Runs the script on both, prints the table, and fails if the goal is not reached.
pub(super) fn run(
    options: &Options,
    programs: &Programs,
    kubist: &Path,
    (apiserver, etcd): (&Path, &Path),
    scratch: &Path,
) -> Outcome {
    let record = Record::start();
    let measure = |name: &str, start: &dyn Fn(&Path) -> Outcome<Subject>| {
        let folder = scratch.join(name);
        std::fs::create_dir_all(&folder)?;
        record.say(name);
        script(options, programs, &start(&folder)?, &record, &folder)
    };
    let ours = measure("kubist", &|folder| start_kubist(kubist, folder))?;
    let theirs = measure("kube-apiserver", &|folder| {
        let programs = upstream::Programs {
            kube_apiserver: apiserver,
            store: Store::Etcd(etcd),
            advertise_address: None,
        };
        start_upstream(programs, folder)
    })?;
    let (table, ratio) = table(&ours, &theirs);
    record::print(&table);
    record.end()?;
    if ratio < GOAL {
        return Err(format!("the ratio is {ratio:.2}, and the goal is {GOAL}").into());
    }
    Ok(())
}

fn start_kubist(binary: &Path, folder: &Path) -> Outcome<Subject> {
    let key = service_account_key(folder)?;
    let authority = authority(folder)?;
    let token = folder.join("token");
    std::fs::write(&token, TOKEN)?;
    let text = |path: &Path| path.display().to_string();
    let data = folder.join("data");
    let [key_file, data_dir, token, clients] =
        [&key, &data, &token, &authority.0].map(|it| text(it));
    let arguments = [
        "--controllers",
        "none",
        "--enable-admission-plugins",
        "ServiceAccount",
        "--service-account-key-file",
        &key_file,
        "--service-account-signing-key-file",
        &key_file,
        "--data-dir",
        &data_dir,
        "--token-file",
        &token,
        "--client-ca-file",
        &clients,
    ];
    let kubeconfig = folder.join("kubeconfig");
    let server = Server::start(binary, &kubeconfig, &arguments)?;
    Ok(Subject {
        url: server.url.clone(),
        credentials: Credentials {
            root: server_authority(&kubeconfig, folder)?,
            kubeconfig,
            key,
            authority,
        },
        processes: vec![server.id()],
        _held: Held::Kubist(server),
    })
}

fn start_upstream(programs: upstream::Programs<'_>, folder: &Path) -> Outcome<Subject> {
    let authority = authority(folder)?;
    let clients = authority.0.display().to_string();
    let mut arguments = vec!["--authorization-mode", "RBAC"];
    arguments.extend(["--client-ca-file", clients.as_str()]);
    let server = Upstream::start_keeping(programs, Keeping::Synced, folder, TOKEN, &arguments)?;
    let kubeconfig = folder.join("kubeconfig");
    server.write_kubeconfig(TOKEN, &kubeconfig)?;
    Ok(Subject {
        url: server.url.clone(),
        credentials: Credentials {
            kubeconfig,
            key: folder.join("key.pem"),
            root: server.authority().to_path_buf(),
            authority,
        },
        processes: server.ids().to_vec(),
        _held: Held::Upstream(server),
    })
}

fn authority(folder: &Path) -> Outcome<(PathBuf, PathBuf)> {
    let authority = (folder.join("clients.pem"), folder.join("clients-key.pem"));
    self_signed((&authority.0, &authority.1), "/CN=clients", &[])?;
    Ok(authority)
}

/// Does the same with any server, and measures it.
fn script(
    options: &Options,
    programs: &Programs,
    subject: &Subject,
    record: &Record,
    folder: &Path,
) -> Outcome<Vec<Phase>> {
    let web = Web::new(&subject.url, TOKEN);
    let load = Load::new(&web, record, folder, options.nodes, options.pods());
    let mut phases = Vec::new();
    let mut phase = |name: String, action: &dyn Fn() -> Outcome| -> Outcome {
        let before: Vec<f64> = cpu(subject);
        let begin = Instant::now();
        action()?;
        let wall = begin.elapsed().as_secs_f64();
        let mut cpu = cpu(subject);
        for (now, before) in cpu.iter_mut().zip(before) {
            *now -= before;
        }
        record.say(&format!("{name}: {cpu:.2?} s of CPU in {wall:.0} s"));
        phases.push(Phase { name, wall, cpu });
        Ok(())
    };
    let _controllers = Controllers::start(programs, &subject.credentials, folder)?;
    phase(format!("{} nodes become ready", options.nodes), &|| {
        load.nodes()
    })?;
    phase(format!("{} Pods become ready", options.pods()), &|| {
        load.deployments()
    })?;
    phase(format!("{} rolling updates", options.rollouts), &|| {
        for turn in 0..options.rollouts {
            load.roll(turn);
        }
        Ok(())
    })?;
    let seconds = IDLE.as_secs();
    phase(format!("{seconds} s of heartbeats"), &|| {
        std::thread::sleep(IDLE);
        Ok(())
    })?;
    Ok(phases)
}

fn cpu(subject: &Subject) -> Vec<f64> {
    let seconds = |id: &u32| machine::usage(*id).0;
    subject.processes.iter().map(seconds).collect()
}

/// Returns the table, and how many times as much CPU theirs took in all phases together.
fn table(ours: &[Phase], theirs: &[Phase]) -> (Table, f64) {
    let mut table = Table::new([
        "",
        "kubist, s of CPU",
        "kube-apiserver",
        "etcd",
        "together",
        "times as much",
        "took, s",
        "took there, s",
    ]);
    let mut row = |name: &str, ours: &[f64], theirs: &[f64], walls: [f64; 2]| {
        let sums = [ours.iter().sum::<f64>(), theirs.iter().sum()];
        let ratio = sums[1] / sums[0];
        let seconds = [&sums[..1], theirs, &sums[1..]].concat();
        let cells = seconds.iter().map(|it| format!("{it:.2}"));
        let walls = walls.map(|it| format!("{it:.0}"));
        let last = std::iter::once(format!("{ratio:.1}")).chain(walls);
        table.row(std::iter::once(name.to_owned()).chain(cells).chain(last));
        ratio
    };
    for (ours, theirs) in ours.iter().zip(theirs) {
        row(&ours.name, &ours.cpu, &theirs.cpu, [ours.wall, theirs.wall]);
    }
    let wall = |phases: &[Phase]| phases.iter().map(|it| it.wall).sum();
    let walls = [wall(ours), wall(theirs)];
    let ratio = row("all", &sum(ours), &sum(theirs), walls);
    (table, ratio)
}

/// The CPU seconds of each process in all phases.
fn sum(phases: &[Phase]) -> Vec<f64> {
    let mut sums = vec![0.0; phases.first().map_or(0, |it| it.cpu.len())];
    for phase in phases {
        for (sum, seconds) in sums.iter_mut().zip(&phase.cpu) {
            *sum += seconds;
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_is_of_all_phases_together() {
        let phase = |cpu: &[f64]| Phase {
            name: "phase".to_owned(),
            wall: 2.0,
            cpu: cpu.to_vec(),
        };
        let (ours, theirs) = (
            [phase(&[1.0]), phase(&[3.0])],
            [phase(&[5.0, 4.0]), phase(&[6.0, 1.0])],
        );
        let (table, ratio) = table(&ours, &theirs);
        assert!((ratio - 4.0).abs() < 1e-9, "{ratio}");
        let last = table
            .to_string()
            .lines()
            .last()
            .unwrap_or_default()
            .to_owned();
        let cells: Vec<&str> = last.split('|').map(str::trim).collect();
        assert_eq!(
            cells[1..9],
            ["all", "4.00", "11.00", "5.00", "16.00", "4.0", "4", "4"]
        );
    }
}
