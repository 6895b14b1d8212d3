// Command peer runs the storage of upstream's API server on an etcd that Kubist has written to.
//
// It reads a list of resources from standard input (JSON). For each it lists the resource, compares
// every stored value with upstream's encoding of the object, updates every object that it did not
// create while it watches, and copies it, unless it is a definition. It prints a line for each
// object.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	crdinstall "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	crdsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/etcd3"
	"k8s.io/apiserver/pkg/storage/value/encrypt/identity"
	"k8s.io/client-go/kubernetes/scheme"
)

// mark is the annotation of objects that this program has written.
const mark = "peer.kubist.dev/wrote"

// suffix ends the names of its copies.
const suffix = "-peer"

// resource is the location of objects of a kind, below the common prefix.
type resource struct {
	Folder     string `json:"folder"`
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

func main() {
	server := flag.String("etcd", "", "URL of an etcd")
	prefix := flag.String("prefix", "/registry", "what all keys begin with")
	readOnly := flag.Bool("read-only", false, "list and compare only")
	flag.Parse()
	if err := run(*server, *prefix, *readOnly); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(server, prefix string, readOnly bool) error {
	var resources []resource
	if err := json.NewDecoder(os.Stdin).Decode(&resources); err != nil {
		return err
	}
	config := clientv3.Config{Endpoints: []string{server}, DialTimeout: 10 * time.Second}
	client, err := kubernetes.New(config)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, one := range resources {
		peer, err := newPeer(client, prefix, one)
		if err != nil {
			return fmt.Errorf("%s: %w", one.Folder, err)
		}
		if err := peer.run(ctx, readOnly); err != nil {
			return fmt.Errorf("%s: %w", one.Folder, err)
		}
	}
	return nil
}

// peer is upstream's storage of one resource.
type peer struct {
	client  *clientv3.Client
	store   storage.Interface
	codec   runtime.Codec
	folder  string
	prefix  string
	newList func() runtime.Object
	newOne  func() runtime.Object
}

func newPeer(client *kubernetes.Client, prefix string, one resource) (*peer, error) {
	version, err := schema.ParseGroupVersion(one.APIVersion)
	if err != nil {
		return nil, err
	}
	codec, newOne, newList := formOf(version.WithKind(one.Kind))
	versioner := storage.APIObjectVersioner{}
	store, err := etcd3.New(client, nil, codec, newOne, newList, prefix, one.Folder,
		schema.GroupResource{Group: version.Group, Resource: strings.ToLower(one.Kind)},
		identity.NewEncryptCheckTransformer(), etcd3.NewDefaultLeaseManagerConfig(),
		etcd3.NewDefaultDecoder(codec, versioner), versioner)
	if err != nil {
		return nil, err
	}
	return &peer{client.Client, store, codec, one.Folder, prefix, newList, newOne}, nil
}

// formOf returns upstream's storage configuration of a kind, and constructors for objects and
// lists.
func formOf(kind schema.GroupVersionKind) (runtime.Codec, func() runtime.Object, func() runtime.Object) {
	if kind.Group == apiextensions.GroupName {
		definitions := runtime.NewScheme()
		crdinstall.Install(definitions)
		codec := serializer.NewCodecFactory(definitions).
			LegacyCodec(crdsv1beta1.SchemeGroupVersion, crdsv1.SchemeGroupVersion)
		return codec, func() runtime.Object { return &apiextensions.CustomResourceDefinition{} },
			func() runtime.Object { return &apiextensions.CustomResourceDefinitionList{} }
	}
	if !scheme.Scheme.Recognizes(kind) { // A custom resource.
		return unstructured.UnstructuredJSONScheme,
			func() runtime.Object { return &unstructured.Unstructured{} },
			func() runtime.Object { return &unstructured.UnstructuredList{} }
	}
	fresh := func(kind schema.GroupVersionKind) func() runtime.Object {
		return func() runtime.Object {
			object, err := scheme.Scheme.New(kind)
			if err != nil {
				panic(err) // It knows this one.
			}
			return object
		}
	}
	version := kind.GroupVersion()
	factory := serializer.NewCodecFactory(scheme.Scheme)
	encoder := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	codec := factory.CodecForVersions(encoder, factory.UniversalDeserializer(), version, version)
	return codec, fresh(kind), fresh(version.WithKind(kind.Kind + "List"))
}

func (p *peer) run(ctx context.Context, readOnly bool) error {
	list := p.newList()
	everything := storage.ListOptions{Predicate: storage.Everything, Recursive: true}
	if err := p.store.GetList(ctx, p.folder, everything, list); err != nil {
		return fmt.Errorf("list: %w", err)
	}
	version, err := meta.NewAccessor().ResourceVersion(list)
	if err != nil {
		return err
	}
	items, err := meta.ExtractList(list)
	if err != nil {
		return err
	}
	if len(items) == 0 {
		return fmt.Errorf("there is none")
	}
	for _, item := range items {
		if err := p.compare(ctx, item); err != nil {
			return err
		}
	}
	if readOnly {
		return nil
	}
	everything.ResourceVersion = version
	events, err := p.store.Watch(ctx, p.folder, everything)
	if err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	defer events.Stop()
	for _, item := range items {
		if err := p.write(ctx, item, events); err != nil {
			return err
		}
	}
	return nil
}

func (p *peer) key(object metav1.Object) string {
	if object.GetNamespace() == "" {
		return p.folder + "/" + object.GetName()
	}
	return p.folder + "/" + object.GetNamespace() + "/" + object.GetName()
}

// compare compares the stored bytes with upstream's encoding of the object in them.
func (p *peer) compare(ctx context.Context, item runtime.Object) error {
	object, err := meta.Accessor(item)
	if err != nil {
		return err
	}
	key := p.prefix + p.key(object)
	answer, err := p.client.Get(ctx, key)
	if err != nil {
		return err
	}
	if len(answer.Kvs) != 1 {
		return fmt.Errorf("nothing is at %s", key)
	}
	bare := item.DeepCopyObject()
	if err := (storage.APIObjectVersioner{}).PrepareObjectForStorage(bare); err != nil {
		return err
	}
	var ours bytes.Buffer
	if err := p.codec.Encode(bare, &ours); err != nil {
		return err
	}
	if stored := answer.Kvs[0].Value; !bytes.Equal(stored, ours.Bytes()) {
		return fmt.Errorf("%s is stored as\n%q\nupstream's encoding is\n%q", key, stored, ours.Bytes())
	}
	fmt.Println("equal", key)
	return nil
}

// write updates an object and makes a copy of it, and waits for the events of both.
func (p *peer) write(ctx context.Context, item runtime.Object, events watch.Interface) error {
	object, err := meta.Accessor(item)
	if err != nil {
		return err
	}
	if strings.HasSuffix(object.GetName(), suffix) {
		return nil
	}
	update := storage.SimpleUpdate(func(current runtime.Object) (runtime.Object, error) {
		found, err := meta.Accessor(current)
		if err != nil {
			return nil, err
		}
		annotate(found)
		return current, nil
	})
	updated := p.newOne()
	err = p.store.GuaranteedUpdate(ctx, p.key(object), updated, false, nil, update, nil)
	if err != nil {
		return fmt.Errorf("update: %w", err)
	}
	if err := expect(events, watch.Modified, object.GetName()); err != nil {
		return err
	}
	if _, ok := item.(*apiextensions.CustomResourceDefinition); ok {
		// A copy would define the same resource under an invalid name.
		fmt.Println("wrote", p.key(object))
		return nil
	}
	copied := item.DeepCopyObject()
	made, err := meta.Accessor(copied)
	if err != nil {
		return err
	}
	made.SetName(object.GetName() + suffix)
	made.SetUID(types.UID(string(object.GetUID()) + suffix))
	made.SetResourceVersion("")
	annotate(made)
	if err := p.store.Create(ctx, p.key(made), copied, p.newOne(), 0); err != nil {
		return fmt.Errorf("create: %w", err)
	}
	fmt.Println("wrote", p.key(object))
	return expect(events, watch.Added, made.GetName())
}

func annotate(object metav1.Object) {
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[mark] = "yes"
	object.SetAnnotations(annotations)
}

func expect(events watch.Interface, kind watch.EventType, name string) error {
	event := <-events.ResultChan()
	object, err := meta.Accessor(event.Object)
	if err != nil {
		return fmt.Errorf("watch: %v: %w", event, err)
	}
	if event.Type != kind || object.GetName() != name {
		return fmt.Errorf("watch: %s of %s in place of %s of %s", event.Type, object.GetName(), kind, name)
	}
	return nil
}
