package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/bench/peers/internal/marked"
	"github.com/sievetable/sievetable/internal/errtest"
)

var noError = errtest.NoError

// The processes of steps run this program again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == childArg {
		main()
		return
	}
	os.Exit(m.Run())
}

const root = "../../.."

// The tables in the pages match the results.
func TestPages(t *testing.T) {
	t.Parallel()
	r, err := loadResults("results.json")
	noError(t, err)
	for page, tables := range pages {
		got, err := os.ReadFile(filepath.Join(root, page))
		noError(t, err)
		want, err := marked.Replace(got, tables(r))
		noError(t, err)
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("run go run ./bench/peers/sets -draw in the root (-results +%s):\n%s", page, diff)
		}
	}
}

// A small run of the whole program has all rows of each engine, with all of their figures.
func TestMeasure(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("sets are measured on Linux only")
	}
	r, err := measure(t.TempDir(), []int{2000})
	noError(t, err)
	var want, got []string
	for _, e := range engines() {
		for _, w := range e.ways {
			want = append(want, e.row(w))
		}
	}
	for _, row := range r.Rows {
		got = append(got, row.Name)
		if row.N != 2000 || row.Build <= 0 || row.Disk <= 0 || row.Open <= 0 || row.Absent <= 0 || row.Present <= 0 || row.After == (memory{}) {
			t.Errorf("row lacks a figure: %+v", row)
		}
		if isSet := strings.HasPrefix(row.Name, "set"); isSet != (row.Unsorted > 0) {
			t.Errorf("%s: from unsorted keys %v µs", row.Name, row.Unsorted)
		}
		if row.FalsePositives > 0.05 {
			t.Errorf("%s: %v of the absent keys are false positives, want about 0.01", row.Name, row.FalsePositives)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if len(r.Curve.Points) != 7 || r.Curve.Points[0].Lookup <= 0 {
		t.Errorf("lookups by MemorySize: %+v, want 7 points", r.Curve)
	}
}

// Bad arguments are refused before anything is measured.
func TestBadArguments(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"-n", "1e7,1e6"}, {"-n", "x"}, {"-n", ""}, {"-n", "10"}, {"-n", "1000.5"}, {"-n", "2e9"}, {"DIR"},
		{"-n", "1e6"}, // not in the root
		{childArg}, {childArg, "write", "no engine", "", "."}, {childArg, "write", "bbolt", "no file", "."}, {childArg, "no step", "bbolt", "", "."}, {childArg, "query", "bbolt", "no way", "."},
	} {
		if err := run(args); err == nil {
			t.Errorf("no error for %q", args)
		}
	}
	if err := run([]string{"-h"}); err != nil {
		t.Errorf("-h: %v", err)
	}
}

func TestResultsFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "results.json")
	want := someResults()
	noError(t, want.save(file))
	got, err := loadResults(file)
	if err != nil || got.tables() != want.tables() {
		t.Errorf("results that were saved: %+v, %v; want %+v", got, err, want)
	}
	for _, text := range []string{"", "{}", "x"} {
		noError(t, os.WriteFile(file, []byte(text), 0o666))
		if _, err := loadResults(file); err == nil || !bytes.Contains([]byte(err.Error()), []byte("results.json")) {
			t.Errorf("results %q: error %v, want one that names the file", text, err)
		}
	}
}
