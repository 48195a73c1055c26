package command

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/sievetable/sievetable/table/cmd/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// expected has the numbers that the user expects, so that missing parts are noticed.
type expected struct{ tables, entries uint64 } // 0: not given

// check returns an error if the tables differ from the expected numbers. If --tables is given, gaps in numbered names
// are allowed.
func (e expected) check(all []tableLine) error {
	var entries uint64
	for _, l := range all {
		entries += l.Entries
	}
	switch {
	case e.tables > 0 && e.tables != uint64(len(all)):
		return fmt.Errorf("--tables is %d, but the FILEs contain %s: add the missing ones, or correct the number", e.tables, text.Count(uint64(len(all)), "table"))
	case e.entries > 0 && e.entries != entries:
		return fmt.Errorf("--entries is %d, but the tables have %d entries: a FILE is missing, or sorting, splitting or building ended early. Check these, and build again",
			e.entries, entries)
	case e.tables > 0:
		return nil
	}
	return checkParts(all)
}

// afterPrefix matches the part of a name after the common prefix: its number, as in part-00003.ldb, and perhaps the
// number of parts, as in part-00003-of-00010.ldb.
var afterPrefix = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9]{1,9})(?:-of-([0-9]{1,9}))?(?:[^0-9A-Za-z].*)?$`)
})

// checkParts returns an error if the names of the tables are numbered, and numbers are missing. If a name has no
// number, or two have the same one, the names do not count as numbered.
func checkParts(all []tableLine) error {
	prefix := commonPrefix(all)
	numbers, low, high, of := map[int]bool{}, math.MaxInt, 0, 0
	for _, l := range all {
		m := afterPrefix().FindStringSubmatch(l.Name[len(prefix):])
		if m == nil {
			return nil
		}
		n, _ := strconv.Atoi(m[1])     // at most 9 digits
		total, _ := strconv.Atoi(m[2]) // 0 if absent
		if numbers[n] {
			return nil
		}
		numbers[n] = true
		low, high, of = min(low, n), max(high, n), max(of, total)
	}
	switch { // the first number is 0 or 1
	case of == 0:
		low = min(low, 1)
	case high == of:
		low = 1
	default:
		low, high = 0, max(of-1, high)
	}
	var missing []string
	for i := low; i <= high && len(missing) < 4; i++ {
		if !numbers[i] {
			missing = append(missing, strconv.Itoa(i))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if len(missing) > 3 {
		missing[3] = "…"
	}
	return fmt.Errorf("tables %s… are numbered %d to %d, with %s missing: add a FILE for each; or, if these parts have no keys, use --tables %d",
		printable.Escape([]byte(prefix)), low, high, strings.Join(missing, ", "), len(all))
}

// commonPrefix returns the common part of all names before their numbers.
func commonPrefix(all []tableLine) (prefix string) {
	for i, l := range all {
		name, _, _ := strings.Cut(l.Name, "-of-")
		if i == 0 {
			prefix = name
		}
		for !strings.HasPrefix(name, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	return strings.TrimRight(prefix, "0123456789")
}
