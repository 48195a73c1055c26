package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/sievetable/sievetable/table"
)

// errAbsent is what get returns for a key that is not there.
var errAbsent = errors.New("absent")

// get prints the value of key.
func get(out io.Writer, file, key string) (err error) {
	k, err := unescape(key)
	if err != nil {
		return err
	}
	r, err := openTable(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
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
	r, err := table.Open(file, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	it := r.NewIter(nil)
	for k, v := range it.All() {
		if _, err := fmt.Fprintf(out, "%s\t%s\n", escape(k), escape(v)); err != nil {
			return err
		}
	}
	return it.Close()
}

// openTable opens a table, also one out of a database: its filters hold user
// keys, and so deny the table's own first key unless FilterKey says so.
func openTable(file string) (*table.Reader, error) {
	r, err := table.Open(file, nil)
	if err != nil {
		return nil, err
	}
	it := r.NewIter(nil)
	defer it.Close()
	if !it.First() {
		return r, nil
	}
	if _, err := r.Get(it.Key()); !errors.Is(err, table.ErrNotFound) {
		return r, nil
	}
	if err := r.Close(); err != nil {
		return nil, err
	}
	return table.Open(file, &table.ReaderOptions{FilterKey: table.InternalFilterKey})
}
