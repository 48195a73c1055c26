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
	// What the filter holds of a key only the table's writer knows: a database's
	// holds user keys. It could spare one block.
	r, err := table.Open(file, &table.ReaderOptions{IgnoreFilter: true})
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
