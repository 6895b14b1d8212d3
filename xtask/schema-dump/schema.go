package main

// Schema is the whole output file.
type Schema struct {
	Version     string
	Modules     map[string]string
	CommonKinds map[string]string
	Groups      []Group
	Types       map[string]*NamedType
	Messages    map[string]*Message
}

// Group is one API group with its versions, preferred first.
type Group struct {
	Name      string
	Preferred string
	Versions  []GroupVersion
}

// GroupVersion is one version of a group: the resources that a server serves
// and the kinds that the Go scheme registers.
type GroupVersion struct {
	Version   string
	Served    bool
	Resources []Resource
	Kinds     []Kind
}

// Kind is one registered kind. Plural and Namespaced come from the client
// generator's markers and are therefore known for unserved versions too.
type Kind struct {
	Kind        string `json:"kind"`
	Message     string `json:"message"`
	List        string `json:"list,omitempty"`
	ListOf      string `json:"listOf,omitempty"`
	Plural      string `json:"plural,omitempty"`
	Namespaced  *bool  `json:"namespaced,omitempty"`
	Introduced  string `json:"introduced,omitempty"`
	Deprecated  string `json:"deprecated,omitempty"`
	Removed     string `json:"removed,omitempty"`
	Replacement string `json:"replacement,omitempty"`
}

// Resource is one entry of a discovery document with its subresources.
type Resource struct {
	Name               string        `json:"name"`
	Singular           string        `json:"singular"`
	Kind               string        `json:"kind"`
	Namespaced         bool          `json:"namespaced"`
	ShortNames         []string      `json:"shortNames,omitempty"`
	Categories         []string      `json:"categories,omitempty"`
	Verbs              []string      `json:"verbs"`
	StorageVersionHash string        `json:"storageVersionHash,omitempty"`
	Subresources       []Subresource `json:"-"`
	Columns            []Column      `json:"-"`
}

// Subresource is a subresource; Group and Version are set where they differ
// from those of the resource.
type Subresource struct {
	Name    string   `json:"name"`
	Group   string   `json:"group,omitempty"`
	Version string   `json:"version,omitempty"`
	Kind    string   `json:"kind"`
	Verbs   []string `json:"verbs"`
}

// Column is one column of the server-side table of a resource.
type Column struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Format   string `json:"format"`
	Priority int    `json:"priority"`
}

// NamedType is a named Go type over a scalar.
type NamedType struct {
	Go     string   `json:"go"`
	Type   string   `json:"type"`
	Enum   bool     `json:"enum,omitempty"`
	Values []string `json:"values,omitempty"`
}

// Message is one Go struct (or list or special type) of the API.
type Message struct {
	Go      string      `json:"go"`
	Proto   string      `json:"proto,omitempty"`
	Form    string      `json:"form"`
	Special string      `json:"special,omitempty"`
	GVK     [][3]string `json:"gvk,omitempty"`
	Item    string      `json:"item,omitempty"`
	MapType string      `json:"mapType,omitempty"`
	Union   bool        `json:"union,omitempty"`
	OpenAPI bool        `json:"openapi,omitempty"`
	Fields  []*Field    `json:"-"`
}

// Field is one field of a message in the order of the Go struct.
type Field struct {
	Go            string   `json:"go,omitempty"`
	JSON          string   `json:"json,omitempty"`
	Type          string   `json:"type"`
	Named         string   `json:"named,omitempty"`
	Key           string   `json:"key,omitempty"`
	Num           int      `json:"num,omitempty"`
	Wire          string   `json:"wire,omitempty"`
	Always        bool     `json:"always,omitempty"`
	Proto         string   `json:"proto,omitempty"`
	ProtoType     string   `json:"protoType,omitempty"`
	Omit          string   `json:"omit,omitempty"`
	Inline        bool     `json:"inline,omitempty"`
	Required      bool     `json:"required,omitempty"`
	Default       any      `json:"default,omitempty"`
	Format        string   `json:"format,omitempty"`
	PatchStrategy string   `json:"patchStrategy,omitempty"`
	PatchMergeKey string   `json:"patchMergeKey,omitempty"`
	ListType      string   `json:"listType,omitempty"`
	ListMapKeys   []string `json:"listMapKeys,omitempty"`
	MapType       string   `json:"mapType,omitempty"`
	Discriminator bool     `json:"discriminator,omitempty"`
}
