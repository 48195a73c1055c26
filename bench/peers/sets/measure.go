package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/sievetable/sievetable/bench/peers/internal/machine"
)

// A stand performs measurements in a directory of its own.
type stand struct {
	dir string // contains the keys, the measured set, and the sst command
	n   int
}

// measure measures all engines with each number of keys, in a new directory in dir.
func measure(dir string, numbers []int) (r *results, err error) {
	tmp, err := os.MkdirTemp(dir, "sets")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	s := &stand{dir: tmp}
	if _, _, err := runProcess(exec.Command("go", "build", "-o", s.path("sst"), "github.com/sievetable/sievetable/table/cmd/sst")); err != nil {
		return nil, err
	}
	r = &results{Machine: machine.Describe(), Peers: peers()}
	for _, n := range numbers {
		s.n = n
		if err := writeKeys(tmp, n); err != nil {
			return nil, err
		}
		for _, e := range engines() {
			rows, err := s.measure(e)
			if err != nil {
				return nil, fmt.Errorf("%s, %d keys: %w", e.name, n, err)
			}
			r.Rows = append(r.Rows, rows...)
			log.Printf("measured: %d keys, %s", n, e.name)
		}
	}
	r.Curve, err = s.measureCurve()
	return r, err
}

func (s *stand) path(name string) string { return filepath.Join(s.dir, name) }

// measure builds and updates a set of the engine, and opens it in all ways. The figures of building and updating
// are the same for all ways.
func (s *stand) measure(e engine) (rows []row, err error) {
	defer func() { err = errors.Join(err, os.RemoveAll(s.path(setDir))) }()
	built := row{N: s.n, Unsorted: -1}
	if built.Build, err = s.build(e, sortedFile, "--sorted"); err != nil {
		return nil, err
	}
	if built.Disk, err = sizeOf(s.path(setDir)); err != nil {
		return nil, err
	}
	for _, w := range e.ways {
		r := built
		r.Name = e.row(w)
		if err := s.query(stepQuery, e.name, w.name, &r.costs); err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	update, err := s.write(e, newFile, "--layer-of", s.path(setDir))
	if err == nil && e.sst != nil {
		if err = os.RemoveAll(s.path(setDir)); err == nil {
			built.Unsorted, err = s.build(e, unsortedFile)
		}
	}
	for i := range rows {
		rows[i].Update, rows[i].Unsorted = update.written, built.Unsorted
	}
	return rows, err
}

// build builds the set from the keys in a file, and returns the CPU time per key in microseconds.
func (s *stand) build(e engine, file string, flags ...string) (float64, error) {
	flags = append(flags, "--entries-per-table", fmt.Sprint(tableKeys), "--temp-dir", s.dir, "-o", s.path(setDir)+"/")
	sp, err := s.write(e, file, flags...)
	return sp.cpu.Seconds() * 1e6 / float64(s.n), err
}

// write has a peer write the keys in a file. For a set, it runs sst build with the flags.
func (s *stand) write(e engine, file string, flags ...string) (sp spending, err error) {
	args := slices.Concat([]string{"build", "--input-format", "raw-keys"}, e.sst, flags, []string{s.path(file)})
	cmd := exec.Command(s.path("sst"), args...)
	if e.sst == nil {
		if cmd, err = child(stepWrite, e.name, file, s.dir); err != nil {
			return sp, err
		}
	}
	sp, _, err = runProcess(cmd)
	return sp, err
}

// query runs a step that queries, and decodes its measurements.
func (s *stand) query(step, engine, way string, measured any) error {
	cmd, err := child(step, engine, way, s.dir)
	if err != nil {
		return err
	}
	_, out, err := runProcess(cmd)
	if err != nil {
		return err
	}
	return json.Unmarshal(out, measured)
}

// measureCurve queries a set of many tables with less and less memory.
func (s *stand) measureCurve() (c curve, err error) {
	e := engines()[0]
	perTable := max(1000, (s.n+curveTables-1)/curveTables)
	c = curve{Keys: perTable, Tables: (s.n + perTable - 1) / perTable}
	if _, err := s.write(e, sortedFile, "--sorted", "--entries-per-table", fmt.Sprint(perTable), "-o", s.path(setDir)+"/"); err != nil {
		return c, err
	}
	err = s.query(stepCurve, e.name, "", &c.Points)
	return c, errors.Join(err, os.RemoveAll(s.path(setDir)))
}
