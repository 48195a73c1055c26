package cli

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"github.com/sievetable/sievetable/internal/wire"
)

// countSuffixes are the suffixes of a number of things.
var countSuffixes = map[string]float64{"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}

// grouped matches numbers with commas between groups of three digits.
var grouped = regexp.MustCompile(`^[0-9]{1,3}(,[0-9]{3})+$`)

// number parses a number without a suffix: 1000000, 1_000_000, 1,000,000 or 1e6.
func number(s string) (float64, error) {
	if grouped.MatchString(s) {
		s = strings.ReplaceAll(s, ",", "")
	}
	return strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
}

// isMinusZero reports whether a number that was parsed is -0, or a negative one that is rounded to it. It
// would pass for 0 where numbers must be >= 0.
func isMinusZero(n float64) bool { return n == 0 && math.Signbit(n) }

// wholeNumber parses a whole number, which may have a suffix, such as 1M. The error is
// strconv.ErrRange if it has more than 18 digits.
func wholeNumber(s string) (int64, error) {
	digits, factor := s, 1.0
	if s != "" {
		if f, ok := countSuffixes[s[len(s)-1:]]; ok && !strings.Contains(s, ",") {
			digits, factor = s[:len(s)-1], f
		}
	}
	n, err := number(digits)
	n *= factor
	switch {
	case err != nil || n != math.Trunc(n) || isMinusZero(n):
		return 0, strconv.ErrSyntax
	case math.Abs(n) >= 1e18:
		return 0, strconv.ErrRange
	}
	return int64(n), nil
}

// MaxCount is the largest limit of a count, such as of all keys. Below 2⁵³, a float64 has each whole number.
const MaxCount = 1_000_000_000_000_000

// ParseCount parses the number of keys, tables or the like that the flag is, 1 to most:
// 10000000000, 10_000_000_000, 10,000,000,000, 10e9 or 10G.
func ParseCount(flag, s string, most uint64) (uint64, error) {
	n, err := wholeNumber(s)
	if err == nil && n >= 1 && uint64(n) <= most {
		return uint64(n), nil
	}
	limit, example := fmt.Sprint(most), "10_000_000, 10e6 or 10M"
	switch {
	case most == MaxCount:
		limit = "1e15"
	case most < 10e6:
		example = "10_000, 10e3 or 10k"
	}
	return 0, UsageErrorf("%s is %s, want a whole number from 1 to %s, such as %s", flag, wire.Quote([]byte(s)), limit, example)
}

// A count is the value of a flag that counts things. It takes what ParseCount takes, and 0 and
// numbers below it, which the command may forbid.
type count int

// CountVar defines a flag that counts things, with a shorthand if it is not empty.
func CountVar(flags *pflag.FlagSet, p *int, name, shorthand string, value int, usage string) {
	*p = value
	flags.VarP((*count)(p), name, shorthand, usage)
}

func (c *count) String() string { return strconv.Itoa(int(*c)) }

// Type is that of other whole numbers, so that help and errors have one word for all.
func (c *count) Type() string { return "int" }

func (c *count) Set(s string) error {
	n, err := wholeNumber(s)
	if *c = count(n); int64(*c) != n {
		return strconv.ErrRange
	}
	return err
}

// sized matches a number of bytes: a number and a unit.
var sized = regexp.MustCompile(`^([0-9][0-9_,.]*(?:[eE]\+?[0-9]+)?) *([A-Za-z]*)$`)

// ParseSize parses the number of bytes, < 2⁶³, that is the value of a flag: 65536, 65_536, 64KiB or
// 1e6. The error says what is wanted.
func ParseSize(flag, s, want string) (int64, error) {
	if parts := sized.FindStringSubmatch(s); parts != nil {
		n, err := number(parts[1])
		unit, unitErr := humanize.ParseBytes("1" + parts[2])
		if n *= float64(unit); err == nil && unitErr == nil && n < math.MaxInt64 {
			return int64(n), nil
		}
	}
	return 0, UsageErrorf("%s is %s, want %s", flag, wire.Quote([]byte(s)), want)
}
