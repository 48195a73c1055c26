package leveldb

import (
	"bytes"
	"encoding/binary"
	"os/exec"

	"github.com/sievetable/sievetable/bench/peers/internal/cxxtool"
	"github.com/sievetable/sievetable/bench/peers/internal/history"
)

// A Database is a program that writes and reads whole databases.
type Database struct{ path string }

// BuildDatabase compiles the program into dir.
func BuildDatabase(dir string) (*Database, error) {
	path, err := compile(dir, "dbtool", "-lleveldb")
	return &Database{path}, err
}

// Dump returns the pairs as sst scan -f hex prints them.
func (d *Database) Dump(dir string) ([]byte, error) { return cxxtool.Run(d.path, nil, "dump", dir) }

// Live makes a database without compression in dir and does the ops with it.
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

// Churn is to open the database in dir, or a new one, to print a line when that is done,
// and to do with it what the Ops of standard input say.
func (d *Database) Churn(dir string, reuseLogs bool) *exec.Cmd {
	return exec.Command(d.path, "churn", dir, oneIf(reuseLogs))
}

// Judge opens the database in dir, whose comparator has that name, with paranoid checks, dumps it, does the Puts and
// Deletes, compacts it and closes it. Then it opens and dumps it again, after a line "again".
func (d *Database) Judge(dir, comparator string, ops []history.Op) ([]byte, error) {
	return cxxtool.Run(d.path, history.Encode(ops), "judge", dir, comparator)
}

// Repair repairs the database in dir, and dumps it. After an error, it returns the pairs that could be read.
func (d *Database) Repair(dir string) ([]byte, error) { return cxxtool.Run(d.path, nil, "repair", dir) }
