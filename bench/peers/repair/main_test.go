package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/bench/peers/internal/cxxtool"
	"github.com/sievetable/sievetable/internal/long"
)

// sst repair keeps all right pairs that the peers keep, and names all outdated pairs that it brings back.
func TestRun(t *testing.T) {
	t.Parallel()
	n := long.Rounds(16, 200)
	var out strings.Builder
	err := run([]string{"-n", fmt.Sprint(n)}, &out)
	if errors.Is(err, cxxtool.ErrMissing) && os.Getenv("SIEVETABLE_LEVELDB") != "required" {
		t.Skip(err)
	}
	if err != nil {
		t.Error(err)
	}
	if row := fmt.Sprintf("| all | %d | ", n); !strings.Contains(out.String(), row) {
		t.Errorf("no row %q:\n%s", row, &out)
	}
}

// Bad arguments are refused before a program is compiled.
func TestBadArguments(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-n", "0"}, {"-n", "x"}, {"DIR"}} {
		if err := run(args, nil); err == nil {
			t.Errorf("no error for %q", args)
		}
	}
	if err := run([]string{"-h"}, nil); err != nil {
		t.Errorf("-h: %v", err)
	}
}

// All faults of a repair are reported.
func TestCheck(t *testing.T) {
	t.Parallel()
	r := &result{database: &database{}}
	r.counts[bySST].foreign, r.counts[bySSTCertain].unnamed = 3, 4
	for _, want := range []string{"3 pairs that never were", "4 old and deleted pairs"} {
		if err := r.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("check() = %v, want %q in it", err, want)
		}
	}
}
