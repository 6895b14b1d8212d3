package main

import (
	"encoding/json"
	"fmt"
	"io"
)

// printDefinitions writes the definitions of these names as a JSON array. It fetches modules in their order until it has all.
func printDefinitions(projects []*project, names []string, out io.Writer) error {
	wanted := map[string]map[string]any{}
	for _, name := range names {
		wanted[name] = nil
	}
	missing := len(wanted)
	known := map[string]bool{}
	for _, project := range projects {
		if missing == 0 {
			break
		}
		if err := project.load(0, known); err != nil {
			return fmt.Errorf("%s: %w", project.name, err)
		}
		for _, it := range project.definitions {
			if found, is := wanted[it.name]; is && found == nil {
				wanted[it.name] = it.object
				missing--
			}
		}
	}
	var all []map[string]any
	for _, name := range names {
		if wanted[name] == nil {
			return fmt.Errorf("no definition %s", name)
		}
		all = append(all, wanted[name])
	}
	return json.NewEncoder(out).Encode(all)
}
