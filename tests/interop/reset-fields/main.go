// Program reset-fields prints the fields that upstream's API server resets in writes.
//
// It creates upstream's REST storages, without anything behind them. For each that updates objects,
// it prints a line: the API version, the resource with its subresource, and the set of reset fields
// as FieldsV1, or `none`. The lines are sorted.
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/klog/v2"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// storages are the REST storages of a group version, by resource and subresource.
type storages map[string]any

func main() {
	// Upstream logs which resources are off by default.
	klog.SetLogger(logr.Discard())
	lines, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "reset-fields:", err)
		os.Exit(1)
	}
	fmt.Println(strings.Join(lines, "\n"))
}

func run() ([]string, error) {
	served := map[schema.GroupVersion]storages{}
	for _, add := range []func(map[schema.GroupVersion]storages) error{
		addGroups, addCore, addExtensions, addCustom,
	} {
		if err := add(served); err != nil {
			return nil, err
		}
	}
	var lines []string
	for version, all := range served {
		for path, storage := range all {
			if _, ok := storage.(rest.Updater); !ok {
				continue
			}
			reset, err := resetFields(version, storage)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", version, path, err)
			}
			lines = append(lines, fmt.Sprintf("%s %s %s", version, path, reset))
		}
	}
	slices.Sort(lines)
	return lines, nil
}

// resetFields returns what the installer of upstream's endpoints would filter with.
func resetFields(version schema.GroupVersion, storage any) (string, error) {
	if _, ok := storage.(rest.ResetFieldsFilterStrategy); ok {
		return "", fmt.Errorf("has a filter that is not a set, which no storage of v1.36 had")
	}
	strategy, ok := storage.(rest.ResetFieldsStrategy)
	if !ok {
		return "none", nil
	}
	set := strategy.GetResetFields()[fieldpath.APIVersion(version.String())]
	if set == nil || set.Empty() {
		return "none", nil
	}
	json, err := set.ToJSON()
	return string(json), err
}
