package command

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// expected is what the user knows of a set, so that what is missing is noticed.
type expected struct{ tables, entries uint64 } // 0: not given

// parseExpected parses the values of --tables and --entries. wc puts spaces before its count on
// some systems.
func parseExpected(tables, entries string) (e expected, err error) {
	for _, f := range []struct {
		flag, text string
		value      *uint64
	}{{"--tables", tables, &e.tables}, {"--entries", entries, &e.entries}} {
		if f.text == "" {
			continue
		}
		if *f.value, err = cli.ParseCount(f.flag, strings.TrimSpace(f.text), cli.MaxCount); err != nil {
			return e, err
		}
	}
	return e, nil
}

// check returns an error if the tables are not those that are expected. Parts may be missing
// from the numbers of their names if the user has counted the tables.
func (e expected) check(all []tableLine) error {
	var entries uint64
	for _, l := range all {
		entries += l.Entries
	}
	switch {
	case e.tables > 0 && e.tables != uint64(len(all)):
		return fmt.Errorf("--tables is %d, but the FILEs are of %s: give a FILE of each table, or the right number", e.tables, text.Count(uint64(len(all)), "table"))
	case e.entries > 0 && e.entries != entries:
		return fmt.Errorf("--entries is %d, but the tables have %d entries: look whether a FILE is missing, and whether what sorted the keys, cut them or built the tables ended early; then build again",
			e.entries, entries)
	case e.tables > 0:
		return nil
	}
	return checkParts(all)
}

// A part is the number in the name of a table that is one of several: part-00003.ldb, or
// part-00003-of-00010.ldb, which has their number too.
type part struct{ number, of int }

// afterPrefix matches what a name has behind the prefix that all have.
var afterPrefix = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9]{1,9})(?:-of-([0-9]{1,9}))?(?:[^0-9A-Za-z].*)?$`)
})

// checkParts returns an error if the names of the tables are numbered, and numbers are missing.
func checkParts(all []tableLine) error {
	prefix := commonPrefix(all)
	parts := numbersOf(all, prefix)
	if len(parts) == 0 {
		return nil
	}
	low, high := rangeOf(parts)
	missing := missingFrom(parts, low, high)
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("the tables %s… are numbered from %d to %d, without %s: give a FILE for each; if parts without keys have no table, say how many tables there are by --tables %d",
		printable.Escape([]byte(prefix)), low, high, strings.Join(missing, ", "), len(all))
}

// rangeOf returns the first and the last number that sorted parts should have. The first one is 0
// or 1.
func rangeOf(parts []part) (low, high int) {
	first, last := parts[0].number, parts[len(parts)-1].number
	of := slices.MaxFunc(parts, func(a, b part) int { return a.of - b.of }).of
	switch {
	case of == 0:
		return min(first, 1), last
	case last == of:
		return 1, of
	}
	return 0, max(of-1, last)
}

// missingFrom returns which numbers sorted parts do not have, or the first three and "…".
func missingFrom(parts []part, low, high int) (missing []string) {
	for i := low; i <= high; i++ {
		switch {
		case len(parts) > 0 && parts[0].number == i:
			parts = parts[1:]
		case len(missing) == 3:
			return append(missing, "…")
		default:
			missing = append(missing, strconv.Itoa(i))
		}
	}
	return missing
}

// numbersOf returns the numbers behind the prefix in order. It returns none if not all names have
// one, or if two have the same: then they do not number the tables.
func numbersOf(all []tableLine, prefix string) (parts []part) {
	for _, l := range all {
		m := afterPrefix().FindStringSubmatch(l.Name[len(prefix):])
		if m == nil {
			return nil
		}
		var p part
		p.number, _ = strconv.Atoi(m[1]) // it has digits, and few
		p.of, _ = strconv.Atoi(m[2])     // 0 if it is not there
		parts = append(parts, p)
	}
	slices.SortFunc(parts, func(a, b part) int { return a.number - b.number })
	for i := 1; i < len(parts); i++ {
		if parts[i-1].number == parts[i].number {
			return nil
		}
	}
	return parts
}

// commonPrefix returns what all names have before their number.
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
