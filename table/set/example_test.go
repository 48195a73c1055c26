package set_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// Write two tables, then the manifest that lists them.
func Example() {
	dir, err := os.MkdirTemp("", "set")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	var m set.Manifest
	for _, keys := range [][]string{{"apple", "banana"}, {"cherry", "damson", "elder"}} {
		t, err := writeKeys(filepath.Join(dir, keys[0]+".ldb"), keys)
		if err != nil {
			log.Fatal(err)
		}
		m.Tables = append(m.Tables, t)
	}
	d := set.NewDir(dir)
	defer d.Close()
	if err := d.WriteManifest(&m); err != nil {
		log.Fatal(err)
	}
	for _, t := range m.Tables {
		fmt.Printf("%s: %d entries, %s to %s\n", t.Name, t.Entries, t.Smallest, t.Largest)
	}
	// Output:
	// apple.ldb: 2 entries, apple to banana
	// cherry.ldb: 3 entries, cherry to elder
}

// writeKeys writes a table of keys without values, and returns its line in the manifest.
func writeKeys(path string, keys []string) (set.Table, error) {
	f, err := os.Create(path)
	if err != nil {
		return set.Table{}, err
	}
	defer f.Close()
	w, err := set.NewTableWriter(f, &table.WriterOptions{FilterPolicy: filter.NewBloom(10)})
	if err != nil {
		return set.Table{}, err
	}
	for _, key := range keys {
		if err := w.Append([]byte(key), nil); err != nil {
			return set.Table{}, err
		}
	}
	t, err := w.Close()
	if err != nil {
		return set.Table{}, err
	}
	t.Name = filepath.Base(path)
	return t, f.Close()
}

// Splits divides keys, added in any order, into ranges with about as many keys each.
func ExampleSampler_Splits() {
	s, err := set.NewSampler(0.1) // keeps about every tenth key
	if err != nil {
		log.Fatal(err)
	}
	for i := range 100_000 {
		s.Add(fmt.Appendf(nil, "user%05d", i*7919%100_000))
	}
	for _, split := range s.Splits(4) {
		fmt.Printf("%s\n", split)
	}
	// Output:
	// user25270
	// user49706
	// user74932
}
