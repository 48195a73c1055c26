package set_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/sievetable/sievetable/table/set"
)

// A layer contains a day's changes. The other tables of the set stay open.
func ExampleLayer() {
	dir := makeFruits([]string{"apple", "banana"}, []string{"cherry", "damson", "elder"})
	defer os.RemoveAll(dir)
	ctx := context.Background()
	fruits, err := set.OpenDir(ctx, dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer fruits.Close()

	store := &set.DirStore{Dir: dir}
	b, err := set.NewBuilder(ctx, store, &set.BuilderOptions{Layer: true})
	if err != nil {
		log.Fatal(err)
	}
	defer b.Abort() // does nothing after Commit
	if err := errors.Join(b.Append([]byte("fig"), nil), b.Remove([]byte("banana")), b.Remove([]byte("damson"))); err != nil {
		log.Fatal(err)
	}
	if _, err := b.Commit(); err != nil {
		log.Fatal(err)
	}
	m, err := set.LoadManifest(ctx, store, set.ManifestName)
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
