package leveldb

import (
	"fmt"
	"os/exec"
)

// A Database is a program that writes and reads whole databases.
type Database struct{ path string }

// BuildDatabase compiles the program into dir.
func BuildDatabase(dir string) (*Database, error) {
	path, err := compile(dir, "dbtool", "-lleveldb")
	return &Database{path}, err
}

// Make is to make a database of n keys in dir, some of which are deleted again, and to
// close it. The last writes stay in its log.
func (d *Database) Make(dir string, n int) *exec.Cmd {
	return exec.Command(d.path, "make", dir, fmt.Sprint(n))
}

// Key returns key i of those that Make writes in this order.
func Key(i int) string {
	x := uint64(i) + 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return fmt.Sprintf("%016x", x^x>>31)
}

// Deleted reports whether Make deletes key i.
func Deleted(i int) bool { return i%50 == 24 }

// Get is to print the key's value as sst get does. Its status is 1 if there is none.
func (d *Database) Get(dir, key string) *exec.Cmd { return exec.Command(d.path, "get", dir, key) }

// Scan is to print the pairs as sst scan does: limit of them, or all if it is 0.
func (d *Database) Scan(dir string, limit int) *exec.Cmd {
	return exec.Command(d.path, "scan", dir, fmt.Sprint(limit))
}

// Dump is to print the pairs as sst scan -f hex does.
func (d *Database) Dump(dir string) *exec.Cmd { return exec.Command(d.path, "dump", dir) }

// Churn is to open the database in dir, or a new one, to print a line when that is done,
// and to do with it what the Ops of standard input say.
func (d *Database) Churn(dir string, reuseLogs bool) *exec.Cmd {
	reuse := 0
	if reuseLogs {
		reuse = 1
	}
	return exec.Command(d.path, "churn", dir, fmt.Sprint(reuse))
}

// Judge is to open the database in dir, whose comparator has that name, with paranoid checks, to
// print it as Dump does, to do the Puts and Deletes of standard input, to compact it, and to close it;
// then to open it again, and to print a line "again" and the pairs that it has by then.
func (d *Database) Judge(dir, comparator string) *exec.Cmd {
	return exec.Command(d.path, "judge", dir, comparator)
}

// Repair is to repair the database in dir, and to print its pairs as Dump does, as many as can be read.
func (d *Database) Repair(dir string) *exec.Cmd { return exec.Command(d.path, "repair", dir) }
