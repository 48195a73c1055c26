package set_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// twoTables is a manifest of two tables.
func twoTables() *set.Manifest {
	return &set.Manifest{Tables: []set.Table{
		{Name: "a & b.ldb", Size: 1000, SHA256: strings.Repeat("0a", 32), Entries: 10, Smallest: []byte{}, Largest: []byte("k"), TailSize: 48, TailSum: strings.Repeat("1b", 32)},
		{Name: "strasse.ldb", Size: 48, SHA256: strings.Repeat("ff", 32), Entries: math.MaxInt64 - 10, Smallest: []byte("k\x00\xff"), Largest: []byte("k\x00\xff"), TailSize: 48, TailSum: strings.Repeat("2c", 32)},
	}}
}

const twoTablesFile = `{"format":"sievetable-set","version":2,"tables":2}
{"name":"a \u0026 b.ldb","size":1000,"sha256":"0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a","entries":10,"smallest":"","largest":"aw==","tailSize":48,"tailSum":"1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b"}
{"name":"strasse.ldb","size":48,"sha256":"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff","entries":9223372036854775797,"smallest":"awD/","largest":"awD/","tailSize":48,"tailSum":"2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c"}
`

func writeManifest(t testing.TB, m *set.Manifest) string {
	t.Helper()
	var b bytes.Buffer
	noError(t, set.WriteManifest(&b, m))
	return b.String()
}

func TestManifestIsReadAsWritten(t *testing.T) {
	m := twoTables()
	checkDiff(t, "the file", twoTablesFile, writeManifest(t, m))
	m.Tables[0].Smallest = nil // the empty key
	checkDiff(t, "the file with nil for the empty key", twoTablesFile, writeManifest(t, m))
	got, err := set.ReadManifest(iotest.OneByteReader(strings.NewReader(twoTablesFile)))
	noError(t, err)
	checkDiff(t, "ReadManifest", twoTables(), got)
}

// checkRead checks that a manifest's file is read as m.
func checkRead(t *testing.T, file string, m *set.Manifest) {
	t.Helper()
	got, err := set.ReadManifest(strings.NewReader(file))
	noError(t, err)
	checkDiff(t, "ReadManifest", m, got)
}

// Other programs may write JSON with other spaces, escapes and field orders.
func TestManifestOfOtherPrograms(t *testing.T) {
	file := strings.NewReplacer(":", ": ", "\n", " \r\n", `"entries"`, `"\u0065ntries"`).Replace(twoTablesFile)
	checkRead(t, strings.TrimSpace(file), twoTables())
}

// The two optional fields of a filter must match the table.
func TestManifestOfFilters(t *testing.T) {
	m := twoTables()
	m.Tables[0].FilterSize, m.Tables[0].FilterBits = 700, 16
	file := writeManifest(t, m)
	if !strings.Contains(file, `1b","filterSize":700,"filterBits":16}`) || strings.Count(file, "filter") != 2 {
		t.Errorf("the file is %s", file)
	}
	checkRead(t, file, m)
	for _, tt := range []struct{ size, bits, want string }{
		{"-1", "0", "filterSize is -1: must be 0 to 1000 (the size)"},
		{"1001", "16", "filterSize is 1001: must be 0 to 1000 (the size)"},
		{"0", "16", "filterBits is 16 for a filter of 0 bytes"},
		{"700", "-1", "filterBits is -1 for a filter of 700 bytes: must be 0 to 64"},
		{"700", "65", "filterBits is 65 for a filter of 700 bytes: must be 0 to 64"},
		{`"700"`, "16", `filterSize is "700": must be a number`},
		{"700", "1.5", `filterBits is 1.5: must be a number`},
	} {
		checkRefused(t, strings.Replace(file, `"filterSize":700,"filterBits":16`, `"filterSize":`+tt.size+`,"filterBits":`+tt.bits, 1), tt.want)
	}
}

