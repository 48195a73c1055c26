package goleveldb

import (
	"errors"
	"io"

	"github.com/syndtr/goleveldb/leveldb"
)

// Repair has goleveldb repair the database in dir, and prints its pairs as sst scan -f hex does, as
// many as can be read.
func Repair(dir string, out io.Writer) error {
	db, err := leveldb.RecoverFile(dir, nil)
	if err == nil {
		err = db.Close()
	}
	return errors.Join(err, Dump(dir, out))
}
