//! Compares expressions of admission policies, over random objects, requests and parameters, with
//! Kubernetes' own compiler of them, which the program of `tests/interop/cel` links.

use crate::program;
use crate::random::Random;
use crate::upstream::{class, nearest, outcome};
use kubist_cel::admission::{self, Uses};
use kubist_cel::{Activation, Budget, Environment, Value};
use serde_json::{Value as Json, json};

/// Variables of a policy.
const VARIABLES: [&str; 5] = [
    admission::OBJECT,
    admission::OLD_OBJECT,
    admission::PARAMS,
    admission::REQUEST,
    admission::NAMESPACE,
];

#[test]
fn expressions_of_policies_are_answered_as_kubernetes_answers_them() {
    let mut random = Random::new(7);
    let questions: Vec<Json> = (0..program::count() / 2)
        .map(|_| question(&mut random))
        .collect();
    let Some(answers) = program::ask(&questions) else {
        return;
    };
    let uses = Uses {
        params: true,
        authorizer: false,
    };
    let environment = admission::stored(uses);
    let (mut values, mut errors, mut compile_errors, mut differ) = (0, 0, 0, 0);
    for (question, mut theirs) in questions.iter().zip(answers) {
        assert!(theirs.get("panic").is_none(), "{question} {theirs}");
        let ours = answer(question, &environment);
        theirs["outcome"] = nearest(&ours["outcome"], &theirs);
        match class(&ours) {
            "value" => values += 1,
            "error" => errors += 1,
            _ => compile_errors += 1,
        }
        let keys = ["compileError", "type", "outcome"];
        if keys
            .iter()
            .any(|key| said(&ours, key) != said(&theirs, key))
        {
            differ += 1;
            println!(
                "{}\n  with   {}\n  ours   {ours}\n  theirs {theirs}",
                question["expression"], question["policy"]
            );
        }
    }
    println!(
        "expressions of policies, {values} values, {errors} errors, {compile_errors} that do not \
         compile: {} of {} agree",
        questions.len() - differ,
        questions.len(),
    );
    assert!(values > errors + compile_errors, "most have a value");
    assert_eq!(differ, 0, "expressions differ");
}

/// A missing part and null are the same.
fn said<'a>(answer: &'a Json, key: &str) -> Option<&'a Json> {
    answer.get(key).filter(|it| !it.is_null())
}

fn answer(question: &Json, environment: &Environment) -> Json {
    let program = match environment.compile(question["expression"].as_str().expect("text")) {
        Ok(program) => program,
        Err(error) => return json!({"compileError": error.to_string()}),
    };
    let mut activation = Activation::new();
    for name in VARIABLES {
        activation = activation.bind_result(name, Value::dynamic(&question["policy"][name]));
    }
    let evaluated = program.evaluate(&activation, Budget::default());
    json!({"type": program.output_type().to_string(), "outcome": outcome(&evaluated)})
}

fn question(random: &mut Random) -> Json {
    let depth = 1 + random.below(3);
    let expression = condition(random, depth);
    json!({"expression": expression, "policy": {
        "object": object(random),
        "oldObject": if random.below(2) == 0 { Json::Null } else { object(random) },
        "params": params(random),
        "request": request(random),
        "namespaceObject": namespace(random),
    }})
}

/// A map that has each of its members, or not.
fn some_of<const N: usize>(random: &mut Random, members: [(&str, Json); N]) -> Json {
    let kept = members.into_iter().filter(|_| random.below(5) > 0);
    Json::Object(kept.map(|(name, it)| (name.to_owned(), it)).collect())
}

fn labels(random: &mut Random) -> Json {
    let value = random.pick(&["web", "db", "", "a-b.c"]);
    some_of(
        random,
        [
            ("app", json!(value)),
            ("tier", json!("front")),
            ("example.com/owner", json!("team-a")),
        ],
    )
}

fn container(random: &mut Random) -> Json {
    let image = random.pick(&[
        "registry.example/web:1",
        "docker.io/nginx:latest",
        "web",
        "registry.example/db@sha256:00",
    ]);
    let memory = random.pick(&["64Mi", "1Gi", "0.5Gi", "2000M"]);
    let cpu = random.pick(&["100m", "1", "2.5"]);
    let port = 1 + random.below(9_000);
    let is_privileged = random.below(2) == 0;
    some_of(
        random,
        [
            ("name", json!("main")),
            ("image", json!(image)),
            (
                "resources",
                json!({"limits": {"memory": memory, "cpu": cpu}}),
            ),
            ("ports", json!([{"containerPort": port, "protocol": "TCP"}])),
            (
                "securityContext",
                json!({"privileged": is_privileged, "runAsUser": port}),
            ),
        ],
    )
}

