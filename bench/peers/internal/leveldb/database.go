package leveldb

import (
	"bytes"
	"encoding/binary"
	"os/exec"

	"github.com/sievetable/sievetable/bench/peers/internal/cxxtool"
	"github.com/sievetable/sievetable/bench/peers/internal/history"
)

// A Database is a compiled program that writes and reads whole databases.
type Database struct{ path string }

// BuildDatabase compiles the program into dir.
func BuildDatabase(dir string) (*Database, error) {
	path, err := compile(dir, "dbtool", "-lleveldb")
	return &Database{path}, err
}

// Dump returns the pairs in the format of sst scan -f hex.
func (d *Database) Dump(dir string) ([]byte, error) { return cxxtool.Run(d.path, nil, "dump", dir) }

// Live creates an uncompressed database in dir and performs the ops.
func (d *Database) Live(dir string, ops []history.Op) (answers []history.Answer, err error) {
	out, err := cxxtool.Run(d.path, history.Encode(ops), "live", dir)
	if err != nil {
		return nil, err
	}
	for out = bytes.TrimPrefix(out, []byte("ready\n")); len(out) > 0; {
		found, n := binary.LittleEndian.Uint32(out), binary.LittleEndian.Uint32(out[4:])
		out = out[8:]
		answers = append(answers, history.Answer{Found: found == 1, Value: out[:n]})
		out = out[n:]
	}
	return answers, nil
}

// Churn returns a command that opens or creates the database in dir, prints a line, and performs the Ops on its
// standard input.
func (d *Database) Churn(dir string, reuseLogs bool) *exec.Cmd {
	return exec.Command(d.path, "churn", dir, oneIf(reuseLogs))
}

// Judge opens the database in dir, which has the given comparator, with paranoid checks, dumps it, performs the
// Puts and Deletes, compacts it and closes it. Then it opens and dumps it again, after a line "again".
func (d *Database) Judge(dir, comparator string, ops []history.Op) ([]byte, error) {
	return cxxtool.Run(d.path, history.Encode(ops), "judge", dir, comparator)
}

// Repair repairs the database in dir, and dumps it. After an error, it returns the pairs that could be read.
func (d *Database) Repair(dir string) ([]byte, error) { return cxxtool.Run(d.path, nil, "repair", dir) }
