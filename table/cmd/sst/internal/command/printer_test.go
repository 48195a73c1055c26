package command

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/internalkey"
)

// Lines of JSON are text.JSONEntry objects, which sst build reads.
func TestJSONLines(t *testing.T) {
	t.Parallel()
	level, sequence, offset := 0, uint64(1<<40), uint64(4096)
	listed := &source.Table{File: dbdir.File{Path: "db/00\"5\xff.ldb", Meta: &versions.Table{Level: level}}}
	unlisted := &source.Table{File: dbdir.File{Path: "db/6.ldb"}}
	e := source.Entry{Entry: dbfile.Entry{Sequence: sequence, Kind: internalkey.Delete}, Offset: offset}
	for _, bytes := range []string{"", "plain", "<é\"\\\n\u2028\u0000\U000e0001>", "\xff\x00"} {
		for _, t1 := range []*source.Table{listed, unlisted, nil} {
			for choice := range 8 {
				s := fields{versions: choice&1 != 0, values: choice&2 != 0, location: choice&4 != 0}
				e.Key, e.Value, e.Table, e.Log = []byte(bytes), []byte("v"+bytes), t1, "db/7.log"
				want, err := printable.AppendJSON(nil, jsonEntry(e, s))
				noError(t, err)
				escaped := strings.ReplaceAll(string(want), "\ufffd", `\ufffd`) // as encoding/json does before Go 1.27
				var got strings.Builder
				p := newPrinter(&got, "json", s)
				noError(t, p.print(e))
				if diff := cmp.Diff(escaped+"\n", got.String()); diff != "" {
					t.Errorf("JSON of %q with %+v (-want +got):\n%s", bytes, s, diff)
				}
			}
		}
	}
}

// A line of any length is a JSON object, also if it fills the printer's buffer before its last byte.
func TestJSONLinesOfAllLengths(t *testing.T) {
	t.Parallel()
	for n := range 1000 {
		var got strings.Builder
		p := newPrinter(&got, "json", fields{values: true})
		e := dbfile.Entry{Key: []byte("key"[:n%4]), Value: bytes.Repeat([]byte{0xff}, n)}
		noError(t, p.print(source.Entry{Entry: e}))
		if !json.Valid([]byte(got.String())) {
			t.Errorf("a value of %d bytes: %s", n, got.String())
		}
	}
}

// jsonEntry returns the object for an entry.
func jsonEntry(e source.Entry, s fields) (o text.JSONEntry) {
	o.Key, o.KeyBase64 = printable.StringOrBytes(e.Key)
	if s.values {
		o.Value, o.ValueBase64 = printable.StringOrBytes(e.Value)
	}
	if s.versions {
		o.Sequence, o.Kind = &e.Sequence, text.KindName(e.Kind)
	}
	if s.location {
		o.File, o.Offset, o.State = "7.log", &e.Offset, "deletion"
		if e.Table != nil {
			o.File = filepath.Base(e.Table.Path)
			if e.Table.Meta != nil {
				o.Level = &e.Table.Meta.Level
			}
		}
	}
	return o
}
