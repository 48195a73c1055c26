package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/sievetable/sievetable/bench/peers/internal/goleveldb"
	"github.com/sievetable/sievetable/bench/peers/internal/history"
	"github.com/sievetable/sievetable/bench/peers/internal/leveldb"
	"github.com/sievetable/sievetable/internal/wal"
)

// A database is the result of a history of writes by an engine.
type database struct {
	dir      string
	model    model
	engine   string
	obsolete bool // obsolete tables and logs are left, as if the engine was killed before it removed them
	twoLogs  bool // the second one is newer
	stored   stored
}

func (d *database) String() string {
	return fmt.Sprintf("%s, obsolete files %v, two logs %v", d.engine, d.obsolete, d.twoLogs)
}

// engines lists the engines that create databases.
var engines = []string{"goleveldb", "C++ LevelDB"}

// newDatabase creates database i in a new directory in tmp.
func newDatabase(cxx *leveldb.Database, tmp string, i int) (*database, error) {
	rng := rand.New(rand.NewPCG(uint64(i), 41))
	d := &database{
		dir: filepath.Join(tmp, fmt.Sprint("db", i)), model: model{keys: map[string][]version{}},
		engine: engines[i%2], obsolete: i/2%2 == 1, twoLogs: i/4%2 == 1,
	}
	err := d.make(cxx, rng, filepath.Join(tmp, fmt.Sprint("left", i)))
	if err == nil && d.twoLogs {
		err = d.splitLog(rng)
	}
	if err == nil {
		d.stored, err = readStored(d.dir)
	}
	if err != nil {
		return nil, fmt.Errorf("%v: %w", d, err)
	}
	return d, nil
}

// make has the engine open, use and close the database three times. left is a new directory for the files that the
// engine removes.
func (d *database) make(cxx *leveldb.Database, rng *rand.Rand, left string) error {
	if err := os.Mkdir(left, 0o777); err != nil {
		return err
	}
	for n := range 3 {
		if n > 0 && d.engine == "goleveldb" {
			d.model.sequence++ // it skips a sequence number when it opens a database
		}
		if err := d.live(cxx, rng); err != nil {
			return err
		}
		if err := linkFiles(left, d.dir); err != nil {
			return err
		}
	}
	if !d.obsolete {
		return nil
	}
	return d.putBack(rng, left)
}

// live has the engine open the database, write to it, and close it.
func (d *database) live(cxx *leveldb.Database, rng *rand.Rand) error {
	in := bytes.NewReader(history.Encode(d.model.random(rng, 1500+rng.IntN(1500))))
	if d.engine == "goleveldb" {
		return goleveldb.Churn(d.dir, in, io.Discard)
	}
	cmd := cxx.Churn(d.dir, false)
	cmd.Stdin = in
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", cmd.Args, err, out)
	}
	return nil
}

// linkFiles links the tables and logs of a database into another directory.
func linkFiles(to, from string) error {
	for _, pattern := range []string{"*.ldb", "*.log"} {
		names, err := filepath.Glob(filepath.Join(from, pattern))
		if err != nil {
			return err
		}
		for _, name := range names {
			err := os.Link(name, filepath.Join(to, filepath.Base(name)))
			if err != nil && !errors.Is(err, os.ErrExist) {
				return err
			}
		}
	}
	return nil
}

// putBack restores most of the files that the engine has removed.
func (d *database) putBack(rng *rand.Rand, left string) error {
	files, err := os.ReadDir(left)
	for _, f := range files {
		if rng.IntN(4) == 0 {
			continue
		}
		failed := os.Link(filepath.Join(left, f.Name()), filepath.Join(d.dir, f.Name()))
		if !errors.Is(failed, os.ErrExist) {
			err = errors.Join(err, failed)
		}
	}
	return err
}

// splitLog splits the last log in two, as if the engine were writing a table of the first.
func (d *database) splitLog(rng *rand.Rand) error {
	names, err := filepath.Glob(filepath.Join(d.dir, "*.log"))
	if err != nil || len(names) == 0 {
		return errors.Join(err, errors.New("no log"))
	}
	last := names[len(names)-1]
	var batches [][]byte
	err = eachBatch(last, func(record []byte, _, _ int64) error {
		batches = append(batches, slices.Clone(record))
		return nil
	})
	if err != nil || len(batches) < 2 {
		return fmt.Errorf("%s: %d batches, %v", last, len(batches), err)
	}
	at := 1 + rng.IntN(len(batches)-1)
	next := filepath.Join(d.dir, "900000.log")
	if err := os.Remove(last); err != nil { // it may be linked elsewhere
		return err
	}
	return errors.Join(writeLog(last, batches[:at]), writeLog(next, batches[at:]))
}

// eachBatch calls do with each record of a sound log, and with the byte range of the record.
func eachBatch(path string, do func(record []byte, from, to int64) error) error {
	log, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	r := wal.NewReader(bytes.NewReader(log), func(d wal.Damage) { err = errors.Join(err, d) })
	for {
		record, offset, failed := r.Next()
		if failed == io.EOF {
			return err
		}
		if err = errors.Join(err, failed); err == nil {
			err = do(record, offset, r.Offset())
		}
		if err != nil {
			return err
		}
	}
}

func writeLog(path string, batches [][]byte) error {
	var out bytes.Buffer
	w := wal.NewWriter(&out)
	for _, b := range batches {
		if err := w.Append(b); err != nil {
			return err
		}
	}
	return os.WriteFile(path, out.Bytes(), 0o666)
}