fn object(random: &mut Random) -> Json {
    let containers: Vec<Json> = (0..random.below(4)).map(|_| container(random)).collect();
    let (labels, replicas) = (labels(random), random.below(12));
    let name = random.pick(&["web", "db-0", "a.b.c"]);
    let metadata = some_of(
        random,
        [
            ("name", json!(name)),
            ("namespace", json!("shop")),
            ("labels", labels),
            ("annotations", json!({"note": "x"})),
            ("creationTimestamp", json!("2026-01-02T03:04:05Z")),
        ],
    );
    let spec = some_of(
        random,
        [
            ("replicas", json!(replicas)),
            ("containers", json!(containers)),
            ("paused", json!(replicas % 2 == 0)),
            ("weight", json!(0.5)),
            ("selector", json!({"matchLabels": {"app": "web"}})),
        ],
    );
    some_of(
        random,
        [
            ("apiVersion", json!("apps/v1")),
            ("kind", json!("Deployment")),
            ("metadata", metadata),
            ("spec", spec),
        ],
    )
}

fn params(random: &mut Random) -> Json {
    if random.below(5) == 0 {
        return Json::Null;
    }
    let most = random.below(12);
    some_of(
        random,
        [
            ("maxReplicas", json!(most)),
            ("registries", json!(["registry.example/", "docker.io/"])),
            ("memory", json!("512Mi")),
            ("exempt", json!({"web": "yes"})),
        ],
    )
}

fn request(random: &mut Random) -> Json {
    let operation = random.pick(&["CREATE", "UPDATE", "DELETE", "CONNECT"]);
    let user = random.pick(&["alice", "system:serviceaccount:shop:robot", ""]);
    let user = some_of(
        random,
        [
            ("username", json!(user)),
            ("groups", json!(["devs", "system:authenticated"])),
            ("extra", json!({"scopes": ["view"]})),
        ],
    );
    some_of(
        random,
        [
            ("operation", json!(operation)),
            ("name", json!("web")),
            ("namespace", json!("shop")),
            ("userInfo", user),
            ("dryRun", json!(false)),
            (
                "kind",
                json!({"group": "apps", "version": "v1", "kind": "Deployment"}),
            ),
        ],
    )
}

fn namespace(random: &mut Random) -> Json {
    if random.below(4) == 0 {
        return Json::Null;
    }
    let labels = labels(random);
    some_of(
        random,
        [("metadata", json!({"name": "shop", "labels": labels}))],
    )
}

/// A condition.
fn condition(random: &mut Random, depth: usize) -> String {
    if depth == 0 {
        return test(random);
    }
    let depth = depth - 1;
    match random.below(12) {
        0 | 1 => format!(
            "{} && {}",
            condition(random, depth),
            condition(random, depth)
        ),
        2 => format!(
            "({} || {})",
            condition(random, depth),
            condition(random, depth)
        ),
        3 => format!("!({})", condition(random, depth)),
        4 => format!(
            "({} ? {} : {})",
            condition(random, depth),
            condition(random, depth),
            condition(random, depth)
        ),
        5 => {
            let how = random.pick(&["all", "exists", "exists_one"]);
            format!("{}.{how}(c, {})", containers(random), of_container(random))
        }
        6 => format!(
            "{}.filter(c, {}).size() {} {}",
            containers(random),
            of_container(random),
            random.pick(&["==", "<", ">="]),
            random.below(3)
        ),
        7 => format!(
            "{}.map(c, {}).{}",
            containers(random),
            random.pick(&["c.image", "c.?name.orValue('none')", "size(c.image)"]),
            random.pick(&["size() > 0", "join(',').contains('web')", "isSorted()"])
        ),
        8 => format!("has({}) && {}", field(random), condition(random, depth)),
        9 => format!("oldObject == null || {}", condition(random, depth)),
        _ => test(random),
    }
}

