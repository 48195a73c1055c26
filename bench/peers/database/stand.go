package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/sievetable/sievetable/bench/peers/internal/leveldb"
)

// options say what is measured, and how often.
type options struct {
	dir     string
	entries int
	rounds  int
	scans   int
	sst     string
}

// A stand is what measures one database.
type stand struct {
	options
	db      *leveldb.Database
	tmp     string // for copies, where the database is
	settled string // a copy that was opened and closed again: its log is empty
	rows    []row
}

// A row is one work.
type row struct {
	name     string
	cxx, sst spending // cxx is 0 where there is nothing like it
}

func newStand(o options, db *leveldb.Database) (*stand, error) {
	tmp, err := os.MkdirTemp(filepath.Dir(o.dir), "measure-")
	if err != nil {
		return nil, err
	}
	s := &stand{options: o, db: db, tmp: tmp, settled: filepath.Join(tmp, "settled")}
	if err = linkDatabase(s.settled, o.dir); err == nil {
		_, err = runProcess(db.Scan(s.settled, 1), nil)
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *stand) close() error { return os.RemoveAll(s.tmp) }

// linkDatabase makes a copy of a database, of which the tables, which nobody changes, are
// hard links. It is all on the disk, for no process to wait for that.
func linkDatabase(to, from string) error {
	files, err := os.ReadDir(from)
	if err == nil {
		err = os.Mkdir(to, 0o777)
	}
	for _, f := range files {
		if err != nil {
			return err
		}
		src, dst := filepath.Join(from, f.Name()), filepath.Join(to, f.Name())
		if strings.HasSuffix(src, ".ldb") {
			err = os.Link(src, dst)
		} else {
			err = copyFile(dst, src)
		}
	}
	if err != nil {
		return err
	}
	return syncFile(to)
}

func copyFile(to, from string) error {
	contents, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, contents, 0o666)
	}
	if err != nil {
		return err
	}
	return syncFile(to)
}

func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// cxx runs a C++ program on a copy of the database.
func (s *stand) cxx(dir string, stdout io.Writer, program func(dir string) *exec.Cmd) (sp spending, err error) {
	copied := filepath.Join(s.tmp, "copy")
	if err := linkDatabase(copied, dir); err != nil {
		return sp, err
	}
	sp, err = runProcess(program(copied), stdout)
	return sp, errors.Join(err, os.RemoveAll(copied))
}

// print prints the rows as a table.
func (s *stand) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "work\tC++, s\tsst, s\tratio\tC++, CPU s\tsst, CPU s\tC++, MB\tsst, MB\t")
	for _, r := range s.rows {
		ratio := "–"
		if r.cxx.wall > 0 {
			ratio = fmt.Sprintf("%.2f", r.sst.wall.Seconds()/r.cxx.wall.Seconds())
		}
		cxx, sst := r.cxx.figures(), r.sst.figures()
		fmt.Fprintln(w, strings.Join([]string{r.name, cxx[0], sst[0], ratio, cxx[1], sst[1], cxx[2], sst[2]}, "\t")+"\t")
	}
	return w.Flush()
}

// figures returns time, CPU time and memory as text.
func (s spending) figures() [3]string {
	if s.wall == 0 {
		return [3]string{"–", "–", "–"}
	}
	return [3]string{fmt.Sprintf("%.3f", s.wall.Seconds()), fmt.Sprintf("%.3f", s.cpu.Seconds()), fmt.Sprintf("%.0f", float64(s.peak)/1e6)}
}
