//! Electors against a server in this process.

use kubist::api::coordination::v1::Lease;
use kubist::client::{Api, Client, Patch};
use kubist::leader_election::{LeaderElectionConfig, LeaderElector, LeaseLock, Term};
use kubist::{Server, ServerConfig};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const SECOND: Duration = Duration::from_secs(1);

fn elector(client: &Client, identity: &str) -> LeaderElector {
    let lock = LeaseLock::new(client.clone(), "default", "operator");
    let config = LeaderElectionConfig {
        identity: identity.into(),
        lease_duration: 3 * SECOND,
        renew_deadline: 2 * SECOND,
        retry_period: SECOND / 4,
        labels: [("app".into(), "operator".into())].into(),
        ..LeaderElectionConfig::new(lock)
    };
    LeaderElector::new(config).unwrap()
}

/// Reads the lease until it is as expected.
async fn lease_with(leases: &Api<Lease>, test: impl Fn(&Lease) -> bool) -> Lease {
    let reads = async {
        loop {
            let lease = leases.get_opt("operator").await.unwrap();
            if let Some(lease) = lease.filter(|it| test(it)) {
                return lease;
            }
            tokio::time::sleep(SECOND / 20).await;
        }
    };
    tokio::time::timeout(10 * SECOND, reads).await.unwrap()
}

#[tokio::test]
async fn a_lease_is_acquired_renewed_repaired_given_up_and_taken_over() {
    let config = ServerConfig {
        controllers: [].into(),
        ..ServerConfig::default()
    };
    let server = Server::start(config).await.unwrap();
    let leases: Api<Lease> = Api::namespaced(server.client(), "default");
    let (mut one, mut two) = (
        elector(&server.client(), "one"),
        elector(&server.client(), "two"),
    );
    let (first, second) = (one.watch(), two.watch());
    let stop = CancellationToken::new();
    let lead = one.run(stop.clone(), async |term| {
        let begun = lease_with(&leases, |_| true).await;
        assert_eq!(begun.spec.holder_identity.as_deref(), Some("one"));
        assert_eq!(begun.spec.lease_duration_seconds, Some(3));
        assert_eq!(begun.spec.lease_transitions, Some(0));
        assert_eq!(begun.metadata.labels["app"], "operator");
        assert_eq!(begun.metadata.resource_version, *term.resource_version());

        // Somebody else writes the lease, and then deletes it.
        let note = serde_json::json!({"metadata": {"annotations": {"seen": "true"}}});
        let noted = leases.patch("operator", &Patch::Merge(note)).await.unwrap();
        let renewed = |it: &Lease| it.spec.renew_time > noted.spec.renew_time;
        let after = lease_with(&leases, renewed).await;
        assert_eq!(after.spec.acquire_time, begun.spec.acquire_time);
        assert_eq!(after.metadata.annotations["seen"], "true");
        leases.delete("operator").await.unwrap();
        let again = lease_with(&leases, |_| true).await;
        assert_eq!(again.spec.acquire_time, begun.spec.acquire_time);
        assert_ne!(again.metadata.uid, begun.metadata.uid);
        assert!(term.is_held());
    });
    assert_eq!(lead.await, Ok(Some(())));
    assert!(first.stats().slow_paths >= 2, "{:?}", first.stats());
    assert_eq!(first.leader(), None);
    let free = leases.get("operator").await.unwrap();
    assert_eq!(free.spec.holder_identity.as_deref(), Some(""));
    assert_eq!(free.spec.lease_duration_seconds, Some(1));

    let led = two.run(stop, async |term| term.transitions()).await;
    assert_eq!(led, Ok(Some(1)));
    assert_eq!(second.stats().terms, 1);
    server.shutdown().await;
}

#[tokio::test]
async fn of_three_candidates_one_leads_at_a_time() {
    let server = Server::start(ServerConfig::default()).await.unwrap();
    let leading = std::sync::Mutex::new(Vec::new());
    let candidates = ["one", "two", "three"].map(|name| {
        let (mut elector, leading) = (elector(&server.client(), name), &leading);
        async move {
            let work = async |term: Term| {
                let terms = || leading.lock().unwrap();
                assert!(terms().iter().all(|it: &Term| !it.is_held()));
                terms().push(term);
                tokio::time::sleep(SECOND / 4).await;
            };
            elector.run(CancellationToken::new(), work).await.unwrap();
        }
    });
    let [one, two, three] = candidates;
    let all = async { tokio::join!(one, two, three) };
    tokio::time::timeout(20 * SECOND, all).await.unwrap();
    let terms = leading.lock().unwrap().clone();
    let numbers: Vec<i32> = terms.iter().map(Term::transitions).collect();
    assert_eq!(numbers, [0, 1, 2], "each has led, and the numbers rise");
    server.shutdown().await;
}
