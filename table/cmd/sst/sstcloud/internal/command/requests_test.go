package command

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cloud/s3test"
)

// makeLargeSet builds a set with tables of 200,000 entries, which are larger than a single read.
func makeLargeSet(t *testing.T, entries int) (dir, keys string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "large")
	var lines bytes.Buffer
	for i := range entries {
		fmt.Fprintf(&lines, "key-%08d\tvalue %x\n", i, uint64(i)*0x9e3779b97f4a7c15)
	}
	build := process("sst", "build", "--bits", "10", "--compression", "none", "--entries-per-table", "200000", "-o", dir+"/", "-")
	build.Stdin = &lines
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var some bytes.Buffer
	for i := range 1000 {
		fmt.Fprintf(&some, "key-%08d\nabsent-%d\n", i*entries/1000, i)
	}
	keys = filepath.Join(t.TempDir(), "keys")
	noError(t, os.WriteFile(keys, some.Bytes(), 0o666))
	return dir, keys
}

// Commands read a set with few requests: one for the list, one for the manifest, one to open each table, and one
// for each looked-up block, or for each 4 MiB of a scan or of adjacent keys.
func TestRequestsOfReads(t *testing.T) {
	long.Test(t)
	t.Parallel()
	proxy := s3test.NewProxy(t)
	dir, keys := makeLargeSet(t, 800_000)
	sendFiles(t, proxy.Bucket(t), dir)
	set := s3test.BucketURL(t, proxy.URL)
	in := func(name string) string { return strings.Replace(set, "?", "/"+name+"?", 1) }
	tables, err := filepath.Glob(filepath.Join(dir, "*.ldb"))
	noError(t, err)
	table := filepath.Base(tables[0])
	for _, tt := range []struct {
		command string
		most    int
	}{
		{"stats SET", 2},
		{"get SET key-00400000", 4},
		{"get SET absent", 2},
		{"get SET key-00400000x", 3},
		{"get --keys-from KEYS SET", 2 + 4 + 20},
		{"scan --limit 10 SET", 4},
		{"scan SET", 2 + 4*(1+3)},
		{"scan --reverse SET", 2 + 4*(1+10)},
		{"verify SET", 2 + 4*(1+3)},
		{"stats SET/set.jsonl", 3},
		{"diff SET SET", 2 + 4*2*(1+3)},
		{"merge SET -o OUT", 2 + 4*(1+3)},
		{"get TABLE key-00000400", 21}, // includes requests to confirm the order
		{"get --comparator bytewise TABLE key-00000400", 6},
		{"scan TABLE", 15},
	} {
		proxy.Count(http.MethodGet)
		proxy.Count(http.MethodHead)
		arguments := strings.NewReplacer("SET/set.jsonl", in("set.jsonl"), "TABLE", in(table), "SET", set, "KEYS", keys,
			"OUT", filepath.Join(t.TempDir(), "out"))
		cmd := process("sstcloud", strings.Fields(arguments.Replace(tt.command))...)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() > 1 {
			t.Errorf("%v: %v: %s", tt.command, err, out)
		}
		if n := proxy.Count(http.MethodGet) + proxy.Count(http.MethodHead); n > tt.most {
			t.Errorf("%s: %d requests, want at most %d", tt.command, n, tt.most)
		} else {
			t.Logf("%s: %d requests", tt.command, n)
		}
	}
}
