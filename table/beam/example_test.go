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

// Two files have five different lines. Prism, which runs in this process, builds tables of
// about two keys each. The directory example has a program for all runners.
func ExampleWrite() {
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
	if _, err := setio.Write(s, dir, files, setio.Options{EntriesPerTable: 2}); err != nil {
		log.Fatal(err)
	}
	if _, err := prism.Execute(context.Background(), p); err != nil {
		log.Fatal(err)
	}

	f, err := os.Open(filepath.Join(dir, set.ManifestName))
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	m, err := set.ReadManifest(f)
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range m.Tables {
		fmt.Printf("%s… %d entries, %s to %s\n", t.Name[:6], t.Entries, t.Smallest, t.Largest)
	}
	// Output:
	// 000000… 1 entries, apple to apple
	// 000001… 2 entries, banana to cherry
	// 000002… 2 entries, damson to elder
}
