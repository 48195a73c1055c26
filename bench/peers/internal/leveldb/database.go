package leveldb

import (
	"bytes"
	"encoding/binary"
	"fmt"
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

// Dump is to print the pairs as sst scan -f hex does.
func (d *Database) Dump(dir string) *exec.Cmd { return exec.Command(d.path, "dump", dir) }

// Live makes a database without compression in dir and does the ops with it.
func (d *Database) Live(dir string, ops []history.Op) (answers []history.Answer, err error) {
	var in []byte
	for _, op := range ops {
		in = op.Append(in)
	}
	out, err := cxxtool.Run(d.path, in, "live", dir)
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
