package upload

import (
	"fmt"
	"path/filepath"

	"github.com/sievetable/sievetable/table/set"
)

// rename gives the tables of a manifest the names that they have in a store, which are their SHA-256. It returns the names
// of the files, by those in the store. Layers can have the same table twice, such as one that adds what another has
// removed: then the second name has a number too.
func rename(m *set.Manifest) (files map[string]string) {
	files = map[string]string{}
	for t := range m.All() {
		ext := ".ldb"
		if filepath.Ext(t.Name) == ".filter" { // as everywhere, of a table that has a filter only
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
