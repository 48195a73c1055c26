package set

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// The format and version of a manifest's file, in its first line. Version 1 had no tailSum. A
// manifest that says more about its tables, such as the layers of a set, gets another version: a
// program that does not know it refuses it, and does not miss a part of it.
const (
	formatName    = "sievetable-set"
	formatVersion = 2
)

// A header is the first line of a manifest's file. It has the number of the lines that follow,
// so that a manifest that was cut short is noticed.
type header struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Tables  int    `json:"tables"`
}

// decode sets h to what the line says. It looks at format and version first: other versions
// can have other fields.
func (h *header) decode(line []byte) error {
	if json.Unmarshal(line, h); h.Format != formatName {
		return fmt.Errorf("%q is not the first line of a manifest, want the format %q in it",
			shorten(string(line)), formatName)
	}
	if h.Version < 1 || h.Version > formatVersion {
		return fmt.Errorf(
			"version is %d, want 1 to %d: read the manifest with the version of sievetable that has written it",
			h.Version, formatVersion)
	}
	return decodeFields(line, []field{
		{name: "format", value: &h.Format, want: "a string"},
		{name: "version", value: &h.Version, want: "a number"},
		{name: "tables", value: &h.Tables, want: "the number of tables"},
	})
}

// WriteManifest writes the file of a manifest. It is JSON Lines: the first line has the format, its
// version and the number of tables, and each further line is a table. Keys are in base64. The same
// manifest always has the same bytes. If [Manifest.Check] fails, WriteManifest returns its error
// and writes nothing. Write the tables before their manifest.
func WriteManifest(w io.Writer, m *Manifest) error {
	if err := m.Check(); err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	lines := json.NewEncoder(b)
	if err := lines.Encode(header{formatName, formatVersion, len(m.Tables)}); err != nil {
		return fmt.Errorf("set: write the manifest: %w", err)
	}
	for _, t := range m.Tables {
		if err := lines.Encode(t); err != nil {
			return fmt.Errorf("set: write the manifest: %w", err)
		}
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("set: write the manifest: %w", err)
	}
	return nil
}

// ReadManifest reads the file of a manifest to its end, and checks it as [Manifest.Check] does. The
// error names the line. It is also an error if:
//
//   - there are fewer or more tables than the first line says,
//   - a line has other fields than WriteManifest writes, or > 1 MiB,
//   - the format is that of a newer version of this package, and this one does not know it.
//
// ReadManifest takes no more memory than what it reads, whatever the first line says.
func ReadManifest(r io.Reader) (*Manifest, error) {
	lines := lineReader{r: bufio.NewReader(r)}
	m, err := lines.manifest()
	if err != nil {
		return nil, fmt.Errorf("set: line %d of the manifest: %w", lines.n, err)
	}
	if err := m.Check(); err != nil {
		return nil, err
	}
	return m, nil
}

// A lineReader reads the lines of a manifest's file.
type lineReader struct {
	r    *bufio.Reader
	n    int // the number of the last line
	line []byte
}

// maxLine is the most bytes of a line, with its end.
const maxLine = 1 << 20

// next reads a line. It is valid until the next call. Behind the last line, the error is
// io.EOF.
func (l *lineReader) next() ([]byte, error) {
	l.n++
	l.line = l.line[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		if len(l.line)+len(part) > maxLine {
			return nil, fmt.Errorf(
				"more than %d bytes, want a shorter line: this is not a manifest, or it is damaged", maxLine)
		}
		l.line = append(l.line, part...)
		switch {
		case err == io.EOF && len(l.line) > 0: // no end of the line
			return l.line, nil
		case err != bufio.ErrBufferFull:
			return l.line, err
		}
	}
}

// manifest reads a manifest.
func (l *lineReader) manifest() (*Manifest, error) {
	line, err := l.next()
	if err == io.EOF {
		return nil, errors.New("the file is empty: want a manifest, or leave the file out")
	}
	if err != nil {
		return nil, err
	}
	var h header
	if err := h.decode(line); err != nil {
		return nil, err
	}
	m := new(Manifest)
	for {
		line, err := l.next()
		if err == io.EOF {
			return m, checkCount(len(m.Tables), h.Tables)
		}
		if err != nil {
			return nil, err
		}
		var t Table
		if err := t.decode(line); err != nil {
			return nil, err
		}
		m.Tables = append(m.Tables, t)
	}
}

// checkCount compares how many tables there are with what the first line says.
func checkCount(got, want int) error {
	switch {
	case got < want:
		return fmt.Errorf("the end of the file after %d tables, want %d as line 1 says: "+
			"the manifest was cut short, take another copy", got, want)
	case got > want:
		return fmt.Errorf("%d tables, want %d as line 1 says: the manifest is of two files, take another copy",
			got, want)
	}
	return nil
}