// ReadManifest's error names the invalid line and the expected value.
func TestReadManifestRefuses(t *testing.T) {
	lines := strings.SplitAfter(twoTablesFile, "\n")
	for _, tt := range []struct {
		name, file, want string
	}{
		{"no line", "", `set: line 1 of the manifest: the file is empty`},
		{"a table", "\x00\x01", `line 1 of the manifest: "\x00\x01" is not the first line of a manifest: format must be "sievetable-set"`},
		{"another format", `{"format":"parquet","version":1,"tables":0}`, `line 1 of the manifest: "{\"format\":\"parquet\",`},
		{"a newer version", `{"format":"sievetable-set","version":4,"shards":{}}`, `line 1 of the manifest: version is 4, but only 2 to 3 are supported: use the sievetable version that wrote it`},
		{"no version", `{"format":"sievetable-set","version":0,"tables":0}`, `line 1 of the manifest: version is 0, but only 2 to 3 are supported: `},
		{"half a version", `{"format":"sievetable-set","version":3.5,"tables":0}`, `line 1 of the manifest: version is 3.5: must be a whole number`},
		{"version 1", `{"format":"sievetable-set","version":1,"tables":0}`, `line 1 of the manifest: version is 1, which has no tailSum: write the manifest again with sst manifest`},
		{"no count", `{"format":"sievetable-set","version":2}`, `line 1 of the manifest: missing field "tables"`},
		{"a format twice", `{"format":"sievetable-set","format":"sievetable-set","version":2,"tables":0}`, `line 1 of the manifest: duplicate field "format"`},
		{"cut between lines", lines[0] + lines[1], `line 3 of the manifest: only 1 of 2 tables`},
		{"cut in a line", lines[0] + lines[1] + lines[2][:30], `line 3 of the manifest: incomplete JSON object: unexpected `},
		{"a name without quotes", lines[0] + "{name:1}", `line 2 of the manifest: incomplete JSON object: invalid character 'n'`},
		{"cut in a value", lines[0] + lines[1] + `{"name":"b.ldb","smallest":"a`, `line 3 of the manifest: field "smallest": incomplete JSON value: unexpected EOF`},
		{"one line too many", twoTablesFile + lines[2], `line 4 of the manifest: more lines than expected`},
		{"an empty line", lines[0] + "\n" + lines[1] + lines[2], `line 2 of the manifest: "" is not a JSON object`},
		{"two tables in a line", lines[0] + strings.TrimSpace(lines[1]) + lines[2], `line 2 of the manifest: more than one JSON object`},
		{"a long line", lines[0] + strings.Repeat(" ", 1<<20) + lines[1], `line 2 of the manifest: line exceeds 1048576 bytes`},
		{"an order of tables", lines[0] + lines[2] + lines[1], `line 3 of the manifest: smallest is "", not above "k\x00\xff"`},
	} {
		t.Run(tt.name, func(t *testing.T) { checkRefused(t, tt.file, tt.want) })
	}
}

// checkRefused checks that ReadManifest rejects the file.
func checkRefused(t *testing.T, file, want string) {
	t.Helper()
	m, err := set.ReadManifest(strings.NewReader(file))
	if err == nil || m != nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "set: line ") {
		t.Errorf("manifest %v, error %v, want none and an error with %q", m, err, want)
	}
	if errors.Is(err, table.ErrCorrupt) == errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%v is neither table.ErrCorrupt nor errors.ErrUnsupported, or both", err)
	}
}

// Each field of a table's line occurs once, with the right type.
func TestReadManifestRefusesFields(t *testing.T) {
	for _, tt := range []struct{ from, to, want string }{
		{`"size":1000`, `"size":1000,"color":"red"`, `unknown field "color"`},
		{`"size":1000`, `"Size":1000`, `unknown field "Size"`},
		{`"size":1000,`, ``, `missing field "size"`},
		{`"size":1000`, `"size":1000,"size":1000`, `duplicate field "size"`},
		{`"size":1000`, `"size":"1000"`, `size is "1000": must be a number`},
		{`"size":1000`, `"size":9223372036854775808`, `size is 9223372036854775808: must be a number < 2^63`},
		{`"size":1000`, `"size":null`, `size is null: must be a number`},
		{`"entries":10`, `"entries":-1`, `entries is -1: must be a number from 1 to 2^63-1`},
		{`"entries":10`, `"entries":1.5`, `entries is 1.5: must be`},
		{`"smallest":""`, `"smallest":null`, `smallest is null: must be base64`},
		{`"smallest":""`, `"smallest":[0]`, `smallest is [0]: must be base64`},
		{`"largest":"aw=="`, `"largest":"k"`, `largest is "k": must be base64`},
		{`"name":"a \u0026 b.ldb"`, `"name":{"x":[1]}`, `name is {"x":[1]}: must be a string`},
		{`a \u0026 b`, "\xff", `not a JSON object: invalid UTF-8`},
		{`a \u0026 b`, "größe", `name is "größe.ldb": must be printable ASCII`},
		{`,"tailSum":"` + strings.Repeat("1b", 32) + `"`, ``, `missing field "tailSum"`},
		{`"tailSum":"1b`, `"tailSum":"1B`, `tailSum is "1B1b`},
		{`"tailSum":"1b`, `"tailSum":null,"x":"`, `tailSum is null: must be a string`},
	} {
		t.Run(tt.want, func(t *testing.T) {
			file := strings.Replace(twoTablesFile, tt.from, tt.to, 1)
			checkRefused(t, file, "set: line 2 of the manifest: "+tt.want)
		})
	}
}

