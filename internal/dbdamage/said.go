package dbdamage

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Said contains the losses that sst reports.
type Said struct {
	ranges    []keyRange
	sequences [][2]uint64 // first and last lost sequence numbers
	all       bool        // any key may have an older version
	tail      bool        // the end of a log was skipped
	old       bool        // the MANIFEST may be cut, so that any key may be outdated
	missed    string      // a line that was not understood
}

// A keyRange is a range of keys, including both bounds.
type keyRange struct{ from, to string }

var (
	lostKeys = regexp.MustCompile(`: (?:(?:lost|keys out of order among) )?the keys(?: (≥|>) ("(?:[^"\\]|\\.)*"))?(?: and)?(?: ≤ ("(?:[^"\\]|\\.)*"))?[ ,:]`)
	lostLog  = regexp.MustCompile(`(?:writes? with sequence numbers? (<|>)? ?(\d+)(?: to (\d+))? (?:may be|is|are) lost|(its writes are lost)|(no writes are lost))`)
)

// Hear parses the messages of sst.
func Hear(stderr string) (s Said) {
	for line := range strings.Lines(stderr) {
		k, l := lostKeys.FindStringSubmatch(line), lostLog.FindStringSubmatch(line)
		switch {
		case k != nil:
			r := keyRange{unquote(k[2]), "\xff\xff\xff\xff"}
			if k[3] != "" {
				r.to = unquote(k[3])
			}
			s.ranges = append(s.ranges, r)
		case l != nil && l[5] == "":
			s.sequences = append(s.sequences, sequencesOf(l))
		case strings.Contains(line, ".log: offset ") && l == nil:
			s.missed = line
		}
		s.all = s.all || strings.Contains(line, "older or deleted versions may appear")
		s.tail = s.tail || strings.Contains(line, "at its end")
		s.old = s.old || strings.Contains(line, "the file was cut and may be out of date")
	}
	return s
}

func sequencesOf(match []string) [2]uint64 {
	first, _ := strconv.ParseUint(match[2], 10, 64) // 0 if all writes are lost
	last, err := strconv.ParseUint(match[3], 10, 64)
	if err != nil {
		last = first
	}
	switch {
	case match[1] == ">":
		return [2]uint64{first + 1, math.MaxUint64}
	case match[1] == "<":
		return [2]uint64{0, first - 1}
	case match[4] != "":
		return [2]uint64{0, math.MaxUint64}
	}
	return [2]uint64{first, last}
}

func unquote(s string) string {
	u, _ := strconv.Unquote(s) // "" without a bound
	return u
}

// Covers reports whether a message covers a key whose newest version has the given sequence number.
func (s *Said) Covers(key string, newest uint64) bool { return s.all || s.Names(key, newest) }

// Names reports whether a message covers the key by a range of keys or by sequence numbers.
func (s *Said) Names(key string, newest uint64) bool {
	return slices.ContainsFunc(s.ranges, func(r keyRange) bool { return key >= r.from && key <= r.to }) ||
		slices.ContainsFunc(s.sequences, func(q [2]uint64) bool { return newest >= q[0] && newest <= q[1] })
}

func (s *Said) String() string {
	return fmt.Sprintf("ranges %q, sequence numbers %v, all %v, end of a log %v", s.ranges, s.sequences, s.all, s.tail)
}
