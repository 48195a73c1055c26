package database_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/merge"
)

// exampleDatabase writes a database with a deleted key and an older version, as an engine leaves them.
func exampleDatabase() (dir string) {
	parent, err := os.MkdirTemp("", "example")
	check(err)
	dir = filepath.Join(parent, "capitals")
	w, err := database.Create(dir, nil)
	check(err)
	defer w.Abort() // does nothing after Close
	for _, version := range []struct {
		key      string
		sequence uint64
		kind     internalkey.Kind
		value    string
	}{
		{"France", 3, internalkey.Set, "Paris"},
		{"Kazakhstan", 5, internalkey.Set, "Astana"}, // the newest version comes first
		{"Kazakhstan", 1, internalkey.Set, "Almaty"},
		{"Peru", 2, internalkey.Set, "Lima"},
		{"Yugoslavia", 6, internalkey.Delete, ""},
		{"Yugoslavia", 4, internalkey.Set, "Belgrade"},
	} {
		check(w.AppendInternal(internalkey.Key{UserKey: []byte(version.key), Sequence: version.sequence, Kind: version.kind}, []byte(version.value)))
	}
	check(w.Close())
	return dir
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Read a LevelDB database, even while an engine writes to it.
func Example() {
	dir := exampleDatabase()
	defer os.RemoveAll(filepath.Dir(dir))

	db, err := database.Open(dir, nil)
	check(err)
	defer db.Close()
	capital, err := db.Get([]byte("Kazakhstan"))
	check(err)
	fmt.Printf("%s\n", capital)
	_, err = db.Get([]byte("Yugoslavia")) // it was deleted
	fmt.Println(errors.Is(err, table.ErrNotFound))

	for e, err := range db.All(&table.IterOptions{Lower: []byte("K")}) {
		check(err)
		fmt.Printf("%s: %s\n", e.Key, e.Value)
	}
	// Output:
	// Astana
	// true
	// Kazakhstan: Astana
	// Peru: Lima
}

// Read an older state of the database, if the engine has kept the old versions.
func ExampleDB_At() {
	dir := exampleDatabase()
	defer os.RemoveAll(filepath.Dir(dir))
	db, err := database.Open(dir, nil)
	check(err)
	defer db.Close()

	for e, err := range db.At(4).All(nil) {
		check(err)
		fmt.Printf("%s: %s\n", e.Key, e.Value)
	}
	fmt.Println("the last of", db.LastSequence(), "writes:")
	for e, err := range db.All(nil) {
		check(err)
		fmt.Printf("%s: %s\n", e.Key, e.Value)
	}
	// Output:
	// France: Paris
	// Kazakhstan: Almaty
	// Peru: Lima
	// Yugoslavia: Belgrade
	// the last of 6 writes:
	// France: Paris
	// Kazakhstan: Astana
	// Peru: Lima
}

// Open a database in any file system whose files have ReadAt, such as embed.FS.
func ExampleOpenFS() {
	dir := exampleDatabase()
	defer os.RemoveAll(filepath.Dir(dir))

	db, err := database.OpenFS(os.DirFS(filepath.Dir(dir)), "capitals", nil)
	check(err)
	defer db.Close()
	for _, t := range db.Tables() {
		fmt.Printf("level %d: %s has the keys %v to %v\n", t.Level, t.Name, t.Smallest, t.Largest)
	}
	// Output:
	// level 6: 000002.ldb has the keys "France" @ 3 : set to "Yugoslavia" @ 4 : set
}

// Look up many keys, in any order, and print those that are present.
func ExampleView_GetMany() {
	dir := exampleDatabase()
	defer os.RemoveAll(filepath.Dir(dir))
	db, err := database.Open(dir, nil)
	check(err)
	defer db.Close()

	keys := [][]byte{[]byte("Peru"), []byte("Atlantis"), []byte("France")}
	capitals := make([]string, len(keys))
	check(db.GetMany(context.Background(), keys, nil, func(i int, value []byte) error {
		capitals[i] = string(value)
		return nil
	}))
	fmt.Printf("%q\n", capitals)
	// Output:
	// ["Lima" "" "Paris"]
}

// Open a database without a missing table. Lookups of keys in its range return a HiddenError.
func ExampleOptions_onLoss() {
	dir := exampleDatabase()
	defer os.RemoveAll(filepath.Dir(dir))
	db, err := database.Open(dir, nil)
	check(err)
	check(os.Remove(filepath.Join(dir, db.Tables()[0].Name)))
	check(db.Close())

	report := func(l table.Loss) bool {
		fmt.Printf("lost %s: keys from %s to %s\n", filepath.Base(l.File), l.From, l.To)
		return true
	}
	db, err = database.Open(dir, &database.Options{OnLoss: report})
	check(err)
	defer db.Close()
	_, err = db.Get([]byte("Peru"))
	var hidden *merge.HiddenError
	fmt.Println(errors.As(err, &hidden), errors.Is(err, table.ErrNotFound))
	_, err = db.Get([]byte("Zambia")) // which is outside of the table's range
	fmt.Println(errors.Is(err, table.ErrNotFound))
	// Output:
	// lost 000002.ldb: keys from France to Yugoslavia
	// true false
	// true
}
