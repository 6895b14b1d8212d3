// Answers questions about RBAC with upstream's own authorizer and escalation check: each line of the
// input is a world of roles and bindings with requests and grants, and each line of the output has
// the decisions. The test `upstream` of `crates/authorization` asks.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/kubernetes/pkg/registry/rbac/validation"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac"
)

type who struct {
	Name   string   `json:"name"`
	Groups []string `json:"groups"`
}

func (w who) info() user.Info {
	return &user.DefaultInfo{Name: w.Name, Groups: w.Groups}
}

type ask struct {
	User        who    `json:"user"`
	Verb        string `json:"verb"`
	Group       string `json:"group"`
	Resource    string `json:"resource"`
	Subresource string `json:"subresource"`
	Namespace   string `json:"namespace"`
	Name        string `json:"name"`
	Path        string `json:"path"`
}

type grant struct {
	User      who                 `json:"user"`
	Namespace string              `json:"namespace"`
	Rules     []rbacv1.PolicyRule `json:"rules"`
}

type world struct {
	Roles           []*rbacv1.Role               `json:"roles"`
	Bindings        []*rbacv1.RoleBinding        `json:"bindings"`
	ClusterRoles    []*rbacv1.ClusterRole        `json:"clusterRoles"`
	ClusterBindings []*rbacv1.ClusterRoleBinding `json:"clusterBindings"`
	Asks            []ask                        `json:"asks"`
	Grants          []grant                      `json:"grants"`
}

type decision struct {
	Allowed bool   `json:"allowed"`
	Denied  bool   `json:"denied"`
	Reason  string `json:"reason"`
	Rules   int    `json:"rules"`
}

type answer struct {
	Decisions []decision `json:"decisions"`
	Grants    []string   `json:"grants"`
}

// stored finds roles as the server's caches do, with their errors.
type stored struct {
	*validation.StaticRoles
}

func (s stored) GetRole(ctx context.Context, namespace, name string) (*rbacv1.Role, error) {
	role, err := s.StaticRoles.GetRole(ctx, namespace, name)
	if err != nil {
		return nil, errors.NewNotFound(rbacv1.Resource("role"), name)
	}
	return role, nil
}

func (s stored) GetClusterRole(ctx context.Context, name string) (*rbacv1.ClusterRole, error) {
	role, err := s.StaticRoles.GetClusterRole(ctx, name)
	if err != nil {
		return nil, errors.NewNotFound(rbacv1.Resource("clusterrole"), name)
	}
	return role, nil
}

func (w *world) answer() answer {
	ctx := context.Background()
	_, static := validation.NewTestRuleResolver(w.Roles, w.Bindings, w.ClusterRoles, w.ClusterBindings)
	roles := stored{static}
	resolver := validation.NewDefaultRuleResolver(roles, roles, roles, roles)
	decider := rbac.New(roles, roles, roles, roles)
	var out answer
	for _, it := range w.Asks {
		attributes := authorizer.AttributesRecord{
			User: it.User.info(), Verb: it.Verb, Namespace: it.Namespace, APIGroup: it.Group, APIVersion: "v1",
			Resource: it.Resource, Subresource: it.Subresource, Name: it.Name,
			ResourceRequest: it.Path == "", Path: it.Path,
		}
		verdict, reason, _ := decider.Authorize(ctx, attributes)
		rules, _ := resolver.RulesFor(ctx, it.User.info(), it.Namespace)
		out.Decisions = append(out.Decisions, decision{
			Allowed: verdict == authorizer.DecisionAllow,
			Denied:  verdict == authorizer.DecisionDeny,
			Reason:  reason,
			Rules:   len(rules),
		})
	}
	for _, it := range w.Grants {
		asked := request.WithNamespace(request.WithUser(ctx, it.User.info()), it.Namespace)
		text := ""
		if err := validation.ConfirmNoEscalation(asked, resolver, it.Rules); err != nil {
			text = err.Error()
		}
		out.Grants = append(out.Grants, text)
	}
	return out
}

func main() {
	input := bufio.NewReaderSize(os.Stdin, 1<<20)
	output := bufio.NewWriter(os.Stdout)
	defer output.Flush()
	decoder, encoder := json.NewDecoder(input), json.NewEncoder(output)
	encoder.SetEscapeHTML(false)
	for decoder.More() {
		var it world
		if err := decoder.Decode(&it); err != nil {
			panic(err)
		}
		if err := encoder.Encode(it.answer()); err != nil {
			panic(err)
		}
	}
}
