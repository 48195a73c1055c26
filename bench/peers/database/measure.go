package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"os/exec"

	"github.com/sievetable/sievetable/bench/peers/internal/leveldb"
)

// measureAll measures all works. An answer of the command's that is not that of C++
// LevelDB is an error, which ends nothing.
func (s *stand) measureAll() error {
	err := s.compareScans() // first, since it brings the database into the page cache
	for _, state := range []struct{ name, dir string }{{"log empty", s.settled}, {"as it was closed", s.dir}} {
		err = errors.Join(err,
			s.gets("get, present, "+state.name, state.dir, true),
			s.gets("get, absent, "+state.name, state.dir, false))
	}
	return errors.Join(err, s.scan("scan --limit 1", s.rounds, 1), s.scan("scan", s.scans, 0), s.diff())
}

// key returns a key for each round, which the database has or has not.
func (s *stand) key(n int, present bool) string {
	if !present {
		return leveldb.Key(s.entries + n)
	}
	i := s.entries / s.rounds * n
	if leveldb.Deleted(i) {
		i++
	}
	return leveldb.Key(i)
}

// compareScans compares all that both print of the database.
func (s *stand) compareScans() error {
	want, got := newDigest(), newDigest()
	if _, err := s.cxx(s.dir, want, func(dir string) *exec.Cmd { return s.db.Scan(dir, 0) }); err != nil {
		return err
	}
	if _, err := runProcess(exec.Command(s.sst, "scan", s.dir), got); err != nil {
		return err
	}
	if got.String() != want.String() {
		return fmt.Errorf("sst scan prints %s; C++ LevelDB has %s", got, want)
	}
	return nil
}

// gets measures getting keys.
func (s *stand) gets(name, dir string, present bool) error {
	return s.repeat(name, s.rounds, func(n int) (cxx, sst spending, err error) {
		var want, got bytes.Buffer
		key := s.key(n, present)
		cxx, err = s.cxx(dir, &want, func(dir string) *exec.Cmd { return s.db.Get(dir, key) })
		if err != nil {
			return cxx, sst, err
		}
		if present != (want.Len() > 0) {
			return cxx, sst, fmt.Errorf("key %s: C++ LevelDB prints %.40q: was the database made with -entries %d?", key, &want, s.entries)
		}
		sst, err = runProcess(exec.Command(s.sst, "get", dir, key), &got)
		if err == nil && !bytes.Equal(got.Bytes(), want.Bytes()) {
			err = fmt.Errorf("key %s: sst prints %.40q, C++ LevelDB %.40q", key, &got, &want)
		}
		return cxx, sst, err
	})
}

// scan measures printing pairs to nowhere: limit of them, or all if it is 0.
func (s *stand) scan(name string, rounds, limit int) error {
	return s.repeat(name, rounds, func(int) (cxx, sst spending, err error) {
		cxx, err = s.cxx(s.settled, nil, func(dir string) *exec.Cmd { return s.db.Scan(dir, limit) })
		if err != nil {
			return cxx, sst, err
		}
		sst, err = runProcess(exec.Command(s.sst, "scan", "--limit", fmt.Sprint(limit), s.settled), nil)
		return cxx, sst, err
	})
}

// diff measures comparing the database with itself, for which LevelDB has no program.
func (s *stand) diff() error {
	return s.repeat("diff DIR DIR", s.scans, func(int) (cxx, sst spending, err error) {
		sst, err = runProcess(exec.Command(s.sst, "diff", s.settled, s.settled), io.Discard)
		return cxx, sst, err
	})
}

// repeat adds the row of a work that is done in rounds.
func (s *stand) repeat(name string, rounds int, work func(n int) (cxx, sst spending, err error)) error {
	var cxx, sst []spending
	var all error
	for n := range rounds {
		a, b, err := work(n)
		cxx, sst = append(cxx, a), append(sst, b)
		all = errors.Join(all, err)
	}
	s.rows = append(s.rows, row{name, median(cxx), median(sst)})
	log.Printf("measured: %s", name)
	if all != nil {
		return fmt.Errorf("%s: %w", name, all)
	}
	return nil
}
