package main

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// addKinds puts the registered kinds under their group versions, adding groups
// and versions that the server does not serve after those that it does.
func (w *walker) addKinds(s *Schema, kinds []kind) {
	slices.SortFunc(kinds, func(a, b kind) int {
		return cmp.Or(
			cmp.Compare(a.group, b.group),
			version.CompareKubeAwareVersionStrings(b.version, a.version),
			cmp.Compare(a.name, b.name),
		)
	})
	byName := map[string]kind{}
	for _, k := range kinds {
		byName[k.group+"/"+k.version+"/"+k.name] = k
	}
	for _, k := range kinds {
		full := fullName(k.typ)
		if isCommon(k) {
			s.CommonKinds[k.name] = full
			continue
		}
		m := w.messages[full]
		m.GVK = append(m.GVK, [3]string{k.group, k.version, k.name})
		gv := s.groupVersion(k.group, k.version)
		gv.Kinds = append(gv.Kinds, w.describe(k, byName))
	}
}

// groupVersion finds or creates the entry of a group version.
func (s *Schema) groupVersion(group, version string) *GroupVersion {
	at := slices.IndexFunc(s.Groups, func(g Group) bool { return g.Name == group })
	if at < 0 {
		at = len(s.Groups)
		s.Groups = append(s.Groups, Group{Name: group, Preferred: version})
	}
	g := &s.Groups[at]
	v := slices.IndexFunc(g.Versions, func(v GroupVersion) bool { return v.Version == version })
	if v < 0 {
		v = len(g.Versions)
		g.Versions = append(g.Versions, GroupVersion{Version: version})
	}
	return &g.Versions[v]
}

// describe collects the facts of a kind from the scheme and its markers.
func (w *walker) describe(k kind, all map[string]kind) Kind {
	out := Kind{Kind: k.name, Message: fullName(k.typ)}
	prefix := k.group + "/" + k.version + "/"
	if l, ok := all[prefix+k.name+"List"]; ok && itemType(l.typ) == k.typ {
		out.List = l.name
	}
	if item, ok := strings.CutSuffix(k.name, "List"); ok {
		if i, ok := all[prefix+item]; ok && itemType(k.typ) == i.typ {
			out.ListOf = item
		}
	}
	m := w.markersOf(k.typ)
	const life = "k8s:prerelease-lifecycle-gen:"
	out.Introduced, out.Deprecated = m.last(life+"introduced"), m.last(life+"deprecated")
	out.Removed, out.Replacement = m.last(life+"removed"), m.last(life+"replacement")
	if m.has("genclient") {
		namespaced := !m.has("genclient:nonNamespaced")
		out.Namespaced = &namespaced
		out.Plural = m.last("resourceName")
		if out.Plural == "" {
			gvr, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Kind: k.name})
			out.Plural = gvr.Resource
		}
	}
	return out
}

// itemType is the element type of the Items field of a list, or nil.
func itemType(t reflect.Type) reflect.Type {
	if f, ok := t.FieldByName("Items"); ok && f.Type.Kind() == reflect.Slice {
		return f.Type.Elem()
	}
	return nil
}

// checkResources compares discovery with the registered kinds.
func (s *Schema) checkResources(p *problems) {
	for _, g := range s.Groups {
		for _, v := range g.Versions {
			for _, r := range v.Resources {
				k := findKind(v.Kinds, r.Kind)
				switch {
				case k == nil:
					p.addf("%s/%s %s: kind %s is not registered", g.Name, v.Version, r.Name, r.Kind)
				case k.Namespaced != nil && *k.Namespaced != r.Namespaced:
					p.addf("%s/%s %s: scope differs from the client's", g.Name, v.Version, r.Name)
				case k.Plural != "" && k.Plural != r.Name:
					p.addf("%s/%s %s: the client says %s", g.Name, v.Version, r.Name, k.Plural)
				}
				s.checkSubresources(g, v, r, p)
			}
		}
	}
}

// checkSubresources looks up the kinds of the subresources of a resource.
func (s *Schema) checkSubresources(g Group, v GroupVersion, r Resource, p *problems) {
	for _, sub := range r.Subresources {
		gv := &v
		if sub.Version != "" {
			gv = s.groupVersion(sub.Group, sub.Version)
		}
		if findKind(gv.Kinds, sub.Kind) == nil {
			p.addf("%s/%s %s/%s: no kind %s", g.Name, v.Version, r.Name, sub.Name, sub.Kind)
		}
	}
}

// findKind looks a kind up by name.
func findKind(kinds []Kind, name string) *Kind {
	for i := range kinds {
		if kinds[i].Kind == name {
			return &kinds[i]
		}
	}
	return nil
}
