package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
)

// writeSamples writes a folder for each project: its definitions as a list, and generated objects of each served version, a line each.
func writeSamples(projects []*project, o options) error {
	known := map[string]bool{}
	for _, project := range projects {
		if !strings.Contains(project.name, o.only) {
			continue
		}
		if err := project.load(o.limit, known); err != nil {
			return fmt.Errorf("%s: %w", project.name, err)
		}
		folder := filepath.Join(o.samples, project.name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		if err := writeDefinitions(filepath.Join(folder, "definitions.json"), project); err != nil {
			return err
		}
		if err := writeObjects(filepath.Join(folder, "objects.jsonl"), project, o); err != nil {
			return err
		}
	}
	return nil
}

func writeDefinitions(path string, project *project) error {
	items := []any{}
	for _, it := range project.definitions {
		items = append(items, it.object)
	}
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

// writeObjects writes minimal objects and, for every other number, full ones.
func writeObjects(path string, project *project, o options) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := json.NewEncoder(file)
	for _, definition := range project.definitions {
		for _, version := range definition.versions {
			for i := range o.objects {
				hash := fnv.New64a()
				fmt.Fprint(hash, version, i)
				random := rand.New(rand.NewSource(o.seed ^ int64(hash.Sum64())))
				generator := &generator{random: random, full: i%2 == 1}
				if err := lines.Encode(generator.object(version, fmt.Sprintf("a-%d", i))); err != nil {
					return err
				}
			}
		}
	}
	return file.Close()
}
