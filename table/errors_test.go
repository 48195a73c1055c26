package table_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/table"
)

// Damage names the file that Open opened, the part, where it is, and how long it is,
// whichever operation finds it. NewReader knows no name.
func TestCorruptionErrorNamesItsPlace(t *testing.T) {
	t.Parallel()
	p := sound()
	contents := p.build()
	contents[3] ^= 1 // in the first data block, and under its checksum
	path := filepath.Join(t.TempDir(), "users.ldb")
	if err := os.WriteFile(path, contents, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, ""} {
		r := open(t, contents, nil)
		if name != "" {
			var err error
			if r, err = table.Open(name, nil); err != nil {
				t.Fatal(err)
			}
			defer r.Close()
		}
		it := r.NewIter(nil)
		it.First()
		_, getErr := r.Get([]byte("a"))
		_, _, findErr := r.Find([]byte("a"))
		for operation, err := range map[string]error{"Get": getErr, "Find": findErr, "Iter": it.Error(), "Verify": r.Verify()} {
			var c *table.CorruptionError
			if !errors.As(err, &c) {
				t.Errorf("%s = %v, want a *CorruptionError", operation, err)
				continue
			}
			c.Err = nil
			if diff := cmp.Diff(&table.CorruptionError{File: name, Block: "data block", Length: 22, KeysUpTo: []byte("b")}, c); diff != "" {
				t.Errorf("%s (-want +got):\n%s", operation, diff)
			}
		}
	}
	contents[len(contents)-1] ^= 1
	if err := os.WriteFile(path, contents, 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := table.Open(path, nil)
	if want := fmt.Sprintf("table: %s: footer at 157 (48 bytes): magic number", path); !strings.HasPrefix(fmt.Sprint(err), want) {
		t.Errorf("Open = %v, want %s", err, want)
	}
}

// A name in an error is quoted where it could pass for something else.
func TestCorruptionErrorQuotesNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"users.ldb":            "table: users.ldb: footer at 0 (0 bytes): cut",
		"a\nusers.ldb: ok":     `table: "a\nusers.ldb: ok": footer at 0 (0 bytes): cut`,
		"\x1b[2J":              `table: "\x1b[2J": footer at 0 (0 bytes): cut`,
		"":                     "table: footer at 0 (0 bytes): cut",
		"Überblick \u202e.ldb": `table: "Überblick \u202e.ldb": footer at 0 (0 bytes): cut`,
	} {
		err := &table.CorruptionError{File: name, Block: "footer", Err: errors.New("cut")}
		if got := err.Error(); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}

// LevelDB's reader ignores what an index value, or a metaindex value, has behind its
// handle: it is room for extensions of the format.
func TestBytesBehindHandles(t *testing.T) {
	t.Parallel()
	p := sound()
	p.handles = func(h1, h2 string) (string, string) { return h1 + "x", h2 + "\xff\xff" }
	p.meta = func(h string) string { return rawtable.Entries(bloomName, h+"more") }
	r := open(t, p.build(), nil)
	if err := errors.Join(r.FilterErr(), r.Verify()); err != nil {
		t.Error(err)
	}
	if diff := diffPairs(soundPairs, forward(t, r.NewIter(nil))); diff != "" {
		t.Errorf("other pairs (-want +got):\n%s", diff)
	}
	checkLookups(t, r, soundPairs)
}

// A key that no block can hold is refused by Append, before memory is taken for it.
func TestKeyOfAGigabyte(t *testing.T) {
	needsMemory(t)
	t.Parallel()
	w, err := table.NewWriter(&strings.Builder{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = w.Append(make([]byte, 1<<30), nil)
	if err == nil || !strings.Contains(err.Error(), "key of 1073741824 bytes and value of 0, want at most 1073741792 together") {
		t.Errorf("Append = %v", err)
	}
}

// Whatever an error says of keys, it says of 64 bytes of each at most: inspect checks that of
// every damaged table, and here of long keys, wrong in each way that is said with the key.
func TestErrorsShowTheStartOfKeys(t *testing.T) {
	long := func(first string) string { return first + strings.Repeat("k", 1000) }
	for name, change := range map[string]func(p *twoBlocks){
		"out of order":        func(p *twoBlocks) { p.data1 = raw(rawtable.Entries(long("b"), "1", long("a"), "2")) },
		"above the separator": func(p *twoBlocks) { p.data1 = raw(rawtable.Entries("a", "1", long("c"), "2")) },
		"below the separator": func(p *twoBlocks) { p.separators[0] = long("c") },
		"separators' order":   func(p *twoBlocks) { p.separators = [2]string{long("c"), long("b")} },
		"no handle": func(p *twoBlocks) {
			p.separators[0], p.handles = long("b"), func(_, h2 string) (string, string) { return "\x80", h2 }
		},
		"blocks' order": func(p *twoBlocks) {
			p.separators[1], p.handles = long("e"), func(h1, h2 string) (string, string) { return h2, h1 }
		},
		"denied": func(p *twoBlocks) { p.data1 = raw(rawtable.Entries("a", "1", long("ab"), "2")) },
		"a metaindex for index": func(p *twoBlocks) {
			p.index = func(_, _ string) stored { return raw(rawtable.Entries()) }
			metaOf(long("a"), rawtable.Handle(0, 22))(p)
		},
	} {
		p := sound()
		change(&p)
		in := inspect(t, name, p.build(), nil, nil)
		if !strings.Contains(fmt.Sprint(in.opened, in.verified), "k\"… (100") {
			t.Errorf("%s: NewReader = %v, Verify = %v, want a key cut short", name, in.opened, in.verified)
		}
	}
	var out strings.Builder
	w, err := table.NewWriter(&out, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(w.Append([]byte(long("b")), nil), w.Append([]byte(long("a")), nil))
	if got := fmt.Sprint(err); !errors.Is(err, table.ErrOrder) || len(got) > 300 {
		t.Errorf("Append = %s", got)
	}
}
