package database_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
)

// salvage writes a new database with the readable entries of a corrupt one. Since newer writes can be lost,
// overwritten values and deleted keys can reappear.
func salvage(from, to string) (err error) {
	onLoss := func(l table.Loss) bool {
		fmt.Printf("lost %s: keys from %s to %s\n", filepath.Base(l.File), l.From, l.To)
		return true // continue without it
	}
	db, err := database.Open(from, &database.Options{OnLoss: onLoss})
	if err != nil {
		return err // without a sound CURRENT and MANIFEST, only "sst repair" helps
	}
	defer db.Close()
	w, err := database.Create(to, nil)
	if err != nil {
		return err
	}
	defer w.Abort() // does nothing after Close
	for e, err := range db.All(&table.IterOptions{OnLoss: func(table.Loss) bool { return true }}) {
		if err != nil {
			return err
		}
		if err := w.Append(e.Key, e.Value); err != nil {
			return err
		}
	}
	return w.Close()
}

// A database whose tables are missing or corrupt is copied without the lost entries.
func Example_corruptDatabase() {
	parent, err := os.MkdirTemp("", "example")
	check(err)
	defer os.RemoveAll(parent)
	from, to := filepath.Join(parent, "capitals"), filepath.Join(parent, "salvaged")
	w, err := database.Create(from, &database.WriterOptions{TableSize: 1}) // a table for each key
	check(err)
	defer w.Abort()
	for _, pair := range [][2]string{{"France", "Paris"}, {"Peru", "Lima"}, {"Portugal", "Lisbon"}} {
		check(w.Append([]byte(pair[0]), []byte(pair[1])))
	}
	check(w.Close())
	check(os.Truncate(filepath.Join(from, "000003.ldb"), 10))

	check(salvage(from, to))
	db, err := database.Open(to, nil)
	check(err)
	defer db.Close()
	for e, err := range db.All(nil) {
		check(err)
		fmt.Printf("%s: %s\n", e.Key, e.Value)
	}
	// Output:
	// lost 000003.ldb: keys from Peru to Peru
	// France: Paris
	// Portugal: Lisbon
}
