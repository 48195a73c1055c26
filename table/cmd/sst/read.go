package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/codecs"
)

func getCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "get FILE KEY",
		Short: "Print the value of a key",
		Example: `  sst get users.ldb ada
  sst get users.ldb -- -key-that-starts-with-a-dash
  sst get 000005.ldb 'ada\x01\x2a\x00\x00\x00\x00\x00\x00'`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return get(cmd.OutOrStdout(), args[0], args[1]) },
	}
}

func scanCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "scan FILE",
		Short:   "Print all entries: key, tab, value",
		Example: "  sst scan users.ldb | head",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return scan(cmd.OutOrStdout(), args[0]) },
	}
}

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
		return errNo
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
	if err = errors.Join(err, r.Close()); err == nil || errors.Is(err, errNo) {
		return err
	}
	return fmt.Errorf("%s: %w", file, err)
}
