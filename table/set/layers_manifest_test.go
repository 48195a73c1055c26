package set_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/table/set"
)

// layeredFile is the file of layered.
const layeredFile = `{"format":"sievetable-set","version":3,"tables":1,"layers":2}
{"name":"base","size":100,"sha256":"0000000000000000000000000000000000000000000000000000000000000000","entries":5,"smallest":"YQ==","largest":"eg==","tailSize":60,"tailSum":"1111111111111111111111111111111111111111111111111111111111111111"}
{"layer":1,"tables":1,"removals":1}
{"name":"added","size":100,"sha256":"0000000000000000000000000000000000000000000000000000000000000000","entries":5,"smallest":"YQ==","largest":"eg==","tailSize":60,"tailSum":"1111111111111111111111111111111111111111111111111111111111111111"}
{"name":"removed","size":100,"sha256":"0000000000000000000000000000000000000000000000000000000000000000","entries":5,"smallest":"YQ==","largest":"eg==","tailSize":60,"tailSum":"1111111111111111111111111111111111111111111111111111111111111111"}
{"layer":2,"tables":0,"removals":0}
`

// layered is a manifest with layers, whose tables overlap those of other layers.
func layered() *set.Manifest {
	line := func(name string) []set.Table {
		return []set.Table{{Name: name, Size: 100, SHA256: strings.Repeat("0", 64), Entries: 5, Smallest: []byte("a"), Largest: []byte("z"), TailSize: 60, TailSum: strings.Repeat("1", 64)}}
	}
	return &set.Manifest{Tables: line("base"), Layers: []set.Layer{{Tables: line("added"), Removals: line("removed")}, {}}}
}

func TestManifestOfLayers(t *testing.T) {
	t.Parallel()
	checkDiff(t, "the file", layeredFile, writeManifest(t, layered()))
	checkRead(t, layeredFile, layered())
}

// If an iteration stops early, it has seen the tables in file order.
func TestManifestAll(t *testing.T) {
	t.Parallel()
	m := layered()
	var names []string
	for table := range m.All() {
		names = append(names, table.Name)
		if table.Name == "removed" {
			break
		}
	}
	checkDiff(t, "names", []string{"base", "added", "removed"}, names)
}

// Errors in a layer name its line.
func TestManifestOfLayersRefuses(t *testing.T) {
	t.Parallel()
	lines := strings.SplitAfter(layeredFile, "\n")
	replaced := func(old, new string) string { return strings.Replace(layeredFile, old, new, 1) }
	for _, tt := range []struct{ name, file, want string }{
		{"layers in version 2", replaced(`"version":3`, `"version":2`), `line 1 of the manifest: unknown field "layers"`},
		{"no number of layers", replaced(`,"layers":2`, ""), `line 1 of the manifest: missing field "layers"`},
		{"cut before a layer", strings.Join(lines[:5], ""), `line 6 of the manifest: missing layer 2`},
		{"cut in a layer", strings.Join(lines[:4], ""), `line 5 of the manifest: only 0 of 1 tables (line 3)`},
		{"a layer too many", layeredFile + lines[5], `line 7 of the manifest: more lines than expected`},
		{"tables < 0", `{"format":"sievetable-set","version":2,"tables":-1}` + "\n", `line 1 of the manifest: negative number -1`},
		{"layers < 0", `{"format":"sievetable-set","version":3,"tables":0,"layers":-2}`, `line 1 of the manifest: negative number -2`},
		{"removals < 0", strings.Join(lines[:5], "") + `{"layer":2,"tables":0,"removals":-1}`, `line 6 of the manifest: negative number -1`},
		{"another number", replaced(`"layer":2`, `"layer":1`), `line 6 of the manifest: layer is 1, not 2`},
		{"no removals", replaced(`,"removals":0`, ""), `line 6 of the manifest: missing field "removals"`},
		{"a table in place of a layer", strings.Join(lines[:2], "") + strings.Join(lines[3:], ""), `line 3 of the manifest: unknown field "name"`},
		{"a name twice", replaced(`"removed"`, `"BASE"`), `line 5 of the manifest: name "BASE" is also on line 2`},
		{"an impossible table", replaced(`{"name":"added","size":100`, `{"name":"added","size":1`), `line 4 of the manifest: size is 1`},
	} {
		t.Run(tt.name, func(t *testing.T) { checkRefused(t, tt.file, tt.want) })
	}
	overlapping := layered()
	overlapping.Layers[1].Removals = append(overlapping.Layers[1].Removals, overlapping.Tables[0], overlapping.Tables[0])
	overlapping.Layers[1].Removals[0].Name, overlapping.Layers[1].Removals[1].Name = "one", "two"
	var file bytes.Buffer
	err := set.WriteManifest(&file, overlapping)
	checkError(t, "WriteManifest", err, nil, `line 8 of the manifest: smallest is "a", not above "z"`)
}
