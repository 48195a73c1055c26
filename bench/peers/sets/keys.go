package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/sievetable/sievetable/internal/workload"
)

// The files of keys, one key per line.
const (
	sortedFile   = "sorted"
	unsortedFile = "unsorted"
	newFile      = "new"     // keys that an update adds, sorted
	presentFile  = "present" // some of the keys of the set
	absentFile   = "absent"
)

// The maximum numbers of keys to look up.
const (
	mostPresent = 100_000
	mostAbsent  = 1_000_000
)

// writeKeys writes all files of n keys into a directory.
func writeKeys(dir string, n int) error {
	added := max(1, n/1000) // number of keys in an update
	present, absent := workload.W4(n, added+min(n, mostAbsent))
	err := writeURLs(filepath.Join(dir, sortedFile), present)
	present.Shuffle()
	absent.Shuffle()
	update := absent.Slice(0, added)
	update.Sort()
	return errors.Join(err,
		writeURLs(filepath.Join(dir, unsortedFile), present),
		writeURLs(filepath.Join(dir, presentFile), present.Slice(0, min(n, mostPresent))),
		writeURLs(filepath.Join(dir, newFile), update),
		writeURLs(filepath.Join(dir, absentFile), absent.Slice(added, absent.Len())))
}

// writeURLs writes URLs to a file, one per line.
func writeURLs(name string, urls workload.URLs) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	var line []byte
	for i := range urls.Len() {
		line = append(urls.Append(line[:0], i), '\n')
		w.Write(line) // Flush returns its error
	}
	return errors.Join(w.Flush(), f.Close())
}

// A keyFile is a file of keys, which are read in order.
type keyFile struct {
	n, left int // number of keys, and of those not read yet
	file    *os.File
	r       *bufio.Reader
	line    [lineLen]byte
}

const lineLen = workload.URLLen + 1

func openKeys(name string) (*keyFile, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	n := int(info.Size() / lineLen)
	return &keyFile{n: n, left: n, file: f, r: bufio.NewReaderSize(f, 1<<20)}, nil
}

// each calls do for at most n of the next keys. A key is valid until do returns.
func (k *keyFile) each(n int, do func(key []byte) error) error {
	for range min(n, k.left) {
		if _, err := io.ReadFull(k.r, k.line[:]); err != nil {
			return fmt.Errorf("%s: %w", k.file.Name(), err)
		}
		if err := do(k.line[:workload.URLLen]); err != nil {
			return err
		}
		k.left--
	}
	return nil
}

func (k *keyFile) Close() error { return k.file.Close() }

// A sample is the contents of a file of keys.
type sample []byte

func (s sample) len() int { return len(s) / lineLen }

func (s sample) at(i int) []byte { return s[i*lineLen:][:workload.URLLen:workload.URLLen] }

// first returns the first n keys, or all keys if there are fewer.
func (s sample) first(n int) sample { return s[:min(n, s.len())*lineLen] }
