package set_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// Two tables in a directory are queried as one set.
func ExampleOpenDir() {
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
	for _, name := range []string{"damson", "fig"} {
		_, err := fruits.Get(ctx, []byte(name))
		fmt.Println(name, !errors.Is(err, table.ErrNotFound))
	}
	it := fruits.NewIter(ctx, &table.IterOptions{Lower: []byte("b"), Upper: []byte("d")})
	defer it.Close()
	for e, err := range it.All() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s\n", e.Key)
	}
	// Output:
	// damson true
	// fig false
	// banana
	// cherry
}

// writeFruits writes a table for each of the ranges, and the manifest.
func writeFruits(dir string, ranges ...[]string) error {
	var m set.Manifest
	for _, keys := range ranges {
		t, err := writeKeys(filepath.Join(dir, keys[0]+".ldb"), keys)
		if err != nil {
			return err
		}
		m.Tables = append(m.Tables, t)
	}
	d := set.NewDir(dir)
	return errors.Join(d.WriteManifest(&m), d.Close())
}
