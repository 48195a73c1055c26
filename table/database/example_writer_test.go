package database_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
)

// Create writes sorted entries to a new database, which LevelDB and goleveldb can open.
func ExampleCreate() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	w, err := database.Create(filepath.Join(dir, "capitals"), &database.WriterOptions{
		Table: table.WriterOptions{FilterPolicy: filter.NewBloom(10)},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer w.Abort() // does nothing after Close
	for _, pair := range [][2]string{{"France", "Paris"}, {"Peru", "Lima"}, {"Portugal", "Lisbon"}} {
		if err := w.Append([]byte(pair[0]), []byte(pair[1])); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	files, err := os.ReadDir(filepath.Join(dir, "capitals"))
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range files {
		fmt.Println(f.Name())
	}
	// Output:
	// 000002.ldb
	// CURRENT
	// MANIFEST-000001
}
