//! Custom resources in `kubectl explain`: what it prints for a kube-apiserver, except for Kubist's
//! descriptions of common fields.

use crate::interop::kubectl::Shell;
use kubist_test_support::process::Outcome;

/// A definition with a version whose fields have descriptions, and one without.
const DEFINITIONS: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tolds.interop.example.com}
spec:
  group: interop.example.com
  scope: Namespaced
  names: {plural: tolds, kind: Told}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        description: A Told is told about.
        properties:
          spec:
            type: object
            description: \"What is wanted.\\nOn two lines, and a longer text that has to be wrapped because it goes beyond \\
              the eighty columns that a terminal has.\"
            required: [items, size]
            properties:
              size: {type: integer, format: int32, description: The size., default: 3}
              when: {type: string, format: date-time, description: A time.}
              items:
                type: array
                description: Several.
                items:
                  type: object
                  description: One item.
                  required: [name]
                  properties:
                    name: {type: string, description: Its name.}
                    side: {type: string, enum: [left, right], description: Which.}
  - name: v1beta1
    served: true
    storage: false
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              any: {x-kubernetes-preserve-unknown-fields: true}
              either: {x-kubernetes-int-or-string: true}
              map: {type: object, additionalProperties: {type: integer}}
              mode: {type: string, enum: [a, b]}
              nested: {type: object, properties: {deep: {type: boolean}}}
              tags: {type: array, items: {type: string}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: opens.interop.example.com}
spec:
  group: interop.example.com
  scope: Cluster
  names: {plural: opens, kind: Open}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
";

const SPEC: &str = "\
GROUP:      interop.example.com
KIND:       Told
VERSION:    v1

FIELD: spec <Object>


DESCRIPTION:
    What is wanted.
    On two lines, and a longer text that has to be wrapped because it goes
    beyond the eighty columns that a terminal has.
    \nFIELDS:
  items\t<[]Object> -required-
    Several.

  size\t<integer> -required-
    The size.

  when\t<string>
    A time.

";

const SIDE: &str = "\
FIELD: side <string>
ENUM:
    left
    right

DESCRIPTION:
    Which.
";

const WITHOUT_DESCRIPTIONS: &str = "  spec\t<Object>
    any\t<Object>
    either\t<Object>
    map\t<map[string]integer>
    mode\t<string>
    enum: a, b
    nested\t<Object>
      deep\t<boolean>
    tags\t<[]string>
";

pub(super) fn explain(shell: &Shell) -> Outcome {
    let file = shell.file("definitions.yaml", DEFINITIONS)?;
    shell.run(&format!("apply -f {file}"))?;
    for name in ["tolds", "opens"] {
        shell.run(&format!(
            "wait --for=condition=Established crd/{name}.interop.example.com --timeout=30s"
        ))?;
    }
    let title = [
        "    A Told is told about.\n",
        "  apiVersion\t<string>\n    APIVersion defines by which schema the object is read",
        "  metadata\t<ObjectMeta>\n    Standard object's metadata: name",
    ];
    shell.print("explain tolds", &title)?;
    shell.print("explain tolds.spec", &[SPEC])?;
    shell.print("explain tolds.spec.items.side", &[SIDE])?;
    shell.print(
        "explain tolds --recursive --api-version=interop.example.com/v1beta1",
        &[WITHOUT_DESCRIPTIONS],
    )?;
    shell.print("explain opens", &["KIND:       Open", "<empty>"])?;
    shell.refuse(
        "explain tolds.spec.nonsense",
        "field \"nonsense\" does not exist",
    )?;
    shell
        .run(&format!("delete -f {file} --timeout=60s"))
        .map(drop)
}
