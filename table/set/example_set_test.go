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
	dir := makeFruits([]string{"apple", "banana"}, []string{"cherry", "damson", "elder"})
	defer os.RemoveAll(dir)

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

// makeFruits writes a set into a new directory, which it returns.
func makeFruits(ranges ...[]string) (dir string) {
	dir, err := os.MkdirTemp("", "set")
	if err == nil {
		err = writeFruits(dir, ranges...)
	}
	if err != nil {
		log.Fatal(err)
	}
	return dir
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
