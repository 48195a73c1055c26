package cli

import (
	"errors"
	"math"
	"strconv"
	"testing"

	"github.com/spf13/pflag"
)

func TestCount(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want uint64
	}{
		{"1", 1}, {"10000", 10_000}, {"10_000_000_000", 1e10}, {"10,000,000,000", 1e10}, {"1,000", 1000}, {"10e9", 1e10}, {"10G", 1e10}, {"1.5M", 1_500_000},
		{"2k", 2000}, {"2K", 2000}, {"4.1G", 41e8}, {"1.001k", 1001}, {"1.0011k", 0}, {"1T", 1e12}, {"1e15", 1e15},
		{"", 0}, {"0", 0}, {"-1", 0}, {"1.5", 0}, {"1e16", 0}, {"1e30", 0}, {"ten", 0}, {"G", 0}, {"nan", 0}, {"inf", 0}, {"1GB", 0}, {"1,5", 0}, {"1000,000", 0}, {"1,000M", 0},
	} {
		var got uint64
		err := Count(&got, "", MaxCount).Set(tt.text)
		if got != tt.want || (err == nil) != (tt.want > 0) {
			t.Errorf("Count of %q is %d, %v, want %d", tt.text, got, err, tt.want)
		}
		if err != nil && err.Error() != "not a whole number from 1 to 1e15, such as 10_000_000, 10e6 or 10M" {
			t.Errorf("Count of %q: error %q does not say what is wanted", tt.text, err)
		}
	}
}

// CountVar accepts the forms that Count does, and numbers < 1.
func TestCountVar(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want int
		err  error
	}{
		{"0", 0, nil}, {"-3", -3, nil}, {"20", 20, nil}, {"1_000", 1000, nil}, {"1,000,000", 1_000_000, nil}, {"1e6", 1_000_000, nil}, {"1M", 1_000_000, nil},
		{"", 0, strconv.ErrSyntax}, {"1.5", 0, strconv.ErrSyntax}, {"few", 0, strconv.ErrSyntax}, {"nan", 0, strconv.ErrSyntax}, {"-0", 0, strconv.ErrSyntax}, {"-0.0", 0, strconv.ErrSyntax}, {"-1e-400", 0, strconv.ErrSyntax},
		{"1e18", 0, strconv.ErrRange}, {"99999999999999999999", 0, strconv.ErrRange},
	} {
		var got int
		var flags pflag.FlagSet
		CountVar(&flags, &got, "limit", "n", 7, "")
		if got != 7 {
			t.Fatalf("the default is %d, want 7", got)
		}
		if err := flags.Parse([]string{"--limit", tt.text}); got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("--limit %q: %d, %v, want %d, %v", tt.text, got, err, tt.want, tt.err)
		}
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want int64 // -1: an error
	}{
		{"0", 0}, {"64", 64}, {"64KiB", 64 << 10}, {"64 KiB", 64 << 10}, {"64kb", 64_000}, {"1.5MB", 1_500_000}, {"1M", 1_000_000},
		{"1e6", 1_000_000}, {"1E6", 1_000_000}, {"1e3kB", 1_000_000}, {"1_000_000", 1_000_000}, {"1,000,000", 1_000_000}, {"8EB", 8e18}, {"4.1GB", 41e8}, {"1.5", 1},
		{"", -1}, {"-1", -1}, {"1XB", -1}, {"KiB", -1}, {"10EB", -1}, {"1,5", -1}, {"1.2.3", -1}, {"1e400", -1}, {"nan", -1}, {"inf", -1},
	} {
		var got int64
		err := Size(&got, "", 0, math.MaxInt64, "a size").Set(tt.text)
		if tt.want >= 0 && (got != tt.want || err != nil) || tt.want < 0 && err == nil {
			t.Errorf("Size of %q is %d, %v, want %d", tt.text, got, err, tt.want)
		}
	}
}
