package command

import (
	"cmp"
	"fmt"
	"io"
	"os"

	"github.com/dustin/go-humanize"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/summary"
)

// summarize prints the summary of a database or a set, and then returns what is missing or wrong.
func (p *pass) summarize(path string) error {
	if s, damage := summary.ReadSet(path, p.options.ListOptions); s != nil {
		p.note(s.Notes...)
		return cmp.Or(p.print(s, func(w io.Writer) { printSetSummary(w, s) }), damage)
	} else if damage != nil {
		return damage
	}
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is a file, want the directory of a database or a set with --summary", path)
	}
	s, damage := summary.Read(path, p.options.ListOptions, false)
	if s == nil {
		return damage
	}
	p.note(s.Notes...)
	return cmp.Or(p.print(s, func(w io.Writer) { printSummary(w, s) }), damage)
}

func printSummary(w io.Writer, s *summary.Summary) {
	other := "table"
	if s.Manifest == nil {
		text.Row(w, "directory", "%s, without a readable MANIFEST", s.Path)
	} else {
		other = "table not listed"
		text.Row(w, "database", "%s, as %s says (%s)", s.Path, s.Manifest.Name, text.Bytes(uint64(s.Manifest.Bytes)))
		text.Row(w, "comparator", "%s", wire.Quote([]byte(s.Comparer)))
		text.Row(w, "last sequence", "%d, without the writes in live logs", *s.LastSequence)
		printLevels(w, s.Levels)
	}
	for _, l := range s.Logs {
		state := ""
		if l.Live != nil {
			state = map[bool]string{true: ", live", false: ", obsolete: its writes are in tables"}[*l.Live]
		}
		text.Row(w, "log", "%s, %s%s", l.Name, text.Bytes(uint64(l.Bytes)), state)
	}
	for _, t := range s.Others {
		text.Row(w, other, "%s, %s", t.Name, text.Bytes(uint64(t.Bytes)))
	}
}

func printLevels(w io.Writer, levels []summary.Level) {
	tables, size := 0, uint64(0)
	for _, l := range levels {
		tables, size = tables+l.Tables, size+l.Bytes
		keys := ""
		if l.Overlap != nil {
			user := func(k *text.Key) string { return wire.Quote(table.InternalFilterKey(k.Stored)) }
			keys = fmt.Sprintf(", keys %s to %s", user(l.Smallest), user(l.Largest))
			if *l.Overlap > 0 {
				keys += fmt.Sprintf(", %s overlap", humanize.Comma(int64(*l.Overlap)))
			}
		}
		text.Row(w, fmt.Sprintf("level %d", l.Level), "%s, %s%s", text.Count(uint64(l.Tables), "table"), text.Bytes(l.Bytes), keys)
	}
	text.Row(w, "all levels", "%s, %s", text.Count(uint64(tables), "table"), text.Bytes(size))
}

// printSetSummary prints the summary of a set. It says when layers are to become a part of the set.
func printSetSummary(w io.Writer, s *summary.SetSummary) {
	text.Row(w, "set", "%s, %s, %s", s.Manifest, text.Count(uint64(s.Tables), "table"), text.Bytes(uint64(s.Bytes)))
	if s.Tables == 0 {
		return
	}
	rowIf(s.InBase > 0, w, "entries", "%s, at most %s in a table, %.2f times the mean", humanize.Comma(int64(s.Entries)),
		humanize.Comma(int64(s.MostEntries)), float64(s.MostEntries)/(float64(s.Entries)/float64(s.InBase)))
	changes, fold := s.Added+s.Removals, ""
	switch {
	case 10*changes < s.Entries:
	case s.Filters:
		fold = ": to write the set again without layers, build it anew from the keys"
	default:
		fold = fmt.Sprintf(": to write the set again without layers, use sst merge %s -o NEW/", text.ShellPath(s.Manifest))
	}
	rowIf(s.Layers > 0, w, "layers", "%d, with %s and %s: %.1f %% of the entries%s", s.Layers, text.Count(s.Added, "pair"),
		text.Count(s.Removals, "removal"), 100*float64(changes)/float64(max(1, s.Entries)), fold)
	rowIf(s.Smallest != nil, w, "keys", "%v to %v", s.Smallest, s.Largest)
	text.Row(w, "filters and indexes", "%s", text.Bytes(uint64(s.TailBytes)))
}
