package setio_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	setio "github.com/sievetable/sievetable/table/beam"
	"github.com/sievetable/sievetable/table/set"
)

// Build tables of about two keys each from the lines of two files, with the runner Prism in this process. The directory
// example contains a program for all runners.
func ExampleWriteLines() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "setio")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	var names []string
	for name, lines := range map[string]string{"1.txt": "elder\nbanana\napple\n", "2.txt": "damson\nbanana\ncherry\n"} {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(lines), 0o666); err != nil {
			log.Fatal(err)
		}
		names = append(names, name)
	}

	p, s := beam.NewPipelineWithRoot()
	files := beam.CreateList(s, names)
	if _, err := setio.WriteLines(s, dir, files, setio.Options{EntriesPerTable: 2}); err != nil {
		log.Fatal(err)
	}
	if _, err := prism.Execute(ctx, p); err != nil {
		log.Fatal(err)
	}

	fruit, err := set.OpenDir(ctx, dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer fruit.Close()
	for _, t := range fruit.Manifest().Tables {
		fmt.Printf("%s… %d entries, %s to %s\n", t.Name[:6], t.Entries, t.Smallest, t.Largest)
	}
	_, err = fruit.Get(ctx, []byte("cherry"))
	fmt.Println("cherry:", err)
	_, err = fruit.Get(ctx, []byte("chestnut"))
	fmt.Println("chestnut:", err)
	// Output:
	// 000001… 1 entries, apple to apple
	// 000002… 2 entries, banana to cherry
	// 000003… 2 entries, damson to elder
	// cherry: <nil>
	// chestnut: table: key not found
}

// Build a set of pairs, then add a layer that adds a pair and removes a key.
func ExampleWrite() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "setio")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	p, s := beam.NewPipelineWithRoot()
	pairs := beam.ParDo(s, stringPair, beam.Create(s, "apple=green", "banana=yellow"))
	if _, err := setio.Write(s, dir, pairs, setio.Options{}); err != nil {
		log.Fatal(err)
	}
	if _, err := prism.Execute(ctx, p); err != nil {
		log.Fatal(err)
	}

	p, s = beam.NewPipelineWithRoot()
	pairs = beam.ParDo(s, stringPair, beam.Create(s, "cherry=red"))
	gone := beam.Create(s, "apple")
	if _, err := setio.Write(s, dir, pairs, setio.Options{Layer: true, Removals: gone}); err != nil {
		log.Fatal(err)
	}
	if _, err := prism.Execute(ctx, p); err != nil {
		log.Fatal(err)
	}

	fruit, err := set.OpenDir(ctx, dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer fruit.Close()
	it := fruit.NewIter(ctx, nil)
	defer it.Close()
	for e, err := range it.All() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %s\n", e.Key, e.Value)
	}
	// Output:
	// banana: yellow
	// cherry: red
}
