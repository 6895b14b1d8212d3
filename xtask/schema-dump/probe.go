package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// wireTag is the number and wire type of one encoded field.
type wireTag struct {
	num  int
	wire string
}

// encode runs the generated encoder and returns the top-level tags in order.
func encode(v reflect.Value) ([]wireTag, error) {
	m, ok := v.Interface().(protoMarshaler)
	if !ok {
		return nil, errors.New("no generated protobuf code")
	}
	data, err := m.Marshal()
	if err != nil {
		return nil, err
	}
	return readTags(data)
}

// readTags splits encoded bytes into their top-level fields.
func readTags(data []byte) ([]wireTag, error) {
	var tags []wireTag
	for len(data) > 0 {
		key, n := binary.Uvarint(data)
		if n <= 0 {
			return nil, errors.New("bad key")
		}
		data = data[n:]
		size, wire := 0, ""
		value, n := binary.Uvarint(data)
		switch key & 7 {
		case 0:
			size, wire = n, "varint"
		case 1:
			size, wire = 8, "fixed64"
		case 2:
			size, wire = n+int(value), "bytes"
		default:
			return nil, fmt.Errorf("wire type %d", key&7)
		}
		if size <= 0 || size > len(data) {
			return nil, errors.New("short field")
		}
		data = data[size:]
		tags = append(tags, wireTag{int(key >> 3), wire})
	}
	return tags, nil
}

// fill sets a value to something that is not zero, with levels of structs
// below it.
func fill(v reflect.Value, levels int) {
	switch v.Interface().(type) {
	case metav1.Time:
		v.Set(reflect.ValueOf(metav1.NewTime(time.Unix(1, 0))))
		return
	case metav1.MicroTime:
		v.Set(reflect.ValueOf(metav1.NewMicroTime(time.Unix(1, 1000))))
		return
	case resource.Quantity:
		v.Set(reflect.ValueOf(resource.MustParse("1")))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(1)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), levels)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), levels)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, levels)
		fill(value, levels)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := 0; i < v.NumField() && levels > 0; i++ {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), levels-1)
			}
		}
	}
}
