//! Checks alone and together, well and not.

use super::*;
use crate::response::body::Body;

fn well() -> Findings {
    Findings {
        storage: true,
        definitions: true,
        ..Findings::default()
    }
}

fn ask(path: &str, findings: &Findings) -> Option<(u16, String)> {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let (health, check) = Health::of_path(path)?;
    let answer = health.answer(check, &Query::parse(Some(query)), findings);
    let Body::Whole(bytes) = answer.body else {
        panic!("it is short");
    };
    Some((
        answer.code.as_u16(),
        String::from_utf8_lossy(&bytes).into_owned(),
    ))
}

fn code(path: &str, findings: &Findings) -> Option<u16> {
    ask(path, findings).map(|(code, _)| code)
}

#[test]
fn checks_are_answered_alone_and_together() {
    let ok = Some((200, "ok".to_owned()));
    for path in [
        "/healthz",
        "/livez",
        "/readyz",
        "/livez/ping",
        "/readyz/poststarthook/storage-readiness",
        "/livez?exclude=nope",
    ] {
        assert_eq!(ask(path, &well()), ok, "{path}");
    }
    let lines = "[+]ping ok\n[+]log ok\n[+]etcd ok\n[+]poststarthook/crd-informer-synced ok\n";
    let verbose = format!("{lines}livez check passed\n");
    assert_eq!(ask("/livez?verbose", &well()), Some((200, verbose)));
    let warning = "warn: some health checks cannot be excluded: no matches for \"a\", \"b\"\n";
    let unknown = format!("{lines}{warning}livez check passed\n");
    let path = "/livez?verbose&exclude=b&exclude=a";
    assert_eq!(ask(path, &well()), Some((200, unknown)));
    for unknown in ["/healthz/nope", "/healthz/", "/livez/ping/"] {
        assert_eq!(code(unknown, &well()), Some(404), "{unknown}");
    }
    assert_eq!(ask("/healthznope", &well()), None);
}

#[test]
fn failed_checks_are_named_and_can_be_excluded() {
    let silent = Findings {
        storage: false,
        ..well()
    };
    assert_eq!(code("/livez", &silent), Some(500));
    assert_eq!(code("/readyz/etcd", &silent), Some(500));
    assert_eq!(code("/readyz/etcd-readiness", &silent), Some(500));
    assert_eq!(code("/livez/ping", &silent), Some(200));
    let excluded = "[+]ping ok\n[+]log ok\n[+]etcd excluded: ok\n\
                    [+]poststarthook/crd-informer-synced ok\nlivez check passed\n";
    let path = "/livez?verbose&exclude=etcd";
    assert_eq!(ask(path, &silent), Some((200, excluded.to_owned())));
    assert_eq!(code("/readyz?exclude=etcd", &silent), Some(500));
    let both = "/readyz?exclude=etcd&exclude=etcd-readiness";
    assert_eq!(code(both, &silent), Some(200));
}

#[test]
fn only_readyz_fails_for_caches_and_at_shutdown() {
    let shutdown = Findings {
        unready: vec!["pods".to_owned(), "deployments.apps".to_owned()],
        shutdown: true,
        ..well()
    };
    assert_eq!(code("/livez", &shutdown), Some(200));
    assert_eq!(code("/healthz", &shutdown), Some(200));
    let (code, text) = ask("/readyz", &shutdown).expect("it is a check");
    assert_eq!(code, 500);
    assert_eq!(
        text,
        "[+]ping ok\n[+]log ok\n[+]etcd ok\n[+]etcd-readiness ok\n\
         [-]poststarthook/storage-readiness failed: not ready: pods, deployments.apps\n\
         [+]poststarthook/crd-informer-synced ok\n\
         [-]shutdown failed: process is shutting down\nreadyz check failed\n"
    );
    let many = Findings {
        unready: (0..30).map(|number| format!("r{number}")).collect(),
        ..well()
    };
    let (_, text) = ask("/readyz", &many).expect("it is a check");
    assert!(text.contains("r19 and 10 more\n"), "{text}");
    let lost = Findings {
        definitions: false,
        ..well()
    };
    for path in ["/livez", "/readyz", "/healthz"] {
        let (code, text) = ask(path, &lost).expect("it is a check");
        assert_eq!(code, 500, "{path}");
        assert!(
            text.contains("[-]poststarthook/crd-informer-synced failed: "),
            "{text}"
        );
    }
}
