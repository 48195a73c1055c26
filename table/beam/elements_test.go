package setio_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"github.com/google/go-cmp/cmp"

	setio "github.com/sievetable/sievetable/table/beam"
	"github.com/sievetable/sievetable/table/set"
)

func init() {
	register.Function1x2(stringPair)
	register.Function1x2(bytesPair)
	register.Function1x2(stringBytesPair)
	register.Function1x2(bytesStringPair)
	register.Function1x1(keyText)
}

func keyText(key []byte) string { return string(key) }

// These functions return pairs from "key=value".
func stringPair(s string) (string, string) {
	key, value, _ := strings.Cut(s, "=")
	return key, value
}

func bytesPair(s string) ([]byte, []byte) {
	key, value := stringPair(s)
	return []byte(key), []byte(value)
}

func stringBytesPair(s string) (string, []byte) {
	key, value := bytesPair(s)
	return string(key), value
}

func bytesStringPair(s string) ([]byte, string) {
	key, value := bytesPair(s)
	return key, string(value)
}

// All types of pairs produce the same set. The returned PCollection contains the path of its manifest.
func TestWriteTypesOfPairs(t *testing.T) {
	want := []string{"=empty", "apple=green", "banana=yellow", "cherry", "damson=\x00\xff"}
	p, s, in := ptest.CreateList([]string{"damson=\x00\xff", "banana=yellow", "=empty", "apple=green", "cherry=", "banana=yellow"})
	dirs := map[string]string{}
	for name, convert := range map[string]any{
		"string, string": stringPair, "bytes, bytes": bytesPair,
		"string, bytes": stringBytesPair, "bytes, string": bytesStringPair,
	} {
		dirs[name] = t.TempDir()
		out, err := setio.Write(s, dirs[name], beam.ParDo(s, convert, in), setio.Options{EntriesPerTable: 2})
		noError(t, err)
		passert.Equals(s, out, filepath.Join(dirs[name], set.ManifestName))
	}
	ptest.RunAndValidate(t, p)
	_, first := readSet(t, dirs["bytes, bytes"])
	for name, dir := range dirs {
		checkDiff(t, name+": entries", want, scan(t, dir))
		if _, file := readSet(t, dir); file != first {
			t.Errorf("manifests (-bytes, bytes +%s):\n%s", name, cmp.Diff(first, file))
		}
	}
}

// Keys as elements produce the same bytes as lines of files, for any type, windows, bundles and run size.
func TestWriteKeysAsLines(t *testing.T) {
	keys := shuffledURLs(3000)
	_, want := buildSet(t, writeFiles(t, 3, keys), setio.Options{EntriesPerTable: 700}, sortUnique(keys))
	p, s, col := ptest.CreateList(keys)
	text := beam.ParDo(s, keyText, col)
	dirs := map[string]string{}
	for name, test := range map[string]struct {
		col     beam.PCollection
		runSize int
	}{
		"strings":          {text, 0},
		"bytes, many runs": {col, 10_000},
		"reshuffled":       {beam.Reshuffle(s, col), 0},
		"in windows":       {beam.WindowInto(s, window.NewFixedWindows(time.Hour), text), 20_000},
	} {
		dirs[name] = t.TempDir()
		o := setio.Options{EntriesPerTable: 700, RunSize: test.runSize}
		_, err := setio.WriteKeys(s, dirs[name], test.col, o)
		noError(t, err)
	}
	ptest.RunAndValidate(t, p)
	for name, dir := range dirs {
		if _, got := readSet(t, dir); got != want {
			t.Errorf("manifests (-lines +%s):\n%s", name, cmp.Diff(want, got))
		}
	}
}

// The windows of file names and of Removals do not matter.
func TestWindows(t *testing.T) {
	files := writeContents(t, []string{"b\nc\n", "d\n"})
	dir := t.TempDir()
	noError(t, build(dir, writeContents(t, []string{"a\nb\n"}), setio.Options{}))
	p, s, col := ptest.CreateList(files)
	hours := func(col beam.PCollection) beam.PCollection {
		return beam.WindowInto(s, window.NewFixedWindows(time.Hour), col)
	}
	o := setio.Options{Layer: true, Removals: hours(beam.CreateList(s, []string{"a"}))}
	_, err := setio.WriteLines(s, dir, hours(col), o)
	noError(t, err)
	ptest.RunAndValidate(t, p)
	checkDiff(t, "keys", []string{"b", "c", "d"}, scan(t, dir))
}

// failDir returns a directory for a pipeline that fails. Prism continues to write to it for a while, so it is removed
// only when all tests have ended.
func failDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "failed")
	noError(t, err)
	return dir
}

// checkFailed checks the error of a pipeline. Prism continues for a while, so the error can be a later step's.
func checkFailed(t *testing.T, err error, want string) {
	t.Helper()
	const later = "a worker failed and the runner continued"
	if err == nil || !strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), later) {
		t.Errorf("error %v, want %q", err, want)
	}
}

// A key with two values fails the pipeline, and leaves no manifest.
func TestTwoValuesFailThePipeline(t *testing.T) {
	dir := failDir(t)
	err := writeLayer(t, dir, []string{"a=1", "b=1", "a=2"}, nil, setio.Options{})
	checkFailed(t, err, `key "a" has two values, "1" and "2": combine`)
	if slices.Contains(list(t, dir), set.ManifestName) {
		t.Error("there is a manifest")
	}
}

// Without keys, an existing set is not replaced, since most often the input is missing.
func TestNoKeysReplaceNoSet(t *testing.T) {
	dir := failDir(t)
	noError(t, writeLayer(t, dir, []string{"a=1"}, nil, setio.Options{}))
	before, _ := readSet(t, dir)
	checkFailed(t, writeLayer(t, dir, nil, nil, setio.Options{}), "set.jsonl is unchanged: nothing to write")
	after, _ := readSet(t, dir)
	checkDiff(t, "manifest", before, after)
}

// Counters describe a build. tables_found counts existing tables if a build is repeated.
func TestCounters(t *testing.T) {
	dir := t.TempDir()
	for i, want := range []map[string]int64{
		{"keys_read": 5, "keys_written": 4, "tables_written": 2},
		{"keys_read": 5, "keys_written": 4, "tables_found": 2},
	} {
		p, s, col := ptest.CreateList([]string{"b", "a", "c", "d", "a"})
		_, err := setio.WriteKeys(s, dir, col, setio.Options{EntriesPerTable: 2})
		noError(t, err)
		result := ptest.RunAndValidate(t, p)
		got := map[string]int64{}
		for _, c := range result.Metrics().AllMetrics().Counters() {
			if c.Key.Namespace == "setio" {
				got[c.Key.Name] += c.Result()
			}
		}
		m, _ := readSet(t, dir)
		if i == 0 {
			want["bytes_written"] = m.Tables[0].Size + m.Tables[1].Size
		}
		checkDiff(t, fmt.Sprintf("counters of build %d", i), want, got)
	}
}
