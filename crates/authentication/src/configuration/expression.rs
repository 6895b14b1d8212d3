//! `Expression`: the CEL of mappings and rules, about the claims of a token or about a user.

use kubist_cel::declared::{Declared, Field, Kind, ListKind, Object};
use kubist_cel::{Activation, Budget, Environment, Program, Type, Value, Version, escape};
use serde_json::Value as Json;
use std::sync::{Arc, LazyLock};

/// What an expression is about: the name of its only variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    Claims,
    User,
}

/// A compiled expression.
#[derive(Debug)]
pub(super) struct Expression {
    pub(super) text: String,
    /// The message of a rule, or the key of an extra field.
    pub(super) label: String,
    about: About,
    program: Program,
}

static CLAIMS: LazyLock<Environment> = LazyLock::new(|| {
    let claims = Type::map(Type::String, Type::Any);
    Environment::new(Version::STORED).extend([(About::Claims.name(), claims)])
});
static USER: LazyLock<Environment> = LazyLock::new(|| {
    Environment::new(Version::STORED).extend([(About::User.name(), user_type().cel_type())])
});

impl About {
    const fn name(self) -> &'static str {
        match self {
            Self::Claims => "claims",
            Self::User => "user",
        }
    }
}

impl Expression {
    /// Compiles an expression. A rule must be a boolean; the type of a mapping is checked when it
    /// is evaluated, because claims have none.
    ///
    /// # Errors
    /// Upstream's words for what is wrong.
    pub(super) fn compile(
        about: About,
        text: &str,
        label: &str,
        is_rule: bool,
    ) -> Result<Self, String> {
        let environment = match about {
            About::Claims => &*CLAIMS,
            About::User => &*USER,
        };
        let program = environment.compile(text).map_err(|error| {
            let what = if error.is_instantiation() {
                "program instantiation failed"
            } else {
                "compilation failed"
            };
            format!("{what}: {error}")
        })?;
        if is_rule && *program.output_type() != Type::Bool {
            return Err("must evaluate to bool".to_owned());
        }
        Ok(Self {
            text: text.to_owned(),
            label: label.to_owned(),
            about,
            program,
        })
    }

    /// Reports whether it selects a field of the claims.
    pub(super) fn selects(&self, claim: &str) -> bool {
        kubist_cel::selects(&self.text, self.about.name(), claim)
    }

    /// Evaluates it.
    ///
    /// # Errors
    /// Upstream's words for why it has no value.
    pub(super) fn evaluate<'a>(&'a self, subject: &'a Subject) -> Result<Value<'a>, String> {
        let json = if self.text.contains("__") {
            &subject.with_escaped
        } else {
            &subject.plain
        };
        let activation = Activation::new().bind_result(self.about.name(), Value::dynamic(json));
        let evaluated = self.program.evaluate(&activation, Budget::default());
        let text = &self.text;
        evaluated
            .value
            .map_err(|error| format!("expression '{text}' resulted in error: {error}"))
    }
}

/// What expressions look at. Names that are no identifiers can be selected in their escaped form.
#[derive(Debug)]
pub(super) struct Subject {
    plain: Json,
    with_escaped: Json,
}

impl Subject {
    /// Numbers are doubles, as they are in JSON.
    pub(super) fn new(json: Json) -> Self {
        let plain = with_doubles(json);
        Self {
            with_escaped: with_escaped_names(&plain),
            plain,
        }
    }
}

fn with_doubles(json: Json) -> Json {
    match json {
        Json::Number(number) => {
            let double = number.as_f64().and_then(serde_json::Number::from_f64);
            Json::Number(double.unwrap_or(number))
        }
        Json::Array(items) => items.into_iter().map(with_doubles).collect(),
        Json::Object(object) => {
            let fields = object.into_iter();
            fields.map(|(name, it)| (name, with_doubles(it))).collect()
        }
        other => other,
    }
}

fn with_escaped_names(json: &Json) -> Json {
    match json {
        Json::Array(items) => items.iter().map(with_escaped_names).collect(),
        Json::Object(object) => {
            let mut fields = serde_json::Map::new();
            for (name, value) in object {
                let value = with_escaped_names(value);
                if let Some(escaped) = escape(name).filter(|it| it != name) {
                    fields.insert(escaped, value.clone());
                }
                fields.insert(name.clone(), value);
            }
            Json::Object(fields)
        }
        other => other.clone(),
    }
}

fn user_type() -> Arc<Declared> {
    let of = |kind| Arc::new(Declared::new(kind, u64::MAX, 0));
    let text = || of(Kind::String);
    let texts = || of(Kind::List(text(), ListKind::Atomic));
    let fields = [
        ("username", text()),
        ("uid", text()),
        ("groups", texts()),
        ("extra", of(Kind::Map(texts()))),
    ];
    let fields = fields.map(|(name, declared)| Field::new(name, declared));
    let object = Object::new("kubernetes.UserInfo", fields.to_vec());
    of(Kind::Object(Arc::new(object)))
}