// Check checks each field. WriteManifest and ReadManifest call Check.
func TestManifestCheck(t *testing.T) {
	long := bytes.Repeat([]byte{'k'}, 256<<10+1)
	for _, tt := range []struct {
		change func(t *set.Table)
		want   string
	}{
		{func(t *set.Table) { t.Name = "" }, `name is empty`},
		{func(t *set.Table) { t.Name = "../a" }, `name is "../a": must be a file name`},
		{func(t *set.Table) { t.Name = "a & b.ldb" }, `name "a & b.ldb" is also on line 2`},
		{func(t *set.Table) { t.Name = "A & b.LDB" }, `name "A & b.LDB" is also on line 2: names must differ, not only in case`},
		{func(t *set.Table) { t.TailSum = "" }, `tailSum is "": must be 64`},
		{func(t *set.Table) { t.TailSum = "1b" }, `tailSum is "1b": must be 64`},
		{func(t *set.Table) { t.Size = 47 }, `size is 47, less than a footer's 48 bytes`},
		{func(t *set.Table) { t.Size = -1 }, `size is -1`},
		{func(t *set.Table) { t.SHA256 = "" }, `sha256 is "": must be 64`},
		{func(t *set.Table) { t.SHA256 = t.SHA256[1:] }, `sha256 is "fff`},
		{func(t *set.Table) { t.SHA256 = strings.Repeat("FF", 32) }, `sha256 is "FFF`},
		{func(t *set.Table) { t.SHA256 = strings.Repeat("xy", 32) }, `sha256 is "xyx`},
		{func(t *set.Table) { t.Entries = 0 }, `entries is 0`},
		{func(t *set.Table) { t.Entries++ }, `entries is 9223372036854775798, which makes the total exceed 2^63-1`},
		{func(t *set.Table) { t.Size = math.MaxInt64 }, `size is 9223372036854775807, which makes the total exceed 2^63-1`},
		{func(t *set.Table) { t.TailSize = 47 }, `tailSize is 47: must be 48 (the footer) to 48 (the size)`},
		{func(t *set.Table) { t.TailSize = 49 }, `tailSize is 49: must be 48`},
		{func(t *set.Table) { t.Largest = []byte("k\x00") }, `smallest is "k\x00\xff", above largest, "k\x00"`},
		{func(t *set.Table) { t.Smallest = []byte("k") }, `smallest is "k", not above "k", the largest key of the table before`},
		{func(t *set.Table) { t.Smallest = nil }, `smallest is "", not above "k"`},
		{func(t *set.Table) { t.Largest = long }, `largest has 262145 bytes, more than 262144`},
		{func(t *set.Table) { t.Smallest, t.Largest = long, long }, `smallest has 262145 bytes`},
	} {
		t.Run(tt.want, func(t *testing.T) {
			m := twoTables()
			tt.change(&m.Tables[1])
			want := "set: line 3 of the manifest: " + tt.want
			if err := m.Check(); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("Check: %v, want %s", err, want)
			}
			if err := set.WriteManifest(io.Discard, m); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("WriteManifest: %v, want %s", err, want)
			}
		})
	}
}

// The longest names and keys fit in a line.
func TestManifestWithLongLines(t *testing.T) {
	m := twoTables()
	m.Tables[0].Name = strings.Repeat("&", 255) // 6 bytes each in JSON
	m.Tables[0].Smallest = bytes.Repeat([]byte{'a'}, 256<<10)
	m.Tables[0].Largest = bytes.Repeat([]byte{'b'}, 256<<10)
	file := writeManifest(t, m)
	got, err := set.ReadManifest(strings.NewReader(file))
	if err != nil || writeManifest(t, got) != file { // cmp.Diff takes seconds for such keys
		t.Errorf("error %v, want the manifest that was written", err)
	}
}

