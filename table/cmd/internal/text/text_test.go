package text

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLines(t *testing.T) {
	t.Parallel()
	two := errors.Join(errors.New("one"), errors.New("two\nx: ok"))
	for _, tt := range []struct {
		err  error
		want []string
	}{
		{nil, nil},
		{&fs.PathError{Op: "open", Path: "a\nb", Err: fs.ErrNotExist}, []string{`open a\nb: file does not exist`}},
		{two, []string{"one", `two\nx: ok`}},
		{errors.Join(two, errors.New("three")), []string{"one", `two\nx: ok`, "three"}},
		{errors.Join(errors.New("f: one"), errors.New("f: one"), errors.New("two")), []string{"f: one", "two"}},
		{fmt.Errorf("a\n.ldb: %w, both", two), []string{`a\n.ldb: one, both`, `a\n.ldb: two\nx: ok, both`}},
		{fmt.Errorf("b: %w", fmt.Errorf("a: %w", two)), []string{"b: a: one", `b: a: two\nx: ok`}},
		{fmt.Errorf("b: %w", errors.Join(errors.New("one"))), []string{"b: one"}},
		{fmt.Errorf("%w (%w)", errors.New("one"), errors.New("three")), []string{"one (three)"}},
		{fmt.Errorf("a: %w", fmt.Errorf("%w: %w", errors.New("one"), fs.ErrNotExist)), []string{"a: one: file does not exist"}},
		{errors.Join(two, fmt.Errorf("%w (%w)", errors.New("three"), errors.New("four"))), []string{"one", `two\nx: ok`, "three (four)"}},
	} {
		if diff := cmp.Diff(tt.want, Lines(tt.err)); diff != "" {
			t.Errorf("lines of %q (-want +got):\n%s", tt.err, diff)
		}
	}
}

func TestLineAndRow(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	Line(&out, "%s: ok", "a\nb")
	Row(&out, "file\t", "%s", "a\tb\n")
	if diff := cmp.Diff("a\\nb: ok\nfile\\t\ta\\tb\\n\n", out.String()); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
}

// Sizes are rounded once, to the digits that are shown.
func TestBytes(t *testing.T) {
	t.Parallel()
	for n, want := range map[uint64]string{
		0: "0 bytes", 1: "1 byte", 999: "999 bytes", 1000: "1.0 kB", 1049: "1.0 kB", 1051: "1.1 kB", 9940: "9.9 kB", 9996: "10 kB",
		14_499: "14 kB", 14_500: "15 kB", 14_511: "15 kB", 999_499: "999 kB", 999_500: "1.0 MB", 1_449_999: "1.4 MB",
		14_511_000: "15 MB", math.MaxUint64: "18 EB",
	} {
		if got := Bytes(n); got != want {
			t.Errorf("%d bytes are %q, want %q", n, got, want)
		}
	}
}