fn containers(random: &mut Random) -> &'static str {
    random.pick(&[
        "object.spec.containers",
        "object.?spec.?containers.orValue([])",
        "(has(object.spec) && has(object.spec.containers) ? object.spec.containers : [])",
        "oldObject.spec.containers",
    ])
}

fn of_container(random: &mut Random) -> String {
    let plain = random.pick(&[
        "c.image.startsWith('registry.example/')",
        "has(c.securityContext) && !c.securityContext.privileged",
        "c.?securityContext.?privileged.orValue(false)",
        "!c.image.endsWith(':latest')",
        "c.image.matches('^[a-z.]+/')",
        "quantity(c.resources.limits.memory).isLessThan(quantity('1Gi'))",
        "quantity(c.resources.limits.cpu).compareTo(quantity('1')) <= 0",
        "isQuantity(c.?resources.?limits.?memory.orValue('x'))",
        "c.ports.exists(p, p.containerPort > 1024)",
        "c.?ports.orValue([]).all(p, p.protocol == 'TCP')",
        "params.registries.exists(r, c.image.startsWith(r))",
        "c.name in ['main', 'other']",
        "c.image.split(':').size() == 2",
        "c.securityContext.runAsUser > 0",
    ]);
    plain.to_owned()
}

fn field(random: &mut Random) -> &'static str {
    random.pick(&[
        "object.metadata",
        "object.metadata.labels",
        "object.metadata.labels.app",
        "object.spec.replicas",
        "object.spec.containers",
        "oldObject.spec",
        "params.maxReplicas",
        "request.userInfo.groups",
        "request.name",
        "namespaceObject.metadata.labels",
    ])
}

/// A condition without others in it.
fn test(random: &mut Random) -> String {
    let number = random.below(12);
    let compared = random.pick(&["==", "!=", "<", "<=", ">", ">="]);
    match random.below(28) {
        0 => format!("object.spec.replicas {compared} {number}"),
        1 => format!("object.spec.replicas {compared} params.maxReplicas"),
        2 => format!("int(object.spec.replicas) {compared} {number}"),
        3 => "object.spec == oldObject.spec".to_owned(),
        4 => format!("object.?spec.?replicas.orValue({number}) {compared} 3"),
        5 => format!("object.spec.weight * 2.0 {compared} 1.0"),
        6 => "object.metadata.name == request.name".to_owned(),
        7 => "object.metadata.labels.app == 'web'".to_owned(),
        8 => "'app' in object.metadata.labels".to_owned(),
        9 => "object.metadata.labels['example.com/owner'].startsWith('team-')".to_owned(),
        10 => "object.metadata.labels.all(k, k.size() < 20)".to_owned(),
        11 => format!(
            "request.operation {} '{}'",
            random.pick(&["==", "!="]),
            random.pick(&["CREATE", "UPDATE", "DELETE"])
        ),
        12 => "request.userInfo.username.startsWith('system:')".to_owned(),
        13 => "'devs' in request.userInfo.groups".to_owned(),
        14 => "request.kind.group == 'apps'".to_owned(),
        15 => "!request.dryRun".to_owned(),
        16 => "params == null || has(params.memory)".to_owned(),
        17 => "params.exempt.exists(name, name == object.metadata.name)".to_owned(),
        18 => "namespaceObject.metadata.labels.tier == 'front'".to_owned(),
        19 => "namespaceObject.metadata.name == object.metadata.namespace".to_owned(),
        20 => "timestamp(object.metadata.creationTimestamp) < timestamp('2026-06-01T00:00:00Z')"
            .to_owned(),
        21 => "object.spec.selector.matchLabels == object.metadata.labels".to_owned(),
        22 => "size(object.metadata.name) <= 63 && object.metadata.name.matches('^[a-z0-9.-]+$')"
            .to_owned(),
        23 => "object.metadata.annotations['note'] + '!' == 'x!'".to_owned(),
        24 => "quantity(params.memory).add(quantity('512Mi')).compareTo(quantity('1Gi')) == 0"
            .to_owned(),
        25 => random
            .pick(&[
                "request.unknown == 1",
                "request.userInfo.age > 3",
                "request.operation > 1",
                "namespaceObject.kind == 'x'",
                "missing.field",
            ])
            .to_owned(),
        26 => "format.dns1123Label().validate(object.metadata.name).hasValue()".to_owned(),
        _ => "object.spec.paused".to_owned(),
    }
}
