package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"

	"sigs.k8s.io/yaml"
)

// project is a module with definitions.
type project struct {
	name        string
	module      string
	version     string
	sum         string
	paths       []string
	definitions []*definition
}

// readProjects reads the list of modules.
func readProjects(path string) ([]*project, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var projects []*project
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if len(words) < 5 {
			return nil, fmt.Errorf("%s: a module needs five words: %q", path, lines.Text())
		}
		projects = append(projects, &project{name: words[0], module: words[1], version: words[2], sum: words[3], paths: words[4:]})
	}
	return projects, lines.Err()
}

// fetch returns the module's folder in the module cache, after comparing its checksum.
func (p *project) fetch() (string, error) {
	output, err := exec.Command("go", "mod", "download", "-json", p.module+"@"+p.version).Output()
	var found struct{ Dir, Sum, Error string }
	if parsed := json.Unmarshal(output, &found); parsed != nil || found.Error != "" {
		return "", fmt.Errorf("%s: %v %s", p.module, err, found.Error)
	}
	if found.Sum != p.sum {
		return "", fmt.Errorf("%s: its checksum is %s, expected %s", p.module, found.Sum, p.sum)
	}
	return found.Dir, nil
}

// load fetches the module and reads its definitions, up to a limit if that is not 0. Names that are known are left out.
func (p *project) load(limit int, known map[string]bool) error {
	folder, err := p.fetch()
	if err != nil {
		return err
	}
	for _, path := range p.paths {
		found, err := read(filepath.Join(folder, path))
		if err != nil {
			return err
		}
		for _, it := range found {
			if known[it.name] || (limit > 0 && len(p.definitions) >= limit) {
				continue
			}
			known[it.name] = true
			p.definitions = append(p.definitions, it)
		}
	}
	if len(p.definitions) == 0 {
		return fmt.Errorf("no definitions in %s", folder)
	}
	return nil
}

// read returns the definitions of a file, or of the files of a folder.
func read(path string) ([]*definition, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	files := []string{path}
	if info.IsDir() {
		if files, err = filepath.Glob(filepath.Join(path, "*.y*ml")); err != nil {
			return nil, err
		}
		sort.Strings(files)
	}
	var definitions []*definition
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, document := range strings.Split("\n"+string(content), "\n---") {
			var object map[string]any
			if err := yaml.Unmarshal([]byte(document), &object); err != nil {
				// A template of a chart beside the definitions.
				continue
			}
			if object["kind"] == "CustomResourceDefinition" && text(object, "metadata", "name") != "" {
				definitions = append(definitions, newDefinition(object))
			}
		}
	}
	return definitions, nil
}

// definition is a CustomResourceDefinition.
type definition struct {
	object     map[string]any
	name       string
	group      string
	kind       string
	plural     string
	namespaced bool
	versions   []*version
	// calledWebhook reports whether the project converts its objects with a webhook; here nothing converts them.
	calledWebhook bool
}

// version is a served version of a definition.
type version struct {
	definition *definition
	name       string
	stored     bool
	schema     schema
	hasStatus  bool
	hasScale   bool
	rules      *rules
}

func newDefinition(object map[string]any) *definition {
	spec := at(object, "spec")
	d := &definition{
		object:     object,
		name:       text(object, "metadata", "name"),
		group:      text(spec, "group"),
		kind:       text(spec, "names", "kind"),
		plural:     text(spec, "names", "plural"),
		namespaced: text(spec, "scope") == "Namespaced",
	}
	delete(object, "status")
	if text(spec, "conversion", "strategy") == "Webhook" {
		spec["conversion"] = map[string]any{"strategy": "None"}
		d.calledWebhook = true
	}
	list, _ := spec["versions"].([]any)
	for _, it := range list {
		it, _ := it.(map[string]any)
		if it["served"] != true {
			continue
		}
		structure := schema(at(it, "schema", "openAPIV3Schema"))
		d.versions = append(d.versions, &version{
			definition: d,
			name:       text(it, "name"),
			stored:     it["storage"] == true,
			schema:     structure,
			hasStatus:  at(it, "subresources", "status") != nil,
			hasScale:   at(it, "subresources", "scale") != nil,
			rules:      rulesOf(d.kind, structure),
		})
	}
	return d
}

// collection returns the path of the version's objects.
func (v *version) collection() string {
	if v.definition.namespaced {
		return fmt.Sprintf("/apis/%s/%s/namespaces/%s/%s", v.definition.group, v.name, namespace, v.definition.plural)
	}
	return fmt.Sprintf("/apis/%s/%s/%s", v.definition.group, v.name, v.definition.plural)
}

func (v *version) String() string {
	return v.definition.kind + "." + v.name + "." + v.definition.group
}

// at returns the object at a path, or nil.
func at(object map[string]any, path ...string) map[string]any {
	for _, name := range path {
		object, _ = object[name].(map[string]any)
	}
	return object
}

// text returns the string at a path, or an empty one.
func text(object map[string]any, path ...string) string {
	last := len(path) - 1
	value, _ := at(object, path[:last]...)[path[last]].(string)
	return value
}
