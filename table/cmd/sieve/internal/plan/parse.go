package plan

import (
	"strconv"
	"strings"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
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
