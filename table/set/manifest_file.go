package set

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// The format and version in the first line of a manifest's file. Version 1 had no tailSum, and is not read. Manifests
// with layers have their own version, so that a program that does not know layers rejects them instead of missing a part.
const (
	formatName     = "sievetable-set"
	formatVersion  = 2
	layeredVersion = 3
)

// A header is the first line of a manifest's file. It has the numbers of tables and layers that follow, so that a
// truncated manifest is noticed.
type header struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Tables  int    `json:"tables"`
	Layers  int    `json:"layers,omitempty"`
}

// A layerHeader is the line before the tables of a layer.
type layerHeader struct {
	Layer    int `json:"layer"` // its number, from 1 on
	Tables   int `json:"tables"`
	Removals int `json:"removals"`
}

// decode sets h from its line. It checks format and version first, since other versions can have other fields.
func (h *header) decode(line []byte) error {
	err := json.Unmarshal(line, h)
	if h.Format != formatName {
		return fmt.Errorf("%q is not the first line of a manifest: format must be %q",
			shorten(string(line)), formatName)
	}
	isNumber := err == nil || h.Version != 0 // decodeFields returns the error for another value
	if isNumber && (h.Version < formatVersion || h.Version > layeredVersion) {
		return versionError(h.Version)
	}
	fields := []field{
		{name: "format", value: &h.Format, must: "a string"},
		{name: "version", value: &h.Version, must: "a whole number"},
		{name: "tables", value: &h.Tables, must: "the number of tables"},
	}
	if h.Version == layeredVersion {
		fields = append(fields, field{name: "layers", value: &h.Layers, must: "the number of layers"})
	}
	if err := decodeFields(line, fields); err != nil {
		return err
	}
	return checkCounts(h.Tables, h.Layers)
}

// checkCounts returns an error for a negative number of tables or layers, which would otherwise count as zero.
func checkCounts(counts ...int) error {
	if n := slices.Min(counts); n < 0 {
		return fmt.Errorf("negative number %d", n)
	}
	return nil
}

// decode sets h from the line of layer h.Layer.
func (h *layerHeader) decode(line []byte) error {
	i := h.Layer
	err := decodeFields(line, []field{
		{name: "layer", value: &h.Layer, must: "the number of the layer"},
		{name: "tables", value: &h.Tables, must: "the number of tables"},
		{name: "removals", value: &h.Removals, must: "the number of tables of removals"},
	})
	if err != nil {
		return err
	}
	if h.Layer != i {
		return fmt.Errorf("layer is %d, not %d: the manifest is mixed from two files", h.Layer, i)
	}
	return checkCounts(h.Tables, h.Removals)
}

// WriteManifest writes a manifest's file to w, unless [Manifest.Check] returns an error. Write the tables first. The
// file is JSON Lines: a line with the version and counts, then one for each layer and table. The same manifest always
// has the same bytes.
func WriteManifest(w io.Writer, m *Manifest) error {
	if err := m.Check(); err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	e := json.NewEncoder(b)
	for _, line := range m.lines() {
		e.Encode(line) // b keeps the error
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("set: write the manifest: %w", err)
	}
	return nil
}

// lines returns the lines of the manifest's file, before encoding.
func (m *Manifest) lines() []any {
	h := header{formatName, formatVersion, len(m.Tables), len(m.Layers)}
	if len(m.Layers) > 0 {
		h.Version = layeredVersion
	}
	lines := []any{h}
	for i, run := range m.runs() {
		if i%2 == 1 { // the Tables of a Layer
			l := m.Layers[i/2]
			lines = append(lines, layerHeader{i/2 + 1, len(l.Tables), len(l.Removals)})
		}
		for _, t := range run {
			lines = append(lines, t)
		}
	}
	return lines
}

// ReadManifest reads a manifest's file. If [Manifest.Check] fails, there are too few or too many tables, or a line has
// unknown fields or more than 1 MiB, the error names the line, and is [table.ErrCorrupt]. If the format is newer than
// this package, it is errors.ErrUnsupported. Memory is bounded by the file's size.
func ReadManifest(r io.Reader) (*Manifest, error) { return newLineReader(r).read() }

// A lineReader reads the lines of a manifest's file, up to an error.
type lineReader struct {
	*bufio.Scanner
	n   int // the number of the last line
	err error
}

// maxLine is the maximum length of a line with its end, in bytes.
const maxLine = 1 << 20

func newLineReader(r io.Reader) *lineReader {
	l := &lineReader{Scanner: bufio.NewScanner(r)}
	l.Buffer(nil, maxLine)
	return l
}

// read reads and checks a manifest to the end of the file.
func (l *lineReader) read() (*Manifest, error) {
	m := l.manifest()
	err := l.err
	if err != nil {
		err = fmt.Errorf("set: line %d of the manifest: %w", l.n, err)
	} else if err = m.Check(); err == nil {
		return m, nil
	}
	if l.readError() != nil || errors.Is(err, errors.ErrUnsupported) {
		return nil, err
	}
	if !errors.As(err, new(versionError)) { // which has its own advice
		err = fmt.Errorf("%w: restore a copy, or build the set again", err)
	}
	return nil, corruptError{err}
}

// readError returns the error of the io.Reader, or nil.
func (l *lineReader) readError() error {
	if err := l.Err(); err != bufio.ErrTooLong {
		return err
	}
	return nil
}

// next reads a line and decodes it. At the end of the file, the error is atEnd, formatted with args, unless that is
// "".
func (l *lineReader) next(decode func(line []byte) error, atEnd string, args ...any) {
	if l.err != nil {
		return
	}
	l.n++
	found := l.Scan()
	switch err := l.Err(); {
	case err == bufio.ErrTooLong:
		l.err = fmt.Errorf("line exceeds %d bytes: not a manifest, or a corrupt one", maxLine)
	case err != nil: // the line found may be incomplete
		l.err = err
	case found:
		l.err = decode(l.Bytes())
	case atEnd != "":
		l.err = fmt.Errorf(atEnd, args...)
	}
}

// manifest reads a manifest without checking it.
func (l *lineReader) manifest() *Manifest {
	var h header
	l.next(h.decode, "the file is empty")
	m := &Manifest{Tables: l.tables(h.Tables, l.n)}
	for i := 1; i <= h.Layers && l.err == nil; i++ {
		h := layerHeader{Layer: i}
		l.next(h.decode, "missing layer %d: the manifest was cut short", i)
		line := l.n
		m.Layers = append(m.Layers, Layer{Tables: l.tables(h.Tables, line), Removals: l.tables(h.Removals, line)})
	}
	l.next(func([]byte) error {
		return errors.New("more lines than expected: the manifest is mixed from two files")
	}, "")
	return m
}

// tables reads n tables. n is from the given line.
func (l *lineReader) tables(n, line int) (all []Table) {
	for len(all) < n && l.err == nil {
		var t Table
		l.next(t.decode, "only %d of %d tables (line %d): the manifest was cut short", len(all), n, line)
		all = append(all, t)
	}
	return all
}
