package plan

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/cli"
)

// keySuffixes are the suffixes of a number of keys.
var keySuffixes = map[string]float64{"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}

// grouped matches numbers with commas between groups of three digits.
var grouped = regexp.MustCompile(`^[0-9]{1,3}(,[0-9]{3})+$`)

// ParseKeys parses the number of keys or tables that the flag is, 1 to most: 10000000000,
// 10_000_000_000, 10,000,000,000, 10e9 or 10G.
func ParseKeys(flag, s string, most uint64) (uint64, error) {
	number, factor := s, 1.0
	if s != "" {
		if f, ok := keySuffixes[s[len(s)-1:]]; ok {
			number, factor = s[:len(s)-1], f
		}
	}
	if grouped.MatchString(s) {
		number = strings.ReplaceAll(s, ",", "")
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(number, "_", ""), 64)
	n *= factor
	if err != nil || !(n >= 1 && n <= float64(most)) || n != math.Trunc(n) {
		limit, example := fmt.Sprint(most), "10_000_000, 10e6 or 10M"
		switch {
		case most == MaxKeys:
			limit = "1e15"
		case most < 10e6:
			example = "10_000, 10e3 or 10k"
		}
		return 0, cli.UsageErrorf("%s is %s, want a whole number from 1 to %s, such as %s", flag, wire.Quote([]byte(s)), limit, example)
	}
	return uint64(n), nil
}

// ParseRate parses a rate: 0.01 or 1%.
func ParseRate(s string) (float64, error) {
	number, percent := strings.CutSuffix(s, "%")
	p, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		p /= 100
	}
	if err != nil || !(p >= minRate && p < 1) {
		return 0, cli.UsageErrorf("-p is %s, want a rate from 1e-9 to below 1, such as 0.01, or in percent, such as 1%%", wire.Quote([]byte(s)))
	}
	return p, nil
}

// maxPrice keeps the price of 1e15 keys far from the largest number.
const maxPrice = 1e9

// ParsePrice parses the price that the flag is.
func ParsePrice(flag, s string) (float64, error) {
	p, err := strconv.ParseFloat(s, 64)
	if err != nil || !(p >= 0 && p <= maxPrice) {
		return 0, cli.UsageErrorf("%s is %s, want a price from 0 to 1e9, such as 0.40", flag, wire.Quote([]byte(s)))
	}
	return p, nil
}
