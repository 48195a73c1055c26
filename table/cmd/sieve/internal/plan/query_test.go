package plan

import (
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
)

func TestParseRate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want float64
	}{
		{"0.01", 0.01}, {"1%", 0.01}, {"0.01%", 0.0001}, {"1 %", 0.01}, {"1e-6", 1e-6}, {"99%", 0.99}, {"0.7%", 0.007}, {"1e-7%", 1e-9},
		{"", 0}, {"0", 0}, {"1", 0}, {"100%", 0}, {"-1%", 0}, {"1e-10", 0}, {"few", 0}, {"nan", 0}, {"%", 0},
	} {
		got, err := ParseRate(tt.text)
		if got != tt.want || (err == nil) != (tt.want > 0) {
			t.Errorf("ParseRate(%q) = %g, %v, want %g", tt.text, got, err, tt.want)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "not a rate from 1e-9") {
			t.Errorf("ParseRate(%q): error %q does not say what is wanted", tt.text, err)
		}
	}
}

func TestWrongQueries(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for _, tt := range []struct {
		change func(q *Query)
		want   string
	}{
		{func(q *Query) { q.Rate = 0 }, "--bits is 0, not 1 to 100"},
		{func(q *Query) { q.Rate, q.BitsPerKey = 0, -1 }, "--bits is -1, not 1 to 100"},
		{func(q *Query) { q.Rate, q.BitsPerKey = 0, 101 }, "--bits is 101, not 1 to 100"},
		{func(q *Query) { q.Compression = 0 }, "--compression is 0, not 0.01 to 1"},
		{func(q *Query) { q.Compression = 2 }, "--compression is 2, not 0.01 to 1"},
		{func(q *Query) { q.KeySize = 0 }, "--key-size is 0B, not 1B to 64KiB"},
		{func(q *Query) { q.ValueSize = 1<<30 + 1 }, "--value-size is 1073741825B, not 0B to 1GiB"},
		{func(q *Query) { q.BlockSize = 100 }, "--block-size is 100B, not 256B to 1MiB"},
		{func(q *Query) { q.TableSize = 8 << 30 }, "--table-size is 8GiB, not 1MiB to 4GiB"},
		{func(q *Query) { q.Memory = 100 }, "--memory is 100 B, less than the 1.5 kB of one table's filters and index: raise it, or lower --table-size"},
	} {
		q := usual(1000, 0.01)
		tt.change(&q)
		if _, err := New(q, func() {}); err == nil || err.Error() != tt.want {
			t.Errorf("error %v, want %s", err, tt.want)
		}
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ got, want string }{
		{percent(0), "0 %"}, {percent(1), "100 %"}, {percent(0.155), "16 %"}, {percent(0.0099), "0.99 %"}, {percent(0.0996), "10 %"},
		{percent(0.0001), "0.010 %"}, {percent(6.8e-7), "0.000068 %"},
		{exactPercent(0.0001), "0.01 %"}, {exactPercent(0.07), "7 %"}, {exactPercent(1e-9), "0.0000001 %"}, {exactPercent(1), "100 %"},
		{exact(0), "0B"}, {exact(1000), "1000B"}, {exact(4096), "4KiB"}, {exact(1 << 40), "1024GiB"},
		{size(1.25e9), "1.2 GB"}, {size(64), "64 B"}, {count(1e10), "10,000,000,000"}, {count(7), "7"},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
}
