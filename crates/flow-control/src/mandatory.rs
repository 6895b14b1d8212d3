//! What every server has, even if nothing is stored: the exempt level and schema for administrators
//! and the level and schema that catch everything else.

use kubist_api::flowcontrol::v1::{
    ExemptPriorityLevelConfiguration, FlowDistinguisherMethod, FlowSchema, GroupSubject,
    LimitResponse, LimitedPriorityLevelConfiguration, NonResourcePolicyRule,
    PolicyRulesWithSubjects, PriorityLevelConfiguration, ResourcePolicyRule, Subject,
};
use kubist_apimachinery::Str;
use kubist_authorization::MASTERS_GROUP;

/// The name of the level and schema of administrators.
pub(crate) const EXEMPT: &str = "exempt";
/// The name of the level and schema of what nothing else matches.
pub(crate) const CATCH_ALL: &str = "catch-all";
/// The precedence of the last schema.
const LAST: i32 = 10_000;

/// Returns the levels.
pub(crate) fn levels() -> [PriorityLevelConfiguration; 2] {
    let mut exempt = PriorityLevelConfiguration::default();
    exempt.metadata.name = EXEMPT.into();
    exempt.spec.type_ = "Exempt".into();
    exempt.spec.exempt = Some(Box::new(ExemptPriorityLevelConfiguration {
        nominal_concurrency_shares: Some(0),
        lendable_percent: Some(0),
    }));
    let mut catch_all = PriorityLevelConfiguration::default();
    catch_all.metadata.name = CATCH_ALL.into();
    catch_all.spec.type_ = "Limited".into();
    catch_all.spec.limited = Some(Box::new(LimitedPriorityLevelConfiguration {
        nominal_concurrency_shares: Some(5),
        lendable_percent: Some(0),
        limit_response: LimitResponse {
            type_: "Reject".into(),
            queuing: None,
        },
        borrowing_limit_percent: None,
    }));
    [exempt, catch_all]
}

/// Returns the schemas.
pub(crate) fn schemas() -> [FlowSchema; 2] {
    let everybody = ["system:unauthenticated", "system:authenticated"];
    let mut catch_all = schema(CATCH_ALL, LAST, &everybody);
    let method = FlowDistinguisherMethod {
        type_: "ByUser".into(),
    };
    catch_all.spec.distinguisher_method = Some(Box::new(method));
    [schema(EXEMPT, 1, &[MASTERS_GROUP]), catch_all]
}

/// A schema for everything that these groups ask, with the level of its name.
fn schema(name: &str, precedence: i32, groups: &[&str]) -> FlowSchema {
    let all = || -> Vec<Str> { vec!["*".into()] };
    let subjects = groups.iter().map(|&group| Subject {
        kind: "Group".into(),
        group: Some(Box::new(GroupSubject { name: group.into() })),
        ..Subject::default()
    });
    let mut schema = FlowSchema::default();
    schema.metadata.name = name.into();
    schema.spec.matching_precedence = precedence;
    schema.spec.priority_level_configuration.name = name.into();
    schema.spec.rules = vec![PolicyRulesWithSubjects {
        subjects: subjects.collect(),
        resource_rules: vec![ResourcePolicyRule {
            verbs: all(),
            api_groups: all(),
            resources: all(),
            cluster_scope: true,
            namespaces: all(),
        }],
        non_resource_rules: vec![NonResourcePolicyRule {
            verbs: all(),
            non_resource_urls: all(),
        }],
    }];
    schema
}
