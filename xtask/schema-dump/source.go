package main

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// source holds the markers and constants of the Go files of one package.
type source struct {
	types  map[string]*typeSource
	consts map[string]constant // by constant name
	order  []string            // constant names in source order
}

// typeSource holds the markers of a type and of its fields.
type typeSource struct {
	markers markers
	fields  map[string]markers
	// base is the type that this one is declared over (`type A B`), by package
	// path ("" for the same package) and name.
	basePkg, baseName string
}

// constant is a constant with a declared type. Instead of a value it may have
// the package and the name of the constant that it repeats.
type constant struct{ typ, value, pkg, name string }

// parseSource reads the Go files of a package folder, without tests and
// generated files.
func parseSource(dir string) (*source, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	s := &source{types: map[string]*typeSource{}, consts: map[string]constant{}}
	set := token.NewFileSet()
	var files []*ast.File
	for _, e := range entries {
		n := e.Name()
		if !strings.HasSuffix(n, ".go") || strings.HasSuffix(n, "_test.go") ||
			strings.Contains(n, "generated") {
			continue
		}
		// Leaves out what the build constraints of a plain build leave out.
		if match, err := build.Default.MatchFile(dir, n); err != nil || !match {
			continue
		}
		f, err := parser.ParseFile(set, filepath.Join(dir, n), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	for _, f := range files {
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				s.readDecl(set, f, g)
			}
		}
	}
	return s, nil
}

// readDecl takes the types and constants of one declaration.
func (s *source) readDecl(set *token.FileSet, f *ast.File, g *ast.GenDecl) {
	for _, spec := range g.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			doc := spec.Doc
			if doc == nil {
				doc = g.Doc
			}
			s.types[spec.Name.Name] = readType(set, f, spec, doc)
		case *ast.ValueSpec:
			if g.Tok == token.CONST {
				s.readConst(f, spec)
			}
		}
	}
}

// readType gathers the markers of a type: those of its doc comment and of the
// comment block one empty line above it, as upstream's generators do.
func readType(
	set *token.FileSet, f *ast.File, spec *ast.TypeSpec, doc *ast.CommentGroup,
) *typeSource {
	t := &typeSource{markers: markers{}, fields: map[string]markers{}}
	start := set.Position(spec.Pos()).Line
	if doc != nil {
		t.markers.read(doc)
		start = set.Position(doc.Pos()).Line
	}
	for _, c := range f.Comments {
		if set.Position(c.End()).Line == start-2 {
			t.markers.read(c)
		}
	}
	switch base := spec.Type.(type) {
	case *ast.Ident:
		t.baseName = base.Name
	case *ast.SelectorExpr:
		t.basePkg, t.baseName = importPath(f, base.X), base.Sel.Name
	}
	st, ok := spec.Type.(*ast.StructType)
	if !ok {
		return t
	}
	for _, fd := range st.Fields.List {
		m := markers{}
		m.read(fd.Doc)
		for _, n := range fd.Names {
			t.fields[n.Name] = m
		}
		if len(fd.Names) == 0 {
			t.fields[embeddedName(fd.Type)] = m
		}
	}
	return t
}

// embeddedName is the field name of an embedded type.
func embeddedName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.StarExpr:
		return embeddedName(e.X)
	}
	return ""
}

// importPath is the path behind a package name in a file.
func importPath(f *ast.File, x ast.Expr) string {
	id, ok := x.(*ast.Ident)
	if !ok {
		return ""
	}
	for _, i := range f.Imports {
		path, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			continue
		}
		name := path[strings.LastIndex(path, "/")+1:]
		if i.Name != nil {
			name = i.Name.Name
		}
		if name == id.Name {
			return path
		}
	}
	return ""
}
