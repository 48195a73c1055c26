package upload

import (
	"fmt"
	"path/filepath"

	"github.com/sievetable/sievetable/table/set"
)

// rename returns the manifest of a set as it is in a store, where a table has its SHA-256 for a name,
// and the names of the files, by those of the objects. Layers can have the same table twice, such as one
// that adds what another has removed: then the second name has a number too.
func rename(m *set.Manifest) (renamed *set.Manifest, files map[string]string) {
	files = map[string]string{}
	all := func(tables []set.Table) (named []set.Table) {
		for _, t := range tables {
			name := objectName(t, files)
			files[name] = t.Name
			t.Name = name
			named = append(named, t)
		}
		return named
	}
	renamed = &set.Manifest{Tables: all(m.Tables)}
	for _, l := range m.Layers {
		renamed.Layers = append(renamed.Layers, set.Layer{Tables: all(l.Tables), Removals: all(l.Removals)})
	}
	return renamed, files
}

// objectName returns the name of a table's object, which is none of those that are taken. As
// everywhere, .filter is the extension of a table that has a filter only.
func objectName(t set.Table, taken map[string]string) string {
	ext := ".ldb"
	if filepath.Ext(t.Name) == ".filter" {
		ext = ".filter"
	}
	name := t.SHA256 + ext
	for i := 2; ; i++ {
		if _, ok := taken[name]; !ok {
			return name
		}
		name = fmt.Sprintf("%s-%d%s", t.SHA256, i, ext)
	}
}
