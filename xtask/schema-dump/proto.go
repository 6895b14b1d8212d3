package main

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// protoFile is the shape of one generated.proto.
type protoFile struct {
	pkg      string
	messages map[string][]protoField
}

// protoField is one field line; label is optional, repeated or map.
type protoField struct {
	label, key, typ, name string
	num                   int
}

var (
	protoPackage = regexp.MustCompile(`^package ([\w.]+);$`)
	protoMessage = regexp.MustCompile(`^message (\w+) \{$`)
	protoPlain   = regexp.MustCompile(`^(optional|repeated) (\.?[\w.]+) (\w+) = (\d+);$`)
	protoMap     = regexp.MustCompile(`^map<(\w+), (\.?[\w.]+)> (\w+) = (\d+);$`)
)

// parseProto reads the subset of proto2 that upstream's generator writes and
// rejects every other line.
func parseProto(path string) (*protoFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	out := &protoFile{messages: map[string][]protoField{}}
	current := ""
	scan := bufio.NewScanner(f)
	for comment := false; scan.Scan(); {
		line := strings.TrimSpace(scan.Text())
		if comment || strings.HasPrefix(line, "/*") {
			comment = !strings.HasSuffix(line, "*/")
			continue
		}
		if line == "" || strings.HasPrefix(line, "//") {
			continue
		}
		if current, err = out.readLine(line, current); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return out, scan.Err()
}

// readLine takes one line and returns the message that is open after it.
func (p *protoFile) readLine(line, current string) (string, error) {
	if current == "" {
		if m := protoPackage.FindStringSubmatch(line); m != nil {
			p.pkg = m[1]
			return "", nil
		}
		if m := protoMessage.FindStringSubmatch(line); m != nil {
			p.messages[m[1]] = []protoField{}
			return m[1], nil
		}
		for _, skip := range []string{"syntax ", "import ", "option "} {
			if strings.HasPrefix(line, skip) {
				return "", nil
			}
		}
		return "", fmt.Errorf("unknown line %q", line)
	}
	if line == "}" {
		return "", nil
	}
	var field protoField
	if m := protoPlain.FindStringSubmatch(line); m != nil {
		field = protoField{label: m[1], typ: p.resolve(m[2]), name: m[3]}
		field.num, _ = strconv.Atoi(m[4])
	} else if m := protoMap.FindStringSubmatch(line); m != nil {
		field = protoField{label: "map", key: m[1], typ: p.resolve(m[2]), name: m[3]}
		field.num, _ = strconv.Atoi(m[4])
	} else {
		return current, fmt.Errorf("unknown line %q in %s", line, current)
	}
	p.messages[current] = append(p.messages[current], field)
	return current, nil
}

// protoScalars are the scalar type names that upstream uses.
var protoScalars = map[string]string{
	"string": "bytes", "bytes": "bytes", "bool": "varint", "int32": "varint",
	"int64": "varint", "uint32": "varint", "uint64": "varint", "double": "fixed64",
}

// resolve makes a type name absolute, without the leading dot.
func (p *protoFile) resolve(typ string) string {
	if rest, ok := strings.CutPrefix(typ, "."); ok {
		return rest
	}
	if _, ok := protoScalars[typ]; ok {
		return typ
	}
	return p.pkg + "." + typ
}

// wire is the wire type of the field's tag.
func (f protoField) wire() string {
	if w, ok := protoScalars[f.typ]; ok && f.label != "map" {
		return w
	}
	return "bytes"
}
