package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/codecs"
)

// errAbsent is what get returns for a key that is not there.
var errAbsent = errors.New("absent")

// get prints the value of key.
func get(out io.Writer, file, key string) (err error) {
	k, err := unescape(key)
	if err != nil {
		return err
	}
	r, err := open(file)
	if err != nil {
		return err
	}
	defer func() { err = done(file, err, r) }()
	value, err := r.Get(k)
	if errors.Is(err, table.ErrNotFound) {
		return errAbsent
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, escape(value))
	return err
}

// scan prints all entries.
func scan(out io.Writer, file string) (err error) {
	r, err := open(file)
	if err != nil {
		return err
	}
	defer func() { err = done(file, err, r) }()
	it := r.NewIter(nil)
	for k, v := range it.All() {
		if _, err := fmt.Fprintf(out, "%s\t%s\n", escape(k), escape(v)); err != nil {
			return err
		}
	}
	return it.Close()
}

// open opens a table without its filter: what that holds of a key only the
// table's writer knows (a database's holds user keys), and it could spare one
// block.
func open(file string) (*table.Reader, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", file)
	}
	r, err := table.Open(file, &table.ReaderOptions{IgnoreFilter: true, Codecs: codecs.All(), MaxBlockSize: codecs.MaxBlockSize})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return r, nil
}

// done closes the table and says in an error which file it is about.
func done(file string, err error, r *table.Reader) error {
	if err = errors.Join(err, r.Close()); err == nil || errors.Is(err, errAbsent) {
		return err
	}
	return fmt.Errorf("%s: %w", file, err)
}
