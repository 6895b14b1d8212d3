package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
)

// modulePaths are the modules whose sources are read.
var modulePaths = []string{
	"k8s.io/api",
	"k8s.io/apiextensions-apiserver",
	"k8s.io/apimachinery",
	"k8s.io/kube-aggregator",
}

// module is the output of `go list -m -json` for one module.
type module struct {
	Path, Version, Dir string
}

// listModules asks the go command where the module sources are.
func listModules() ([]module, error) {
	args := append([]string{"list", "-m", "-json"}, modulePaths...)
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		return nil, fmt.Errorf("go list (run this program in its own folder): %w", err)
	}
	var mods []module
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var m module
		switch err := dec.Decode(&m); {
		case errors.Is(err, io.EOF):
			return mods, nil
		case err != nil:
			return nil, fmt.Errorf("output of go list: %w", err)
		}
		if m.Dir == "" {
			return nil, fmt.Errorf("module %s has no sources here: run go mod download", m.Path)
		}
		mods = append(mods, m)
	}
}

// packageDir is the folder of a Go package inside one of the modules.
func packageDir(mods []module, pkg string) (string, error) {
	for _, m := range mods {
		if rest, ok := strings.CutPrefix(pkg, m.Path+"/"); ok {
			return filepath.Join(m.Dir, filepath.FromSlash(rest)), nil
		}
	}
	return "", fmt.Errorf("package %s is in none of the modules", pkg)
}

// checkCovered reports packages of k8s.io/api that register kinds and that
// this program does not import.
func checkCovered(mods []module, seen map[string]bool, p *problems) error {
	for _, m := range mods {
		if m.Path != "k8s.io/api" {
			continue
		}
		err := filepath.WalkDir(m.Dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.Name() != "register.go" {
				return err
			}
			rel, err := filepath.Rel(m.Dir, filepath.Dir(path))
			if err != nil {
				return err
			}
			if pkg := m.Path + "/" + filepath.ToSlash(rel); !seen[pkg] {
				p.addf("%s registers kinds but scheme.go does not import it", pkg)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
