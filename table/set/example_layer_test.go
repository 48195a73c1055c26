package set_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/sievetable/sievetable/table/set"
)

// A layer contains a day's changes. The other tables of the set stay open.
func ExampleLayer() {
	dir, err := os.MkdirTemp("", "set")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := writeFruits(dir, []string{"apple", "banana"}, []string{"cherry", "damson", "elder"}); err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	fruits, err := set.OpenDir(ctx, dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer fruits.Close()

	m, err := addLayer(dir, []string{"fig"}, []string{"banana", "damson"})
	if err != nil {
		log.Fatal(err)
	}
	if err := fruits.Swap(ctx, m); err != nil {
		log.Fatal(err)
	}
	it := fruits.NewIter(ctx, nil)
	defer it.Close()
	for e, err := range it.All() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s\n", e.Key)
	}
	// Output:
	// apple
	// cherry
	// elder
	// fig
}

// addLayer writes a table of added keys and one of removed keys, adds them to the manifest as a layer,
// and returns the manifest.
func addLayer(dir string, added, removed []string) (*set.Manifest, error) {
	d := set.NewDir(dir)
	m, err := d.ReadManifest()
	if err != nil {
		return nil, err
	}
	n := len(m.Layers) + 1
	tables, err := writeKeys(filepath.Join(dir, fmt.Sprintf("layer%d-added.ldb", n)), added)
	if err != nil {
		return nil, err
	}
	removals, err := writeKeys(filepath.Join(dir, fmt.Sprintf("layer%d-removed.ldb", n)), removed)
	if err != nil {
		return nil, err
	}
	m.Layers = append(m.Layers, set.Layer{Tables: []set.Table{tables}, Removals: []set.Table{removals}})
	return m, errors.Join(d.WriteManifest(m), d.Close())
}
