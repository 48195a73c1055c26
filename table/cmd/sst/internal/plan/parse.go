package plan

import (
	"strconv"
	"strings"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/cli"
)

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
	if err != nil || !(p >= 0 && p <= maxPrice) || cli.IsMinusZero(p) {
		return 0, cli.UsageErrorf("%s is %s, want a price from 0 to 1e9, such as 0.40", flag, wire.Quote([]byte(s)))
	}
	return p, nil
}
