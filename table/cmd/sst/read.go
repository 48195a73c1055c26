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
func get(out, stderr io.Writer, file, key string) (err error) {
	k, err := unescape(key)
	if err != nil {
		return err
	}
	r, err := openTable(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if err := r.FilterErr(); err != nil {
		fmt.Fprintln(stderr, "sst: warning: the filter is not in use:", err)
	}
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

// openTable opens a table so that its filter does not deny its own keys. The
// filters of a table out of a database hold user keys; others may hold parts
// that only the table's writer knows, and are not used.
func openTable(file string) (*table.Reader, error) {
	for _, o := range []table.ReaderOptions{{}, {FilterKey: table.InternalFilterKey}} {
		r, err := table.Open(file, &o)
		if err != nil {
			return nil, err
		}
		if findsItsKeys(r) {
			return r, nil
		}
		if err := r.Close(); err != nil {
			return nil, err
		}
	}
	return table.Open(file, &table.ReaderOptions{IgnoreFilter: true})
}

// findsItsKeys reports whether a lookup finds the table's first keys: so many
// that the filter's false positives cannot find them all.
func findsItsKeys(r *table.Reader) bool {
	it := r.NewIter(nil)
	defer it.Close()
	tried := 0
	for k := range it.All() {
		if _, err := r.Get(k); errors.Is(err, table.ErrNotFound) {
			return false
		}
		if tried++; tried == 100 {
			break
		}
	}
	return true
}
