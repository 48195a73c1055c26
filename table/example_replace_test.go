package table_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
)

// A server looks up keys in a mapped table, which can be replaced while it serves.
type server struct{ current atomic.Pointer[table.Reader] }

// look looks up key and prints its value.
func (s *server) look(key string) error {
	for {
		r := s.current.Load()
		if r == nil {
			return table.ErrClosed
		}
		value, err := r.Get([]byte(key))
		if err == table.ErrClosed {
			continue // it was replaced since then
		}
		if err == nil {
			fmt.Printf("%s: %s\n", key, value)
		}
		return err
	}
}

// serve serves the table in the file name from now on.
func (s *server) serve(name string) error {
	r, err := table.Open(name, &table.ReaderOptions{Mapped: true})
	if err != nil {
		return err
	}
	if err := r.FilterErr(); err != nil { // reads index and filters: a corrupt table must not replace a sound one
		return errors.Join(err, r.Close())
	}
	return s.replace(r)
}

// close ends the serving.
func (s *server) close() error { return s.replace(nil) }

func (s *server) replace(r *table.Reader) error {
	if old := s.current.Swap(r); old != nil {
		return old.Close() // lookups that still use it return a value or ErrClosed
	}
	return nil
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func ExampleReader_Close() {
	dir, err := os.MkdirTemp("", "")
	must(err)
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "capitals.ldb")
	write := func(capital string) {
		// A mapped table should not be compressed. Create replaces the file by a rename, so the mapped file does not
		// change.
		w, err := table.Create(name, &table.WriterOptions{FilterPolicy: filter.NewBloom(10), Compression: table.NoCompression})
		must(err)
		must(w.Append([]byte("Kazakhstan"), []byte(capital)))
		must(w.Close())
	}
	var s server
	write("Almaty")
	must(s.serve(name))
	must(s.look("Kazakhstan"))
	write("Astana")
	must(s.serve(name))
	must(s.look("Kazakhstan"))
	must(s.close())
	// Output:
	// Kazakhstan: Almaty
	// Kazakhstan: Astana
}
