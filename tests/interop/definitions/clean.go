package main

import (
	"regexp"
	"sort"
)

// age is the text of a short time.
var age = regexp.MustCompile(`^[0-9]{1,2}s$`)

// sortByText sorts a list whose order depends on the time of writes or of a map.
func sortByText(value any) {
	list, _ := value.([]any)
	sort.SliceStable(list, func(i, j int) bool { return encode(list[i]) < encode(list[j]) })
}

// perServer are fields whose values two servers never share.
var perServer = map[string]bool{
	"uid": true, "resourceVersion": true, "creationTimestamp": true, "lastTransitionTime": true, "time": true, "deletionTimestamp": true,
}

// clean returns an object without the fields that two servers never share. Only those of metadata, conditions and managed fields are left out.
func clean(value any) any {
	object, isObject := value.(map[string]any)
	if !isObject {
		return value
	}
	result := map[string]any{}
	for name, it := range object {
		switch name {
		case "metadata":
			result[name] = without(it, true)
		case "rows", "items":
			list, _ := it.([]any)
			var rows []any
			for _, row := range list {
				rows = append(rows, cleanRow(row))
			}
			result[name] = rows
		case "details":
			result[name] = without(it, false)
		default:
			result[name] = it
		}
	}
	return result
}

// cleanRow cleans an item of a list, or the object of a row.
func cleanRow(row any) any {
	object, _ := row.(map[string]any)
	if nested, is := object["object"]; is {
		result := map[string]any{}
		for name, it := range object {
			result[name] = it
		}
		result["object"] = clean(nested)
		result["cells"] = ageless(object["cells"])
		return result
	}
	return clean(row)
}

// ageless returns the cells of a row without ages of a few seconds.
func ageless(cells any) any {
	list, _ := cells.([]any)
	result := append([]any{}, list...)
	for i, it := range result {
		if text, is := it.(string); is && age.MatchString(text) {
			result[i] = "AGE"
		}
	}
	return result
}

// without removes such fields at every depth if it is deep, else only here.
func without(value any, deep bool) any {
	switch value := value.(type) {
	case map[string]any:
		result := map[string]any{}
		for name, it := range value {
			if perServer[name] {
				continue
			}
			if deep && name != "annotations" && name != "labels" {
				it = without(it, deep)
			}
			// The order of conditions is that in which several controllers add them.
			if name == "managedFields" || name == "conditions" {
				sortByText(it)
			}
			result[name] = it
		}
		return result
	case []any:
		result := []any{}
		for _, it := range value {
			result = append(result, without(it, deep))
		}
		return result
	}
	return value
}
