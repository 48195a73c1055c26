package text

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLines(t *testing.T) {
	err := errors.Join(errors.New("one"), fmt.Errorf("two: %w", errors.Join(errors.New("three"), errors.New("four"))))
	if diff := cmp.Diff([]string{"one", "two: three", "four"}, Lines(err)); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestUnits(t *testing.T) {
	got := []string{Count(1, "table"), Count(int64(2000), "table"), Bytes(0), Bytes(1), Bytes(999), Bytes(1500)}
	want := []string{"1 table", "2,000 tables", "0 bytes", "1 byte", "999 bytes", "1.5 kB"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("units (-want +got):\n%s", diff)
	}
}
