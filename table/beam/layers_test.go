package setio_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"

	setio "github.com/sievetable/sievetable/table/beam"
)

// writeLayer writes pairs from "key=value" as a set in dir or, if removals is not nil, as a layer.
func writeLayer(t *testing.T, dir string, pairs, removals []string, o setio.Options) error {
	t.Helper()
	p, s, col := ptest.CreateList(pairs)
	if removals != nil {
		o.Layer, o.Removals = true, beam.CreateList(s, removals)
	}
	_, err := setio.Write(s, dir, beam.ParDo(s, stringPair, col), o)
	noError(t, err)
	return ptest.Run(p)
}

// Layers add entries, replace values and remove keys. If a layer has the tables of an older one, it gets copies.
func TestLayers(t *testing.T) {
	dir := t.TempDir()
	o := setio.Options{EntriesPerTable: 2}
	for i, step := range []struct {
		pairs, removals, want []string
		layers, files         int
	}{
		{[]string{"a=1", "b=1", "c=1"}, nil, []string{"a=1", "b=1", "c=1"}, 0, 3},
		{[]string{"b=2", "d=2", "e=2"}, []string{"a", "x"}, []string{"b=2", "c=1", "d=2", "e=2"}, 1, 7},
		{[]string{"a=1", "b=1", "c=1"}, []string{}, []string{"a=1", "b=1", "c=1", "d=2", "e=2"}, 2, 9},
		{[]string{"a=1", "b=1", "c=1"}, []string{}, []string{"a=1", "b=1", "c=1", "d=2", "e=2"}, 2, 9}, // done again
		{[]string{}, []string{"c", "e"}, []string{"a=1", "b=1", "d=2"}, 3, 10},
		{[]string{}, []string{}, []string{"a=1", "b=1", "d=2"}, 3, 10},
	} {
		if i == 4 {
			o.Writer = "never c" // removing c is still allowed
		}
		if err := writeLayer(t, dir, step.pairs, step.removals, o); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		checkDiff(t, fmt.Sprintf("entries after step %d", i), step.want, scan(t, dir))
		if err := setio.Sweep(t.Context(), dir); err != nil {
			t.Error(err)
		}
		m, _ := readSet(t, dir)
		if names := list(t, dir); len(m.Layers) != step.layers || len(names) != step.files {
			t.Errorf("%d layers and files %q after step %d, want %d and %d", len(m.Layers), names, i, step.layers, step.files)
		}
	}
}

// If a layer cannot be added, the pipeline fails, and the set stays unchanged.
func TestLayersThatDoNotFit(t *testing.T) {
	dir, filters := failDir(t), failDir(t)
	noError(t, writeLayer(t, dir, []string{"a=1"}, nil, setio.Options{}))
	noError(t, build(filters, writeContents(t, []string{"a\n"}), setio.Options{Writer: "filters only"}))
	for name, test := range map[string]struct {
		dir             string
		pairs, removals []string
		o               setio.Options
		want            string
	}{
		"added and removed": {dir, []string{"b=1"}, []string{"b"}, setio.Options{}, `key "b" is both added and removed by the layer`},
		"no set":            {failDir(t), []string{"b=1"}, []string{"c"}, setio.Options{}, "no set to add a layer to"},
		"filters only":      {filters, []string{"b="}, []string{"c"}, setio.Options{}, "keys cannot be removed from a set that contains only filters"},
	} {
		t.Run(name, func(t *testing.T) {
			before := list(t, test.dir)
			err := writeLayer(t, test.dir, test.pairs, test.removals, test.o)
			checkFailed(t, err, test.want)
			var after []string
			for _, name := range list(t, test.dir) {
				if !strings.HasSuffix(name, ".lease") {
					after = append(after, name)
				}
			}
			checkDiff(t, "files", before, after)
		})
	}
}
