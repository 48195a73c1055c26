package command

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
	"github.com/sievetable/sievetable/table/set"
)

// withBlocks are the options of tables with entries, and filterOnly of filter-only tables.
var (
	withBlocks = &table.WriterOptions{FilterPolicy: filter.NewBloom(10)}
	filterOnly = &table.WriterOptions{FilterOnly: true, TableFilterPolicy: filter.NewTableBloom(10)}
)

func writeSet(ts *testscript.TestScript, _ bool, args []string) {
	writeTables(ts, args, withBlocks)
}

func writeFilters(ts *testscript.TestScript, _ bool, args []string) {
	writeTables(ts, args, filterOnly)
}

// writeTables writes a set with args[1] entries per table.
func writeTables(ts *testscript.TestScript, args []string, o *table.WriterOptions) {
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o777))
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	m, err := writeDir(dir, slices.Chunk(args[2:], n), o)
	ts.Check(err)
	for i, t := range m.Tables {
		first, _, _ := strings.Cut(args[2+i*n], "=")
		ts.Setenv("SHA_"+first, t.SHA256)
		ts.Setenv("FILE_"+first, filepath.Join(dir, t.Name))
	}
}

// writeDir writes a set with these pairs KEY=VALUE per table into a directory.
func writeDir(dir string, tables iter.Seq[[]string], o *table.WriterOptions) (*set.Manifest, error) {
	m := new(set.Manifest)
	for pairs := range tables {
		t, err := writeTable(dir, len(m.Tables)+1, pairs, o)
		if err != nil {
			return nil, err
		}
		m.Tables = append(m.Tables, t)
	}
	d := set.NewDir(dir)
	return m, errors.Join(d.WriteManifest(m), d.Close())
}

// writeTable writes table i of a set, with these pairs KEY=VALUE in order.
func writeTable(dir string, i int, pairs []string, o *table.WriterOptions) (t set.Table, err error) {
	var b bytes.Buffer
	w, err := set.NewTableWriter(&b, o)
	if err != nil {
		return t, err
	}
	for _, pair := range pairs {
		key, value, _ := strings.Cut(pair, "=")
		k, err := printable.Unescape(key)
		if err != nil {
			return t, err
		}
		if err := w.Append(k, []byte(value)); err != nil {
			return t, err
		}
	}
	if t, err = w.Close(); err != nil {
		return t, err
	}
	ext := "ldb"
	if o.FilterOnly {
		ext = "filter"
	}
	t.Name = fmt.Sprintf("%06d-%s.%s", i, t.SHA256[:16], ext)
	return t, os.WriteFile(filepath.Join(dir, t.Name), b.Bytes(), 0o666)
}

// addLayer adds a layer. Its arguments are pairs to add, or keys to remove, preceded by a dash.
func addLayer(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	d := set.NewDir(dir)
	defer d.Close()
	m, err := d.ReadManifest()
	ts.Check(err)
	n := 1
	for range m.All() {
		n++
	}
	var l set.Layer
	var added, removed []string
	for _, arg := range args[1:] {
		if key, ok := strings.CutPrefix(arg, "-"); ok {
			removed = append(removed, key)
		} else {
			added = append(added, arg)
		}
	}
	for pairs, tables := range map[*[]string]*[]set.Table{&added: &l.Tables, &removed: &l.Removals} {
		if len(*pairs) == 0 {
			continue
		}
		t, err := writeTable(dir, n, *pairs, withBlocks)
		ts.Check(err)
		*tables = append(*tables, t)
		n++
	}
	m.Layers = append(m.Layers, l)
	ts.Check(d.WriteManifest(m))
}
