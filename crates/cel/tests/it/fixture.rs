//! Cases of the language in one file: an expression in each line, which must be true.

use kubist_cel::{Activation, Budget, Environment, Value, Version};

#[test]
fn all_lines_of_the_fixture_are_true() {
    let environment = Environment::new(Version::minor(36));
    let lines = include_str!("fixture.cel")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("//"));
    for line in lines {
        let program = environment
            .compile(line)
            .unwrap_or_else(|error| panic!("{error}"));
        let evaluated = program.evaluate(&Activation::new(), Budget::default());
        assert!(
            matches!(evaluated.value, Ok(Value::Bool(true))),
            "{line} {:?}",
            evaluated.value
        );
        assert!(
            evaluated.cost <= program.cost_estimate().max,
            "{line} costs more than estimated"
        );
    }
}
