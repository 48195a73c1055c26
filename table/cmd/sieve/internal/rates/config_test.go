package rates

import (
	"strings"
	"testing"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(c *Config)
		want   string
	}{
		{"nothing wrong", func(*Config) {}, ""},
		{"one run", func(c *Config) { c.Runs = 1 }, "--runs is 1, not 2 to 1000"},
		{"few lookups", func(c *Config) { c.Lookups = 99 }, "--lookups is 99, not 100 to 1000000"},
		{"a chart for phones", func(c *Config) { c.Width = 340 }, ""},
		{"a narrow chart", func(c *Config) { c.Width = 339 }, "--width is 339, not 340 to 4000"},
		{"no bits", func(c *Config) { c.Bits = nil }, "--bits has 0 numbers, not 1 to 6"},
		{"many numbers of bits", func(c *Config) { c.Bits = []int{1, 2, 3, 4, 5, 6, 7} }, "--bits has 7 numbers"},
		{"zero bits", func(c *Config) { c.Bits = []int{0} }, "--bits has 0, not numbers from 1 to 100"},
		{"bits twice", func(c *Config) { c.Bits = []int{8, 10, 8} }, "--bits has 8 twice"},
		{"no shapes", func(c *Config) { c.Shapes = nil }, "--shapes is empty, not random, sequential, decimal, urls or emails"},
		{"unknown shape", func(c *Config) { c.Shapes = []string{"square"} }, `--shapes has "square", not random`},
		{"bits that a rate replaces", func(c *Config) { c.Bits, c.Rate = nil, 0.01 }, ""},
		{"no policies", func(c *Config) { c.Policies = nil }, "--policy is empty, not bloom, table-bloom"},
		{"unknown policy", func(c *Config) { c.Policies = []string{"sieve"} }, `--policy has "sieve", not bloom`},
		{"sweep of k", func(c *Config) { c.K = Sweep{1, 16} }, ""},
		{"sweep of no k", func(c *Config) { c.K, c.Policies = Sweep{1, 16}, Policies() }, "--k cannot be combined with --policy fuse, whose k is fixed"},
		{"own keys for a sweep", func(c *Config) { c.K, c.Own = Sweep{1, 2}, numbered(400) }, ""},
		{"few own keys for a sweep", func(c *Config) { c.K, c.Own = Sweep{1, 2}, numbered(399) }, "--keys-from has 399 distinct keys, but -n 200 needs 400: use -n 199 or more keys"},
		{"own keys only", func(c *Config) { c.Own, c.Shapes = numbered(600), nil }, ""},
		{"few own keys", func(c *Config) { c.Own = numbered(599) }, "--keys-from has 599 distinct keys, but -n 200 needs 600: use -n 199 or more keys"},
		{"no own keys", func(c *Config) { c.Own = [][]byte{} }, "--keys-from has 0 distinct keys, but -n 200 needs 600"},
		{"shape twice", func(c *Config) { c.Shapes = []string{"urls", "urls"} }, "--shapes has urls twice"},
	} {
		c := small
		tt.change(&c)
		got := ""
		if err := c.Validate(); err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("%s: error %q, want %q", tt.name, got, tt.want)
		}
	}
}
