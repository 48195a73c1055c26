package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/bench/peers/internal/cxxtool"
	"github.com/sievetable/sievetable/internal/long"
)

// The whole program, small: both print the same of the database, and every work has its
// figures.
func TestRun(t *testing.T) {
	long.Test(t)
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "db")
	err := run([]string{"make", "-entries", "9000", dir}, nil)
	if errors.Is(err, cxxtool.ErrMissing) && os.Getenv("SIEVETABLE_LEVELDB") != "required" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := run([]string{"measure", "-entries", "9000", "-rounds", "2", "-scans", "1", dir}, &out); err != nil {
		t.Error(err)
	}
	for _, work := range []string{
		"get, present, log empty", "get, absent, log empty", "get, present, as it was closed", "get, absent, as it was closed",
		"scan --limit 1", "scan", "diff DIR DIR",
	} {
		_, figures, ok := strings.Cut(out.String(), " "+work+"  ")
		var cxx string
		var sst float64
		if _, err := fmt.Sscan(figures, &cxx, &sst); !ok || err != nil || sst <= 0 {
			t.Errorf("no figures of %q, %v:\n%s", work, err, &out)
		}
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(dir), "measure-*")); err != nil || left != nil {
		t.Errorf("%v, %v are left", left, err)
	}
}

// What cannot be done is refused before a program is compiled.
func TestBadArguments(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{}, {"make"}, {"make", "a", "b"}, {"make", "-entries", "1", "a"}, {"measure", "-rounds", "0", "a"}, {"measure", "-scans", "0", "a"},
	} {
		if err := run(args, nil); err == nil || !strings.Contains(err.Error(), "usage:") {
			t.Errorf("%q: %v, want the usage", args, err)
		}
	}
}
