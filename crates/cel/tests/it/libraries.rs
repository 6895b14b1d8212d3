//! What the libraries promise, without upstream's program.

use kubist_cel::{
    AccessDecision, AccessRequest, Activation, Authorizer, Budget, Environment, Evaluated, Value,
    Version, authorizer_type, authorizer_value,
};
use std::sync::Arc;

/// Expressions that are true.
const TRUE: [&str; 40] = [
    "[1, 2, 2].isSorted() && ![2, 1].isSorted()",
    "[1, 2].sum() == 3 && [1.5].sum() == 1.5",
    "[3, 1].min() == 1 && ['a', 'b'].max() == 'b'",
    "[1, 2, 1].indexOf(1) == 0 && [1, 2, 1].lastIndexOf(1) == 2 && [1].indexOf(2) == -1",
    "'ab12'.find('[0-9]+') == '12' && 'a'.find('b') == ''",
    "'a1b2'.findAll('[0-9]') == ['1', '2'] && 'a1b2'.findAll('[0-9]', 1) == ['1']",
    "sets.contains([1, 2], [2]) && sets.equivalent([1], [1, 1]) && !sets.intersects([1], [])",
    "url('https://user@[::1]:80/a%20b?c=d').getHostname() == '::1'",
    "url('https://host/a b').getEscapedPath() == '/a%20b'",
    "url('/a?b=c&b=d').getQuery() == {'b': ['c', 'd']}",
    "isURL('/a') && !isURL('a') && !isURL('https://a:b/')",
    "quantity('1.5Gi') == quantity('1536Mi')",
    "quantity('1').add(quantity('500m')).asApproximateFloat() == 1.5",
    "quantity('2k').sub(1).asInteger() == 1999 && sign(quantity('-1')) == -1",
    "quantity('1e30').isGreaterThan(quantity('1Ei')) && !quantity('1e30').isInteger()",
    "isQuantity('1Ki') && !isQuantity('1KiB')",
    "ip('::1').isLoopback() && ip('10.0.0.1').isGlobalUnicast() && ip('::').family() == 6",
    "string(ip('2001:DB8::0:1')) == '2001:db8::1' && !ip.isCanonical('::0')",
    "!isIP('::ffff:1.2.3.4') && !isIP('fe80::1%eth0') && !isIP('1.2.3.04')",
    "cidr('10.0.0.0/8').containsIP('10.1.1.1') && !cidr('10.0.0.0/8').containsIP(ip('::1'))",
    "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && cidr('::/0').prefixLength() == 0",
    "string(cidr('10.1.2.3/16').masked()) == '10.1.0.0/16'",
    "type(cidr('::/0')) == net.CIDR && type(cidr('::/0').ip()) == net.IP",
    "!format.dns1123Label().validate('a-b').hasValue()",
    "format.dns1123Label().validate('A').value().size() == 1",
    "format.named('uri').value() == format.uri() && !format.named('x').hasValue()",
    "format.date().validate('2023-02-29').value() == ['invalid date']",
    "!format.uuid().validate('123E4567E89B12D3A456426614174000').hasValue()",
    "semver('1.2.3-alpha').isLessThan(semver('1.2.3')) && semver('1.2.3').minor() == 2",
    "semver('v1.02', true).compareTo(semver('1.2.0')) == 0 && !isSemver('1.2')",
    "[1, 2, 3].slice(1, 2) == [2] && [[1], [2]].flatten() == [1, 2]",
    "[[[1]], [[2, 3]]].flatten(2) == [1, 2, 3]",
    "[3, 1, 2].sort() == [1, 2, 3] && ['b', 'a'].sortBy(x, x) == ['a', 'b']",
    "[{'n': 2}, {'n': 1}].sortBy(x, x.n)[0].n == 1",
    "lists.range(3) == [0, 1, 2] && [1, 2].reverse() == [2, 1]",
    "[1, 2, 1].distinct() == [1, 2]",
    "[1, 2].first().value() == 1 && [1, 2].last().value() == 2",
    "'x{'.find('x{') == 'x{' && 'x{,2}'.find('x{,2}') == 'x{,2}'",
    "lists.range(20).map(x, x % 3).sort()[19] == 2",
    "[0.5, -1.0].sortBy(x, x) == [-1.0, 0.5]",
];

#[test]
fn the_libraries_compute_what_they_promise() {
    let environment = Environment::new(Version::minor(36));
    for expression in TRUE {
        let program = environment.compile(expression);
        let program = program.unwrap_or_else(|it| panic!("{expression}: {it}"));
        let evaluated = program.evaluate(&Activation::new(), Budget::default());
        let is_true = matches!(evaluated.value, Ok(Value::Bool(true)));
        assert!(is_true, "{expression}: {:?}", evaluated.value);
    }
}

#[test]
fn lists_that_no_call_can_pay_for_are_not_created() {
    let environment = Environment::new(Version::minor(36));
    for expression in [
        "lists.range(9223372036854775807).size() > 0",
        "lists.range(2000).distinct().size() > 0",
    ] {
        let program = environment.compile(expression).expect("it compiles");
        let evaluated = program.evaluate(&Activation::new(), Budget::default());
        let error = evaluated.value.expect_err("it is too expensive");
        assert_eq!(
            error.to_string(),
            "operation cancelled: actual cost limit exceeded"
        );
    }
}

/// Allows one verb, and repeats what it was asked.
#[derive(Debug)]
struct Echo;

impl Authorizer for Echo {
    fn authorize(&self, request: &AccessRequest) -> AccessDecision {
        AccessDecision {
            allowed: request.verb == "get",
            reason: format!("{request:?}"),
            error: request.path.clone(),
        }
    }
}

fn with_authorizer(expression: &str) -> Evaluated<'static> {
    let environment = Environment::new(Version::minor(36));
    let environment = environment.extend([("authorizer", authorizer_type())]);
    let program = environment.compile(expression).expect("it compiles");
    let activation = Activation::new().bind("authorizer", authorizer_value(Arc::new(Echo)));
    let evaluated = program.evaluate(&activation, Budget::default());
    Evaluated {
        value: evaluated.value.map(|it| match it {
            Value::Bool(it) => Value::Bool(it),
            other => Value::string(other.as_str().unwrap_or_default().to_owned()),
        }),
        cost: evaluated.cost,
    }
}

#[test]
fn authorizers_get_what_expressions_ask() {
    let asked = with_authorizer(
        "authorizer.serviceAccount('ns', 'sa').group('apps').resource('deployments')
            .subresource('scale').namespace('default').name('web').labelSelector('a=b')
            .check('get').reason()",
    );
    let reason = asked.value.expect("a reason");
    let reason = reason.as_str().expect("text");
    for part in [
        r#"("ns", "sa")"#,
        r#"verb: "get""#,
        r#"group: "apps""#,
        r#"resource: "deployments""#,
        r#"subresource: "scale""#,
        r#"namespace: "default""#,
        r#"name: "web""#,
        r#"label_selector: "a=b""#,
    ] {
        assert!(reason.contains(part), "{part} is not in {reason}");
    }
    assert_eq!(asked.cost, 350_119);
    let allowed = with_authorizer("authorizer.path('/healthz').check('get').allowed()");
    assert!(matches!(allowed.value, Ok(Value::Bool(true))));
    let refused = with_authorizer("authorizer.path(' ').check('get').allowed()");
    let error = refused.value.expect_err("it is blank");
    assert_eq!(error.to_string(), "path must not be empty");
}