func TestTableCheck(t *testing.T) {
	table := twoTables().Tables[0]
	noError(t, table.Check())
	table.Entries = 0
	const want = `set: table "a & b.ldb": entries is 0: a set has no empty tables`
	if err := table.Check(); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestCheckName(t *testing.T) {
	for _, name := range []string{
		"a", "000001.ldb", "..ldb", "set.json", "a b~", " a", "console", "com", "COM10", "LPTX", "NULL.ldb", "a.con",
		strings.Repeat("x", 255),
	} {
		if err := set.CheckName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{
		"", ".", "..", "/", "/etc/passwd", "a/b", "../a", `..\a`, "C:a", "a\x00", "a\nb", "a\x7f", "a\u0085", "a\u202e",
		"a\xff", "größe", "größe"[:3], "ｃｏｎ", strings.Repeat("x", 256), set.ManifestName, "Set.JSONL", "set.jsonl.lock", "SET.jsonl.Lock",
		"...", "a.", "a ", "a. ", "a<", "a>", `"a"`, "a|b", "a?", "*.ldb",
		"CON", "nul", "Aux.ldb", "prn.tar.gz", "con .ldb", "COM1", "com0.ldb", "COM¹", "lpt9.ldb", "LPT³.x", "conin$", "CONOUT$.ldb",
	} {
		if err := set.CheckName(name); err == nil || !strings.HasPrefix(err.Error(), "set: name is ") {
			t.Errorf("%q: error %v, want one about the name", name, err)
		}
	}
}

// Errors of the reader and the writer are wrapped. The manifest may be intact.
func TestManifestErrorsOfReaderAndWriter(t *testing.T) {
	cause := errors.New("disk on fire")
	for n := range len(twoTablesFile) {
		r := io.MultiReader(strings.NewReader(twoTablesFile[:n]), iotest.ErrReader(cause))
		line := strings.Count(twoTablesFile[:n], "\n") + 1
		m, err := set.ReadManifest(r)
		if want := fmt.Sprintf("set: line %d of the manifest: disk on fire", line); m != nil || !errors.Is(err, cause) || errors.Is(err, table.ErrCorrupt) || err.Error() != want {
			t.Fatalf("after %d bytes: %v, want %s", n, err, want)
		}
	}
	r, w := io.Pipe()
	r.CloseWithError(cause)
	checkError(t, "WriteManifest", set.WriteManifest(w, twoTables()), cause, "")
}

// A largeFile is a Store with another program's file of short lines.
type largeFile struct {
	set.Store
	left int // bytes not read yet
}

func (f *largeFile) Open(context.Context, string) (io.ReadCloser, error) { return io.NopCloser(f), nil }

func (f *largeFile) Read(p []byte) (int, error) {
	n := min(len(p), f.left)
	if f.left -= n; n == 0 {
		return 0, io.EOF
	}
	copy(p[:n], bytes.Repeat([]byte("a line\n"), n/7+1))
	return n, nil
}

// Reading another program's file stops at the first line that a manifest cannot have.
func TestLoadManifestReadsNoLargeFile(t *testing.T) {
	t.Parallel()
	const size = 64 << 20
	f := &largeFile{Store: &set.DirStore{}, left: size}
	_, err := set.LoadManifest(background, f, set.ManifestName)
	checkError(t, "LoadManifest", err, table.ErrCorrupt, "not the first line of a manifest")
	if read := size - f.left; read > 64<<10 {
		t.Errorf("%d bytes are read", read)
	}
}

// A missing manifest is fs.ErrNotExist, as of OpenDir.
func TestLoadManifestOfNoSet(t *testing.T) {
	_, err := set.LoadManifest(background, newMemoryStore(), set.ManifestName)
	checkError(t, "LoadManifest", err, fs.ErrNotExist, set.ManifestName)
}

// A manifest of a newer version is not corrupt, so nothing advises to remove it.
func TestNewerManifestIsNotCorrupt(t *testing.T) {
	s := newMemoryStore()
	noError(t, s.Put(background, set.ManifestName, []byte(`{"format":"sievetable-set","version":4,"shards":{}}`)))
	_, err := set.NewBuilder(background, s, nil)
	checkError(t, "NewBuilder", err, errors.ErrUnsupported, "use the sievetable version that wrote it")
	if errors.Is(err, table.ErrCorrupt) {
		t.Errorf("%v is table.ErrCorrupt", err)
	}
}
