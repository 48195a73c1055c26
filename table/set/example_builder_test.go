package set_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// A Builder writes a set, with two entries per table. A second one adds a layer, which adds a key and removes one.
func ExampleBuilder() {
	parent, err := os.MkdirTemp("", "set")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(parent)
	store := &set.DirStore{Dir: filepath.Join(parent, "fruits")}

	o := &set.BuilderOptions{EntriesPerTable: 2, Writer: &table.WriterOptions{FilterPolicy: filter.NewBloom(10)}}
	if err := build(store, o, []string{"apple", "banana", "cherry", "damson"}, nil); err != nil {
		log.Fatal(err)
	}
	o.Layer = true
	if err := build(store, o, []string{"fig"}, []string{"banana"}); err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	fruits, err := set.OpenDir(ctx, store.Dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer fruits.Close()
	for t := range fruits.Manifest().All() {
		fmt.Printf("%s: %d entries, from %s\n", t.Name[:6], t.Entries, t.Smallest)
	}
	it := fruits.NewIter(ctx, nil)
	defer it.Close()
	for e, err := range it.All() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s ", e.Key)
	}
	// Output:
	// 000001: 2 entries, from apple
	// 000002: 2 entries, from cherry
	// 000003: 1 entries, from fig
	// 000004: 1 entries, from banana
	// apple cherry damson fig
}

// build writes a set or a layer of sorted keys.
func build(store set.Store, o *set.BuilderOptions, keys, removed []string) error {
	b, err := set.NewBuilder(context.Background(), store, o)
	if err != nil {
		return err
	}
	defer b.Abort() // does nothing after Commit
	for _, key := range keys {
		if err := b.Append([]byte(key), nil); err != nil {
			return err
		}
	}
	for _, key := range removed {
		if err := b.Remove([]byte(key)); err != nil {
			return err
		}
	}
	_, err = b.Commit()
	return err
}
