package versions

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table/internalkey"
)

// A Flaw is something in CURRENT or the MANIFEST that no engine writes.
type Flaw struct {
	File  string // name of the file
	What  string // what is wrong, without advice
	Fatal bool   // the version cannot be used; otherwise an engine may refuse the database or overwrite files
}

// LevelDB has the levels 0 to 6. goleveldb adds levels as its tables need them.
const maxLevelOfLevelDB = 6

// Check returns the flaws of CURRENT and the MANIFEST that can be found without tables and logs. compare is the
// order of internal keys, or nil if it is unknown.
func (v *Version) Check(compare func(a, b []byte) int) []Flaw {
	c := checker{v: v}
	c.checkCurrent()
	c.checkNumbers()
	if sound := c.checkKeys(); compare != nil && sound {
		for _, tables := range v.Levels(compare) {
			c.checkLevel(tables, compare)
		}
	}
	return c.flaws
}

// LevelNote returns a note if C++ LevelDB does not open the database because it has too many levels, or "".
func (v *Version) LevelNote() string {
	if v.highestLevel <= maxLevelOfLevelDB {
		return ""
	}
	return fmt.Sprintf("it has level %d: goleveldb opens the database, and LevelDB, whose levels are 0 to %d, does not", v.highestLevel, maxLevelOfLevelDB)
}

// TornNote returns a note about an incomplete edit at the end of the MANIFEST, or "".
func (v *Version) TornNote() string {
	if v.Torn == 0 {
		return ""
	}
	return format.Plural(uint64(v.Torn), "byte") + " at its end are an incomplete edit, which is ignored"
}

// Levels returns the tables of each level that has some. Level 0 is ordered by number, the highest first, and other
// levels by first keys.
func (v *Version) Levels(compare func(a, b []byte) int) (levels [][]*Table) {
	for i, t := range v.Tables { // by level, and then by number, the highest first
		if i == 0 || v.Tables[i-1].Level != t.Level {
			levels = append(levels, nil)
		}
		last := &levels[len(levels)-1]
		*last = append(*last, t)
	}
	for _, tables := range levels {
		if tables[0].Level > 0 {
			slices.SortFunc(tables, func(a, b *Table) int {
				return cmp.Or(compare(a.Smallest, b.Smallest), cmp.Compare(a.Number, b.Number))
			})
		}
	}
	return levels
}

// A checker collects the first flaws of a Version. Their number is limited, since each of many tables can have one.
type checker struct {
	v     *Version
	flaws []Flaw
}

const maxFlaws = 20

func (c *checker) add(file string, fatal bool, format string, args ...any) {
	if len(c.flaws) < maxFlaws {
		c.flaws = append(c.flaws, Flaw{file, fmt.Sprintf(format, args...), fatal})
	}
}

// checkCurrent compares CURRENT with what engines write.
func (c *checker) checkCurrent() {
	name, ended := strings.CutSuffix(c.v.current, "\n")
	switch usual := fmt.Sprintf("MANIFEST-%06d", c.v.number()); {
	case name == "": // CURRENT was not read
	case !ended:
		c.add("CURRENT", false, "its newline is missing, so engines refuse the database")
	case name == c.v.Manifest && name != usual: // otherwise reading that one failed, which is an error
		c.add("CURRENT", false, "it names %s, which engines call %s and may not find", name, usual)
	}
}

// number returns the number of the MANIFEST.
func (v *Version) number() uint64 {
	n, _ := strconv.ParseUint(strings.TrimPrefix(v.Manifest, "MANIFEST-"), 10, 64)
	return n
}

// checkNumbers checks the numbers and the comparator. An engine gives the next file number to a new file.
func (c *checker) checkNumbers() {
	v := c.v
	if v.LastSequence > internalkey.MaxSequence {
		c.add(v.Manifest, true, "the last sequence number, %d, exceeds the maximum of %d", v.LastSequence, uint64(internalkey.MaxSequence))
	}
	if v.Comparer == "" {
		c.add(v.Manifest, false, "no edit names the comparator, so goleveldb refuses the database")
	}
	highest := max(v.number(), v.log, v.previousLog)
	for _, t := range v.Tables {
		highest = max(highest, t.Number)
	}
	if v.nextFile <= highest {
		c.add(v.Manifest, false, "the next file number is %d, though there is a file with number %d, so engines may overwrite files", v.nextFile, highest)
	}
}

// checkKeys checks that each table is listed once, and that the bounds of its range are internal keys. It reports
// whether all bounds are.
func (c *checker) checkKeys() (sound bool) {
	sound = true
	numbers := make(map[uint64]bool, len(c.v.Tables))
	for _, t := range c.v.Tables {
		if numbers[t.Number] {
			c.add(c.v.Manifest, true, "table %06d is listed twice", t.Number)
		}
		numbers[t.Number] = true
		for _, key := range [][]byte{t.Smallest, t.Largest} {
			if _, ok := internalkey.Parse(key); !ok {
				c.add(c.v.Manifest, true, "table %06d: its range has the key %s, which is not an internal key", t.Number, format.Quote(key))
				sound = false
			}
		}
	}
	return sound
}

// checkLevel checks the ranges of the tables in a level. They may overlap only in level 0.
func (c *checker) checkLevel(tables []*Table, compare func(a, b []byte) int) {
	for i, t := range tables {
		if compare(t.Smallest, t.Largest) > 0 {
			c.add(c.v.Manifest, true, "table %06d: its first key %s is after its last key %s", t.Number, quoteKey(t.Smallest), quoteKey(t.Largest))
		}
		if t.Level == 0 || i == 0 {
			continue
		}
		if before := tables[i-1]; compare(before.Largest, t.Smallest) >= 0 {
			c.add(c.v.Manifest, true, "level %d: table %06d ends with key %s, and table %06d after it begins with %s: their ranges overlap",
				t.Level, before.Number, quoteKey(before.Largest), t.Number, quoteKey(t.Smallest))
		}
	}
}

// quoteKey formats an internal key.
func quoteKey(key []byte) string {
	k, _ := internalkey.Parse(key)
	return fmt.Sprintf("%s @ %d", format.Quote(k.UserKey), k.Sequence)
}
