package upload

import (
	"fmt"
	"path/filepath"

	"github.com/sievetable/sievetable/table/set"
)

// rename changes the names of a manifest's tables to those in a store, which are their SHA-256. It returns a map from
// the new names to the old. Two layers may contain the same table: then the second name gets a number.
func rename(m *set.Manifest) (files map[string]string) {
	files = map[string]string{}
	for t := range m.All() {
		ext := ".ldb"
		if filepath.Ext(t.Name) == ".filter" { // a table that contains only a filter
			ext = ".filter"
		}
		name := t.SHA256 + ext
		for i := 2; files[name] != ""; i++ {
			name = fmt.Sprintf("%s-%d%s", t.SHA256, i, ext)
		}
		files[name] = t.Name
		t.Name = name
	}
	return files
}
