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
	if s.Manifest == nil {
		text.Row(w, "directory", "%s, without a readable MANIFEST", s.Path)
	} else {
		text.Row(w, "database", "%s, as %s says (%s)", s.Path, s.Manifest.Name, text.Bytes(uint64(s.Manifest.Bytes)))
		text.Row(w, "comparator", "%s", wire.Quote([]byte(s.Comparer)))
		text.Row(w, "last sequence", "%d, without the writes in live logs", *s.LastSequence)
		printLevels(w, s.Levels)
	}
	for _, l := range s.Logs {
		state := ""
		switch {
		case l.Live == nil:
		case *l.Live:
			state = ", live"
		default:
			state = ", obsolete: its writes are in tables"
		}
		text.Row(w, "log", "%s, %s%s", l.Name, text.Bytes(uint64(l.Bytes)), state)
	}
	name := "table"
	if s.Manifest != nil {
		name = "table not listed"
	}
	for _, t := range s.Others {
		text.Row(w, name, "%s, %s", t.Name, text.Bytes(uint64(t.Bytes)))
	}
}

func printLevels(w io.Writer, levels []summary.Level) {
	tables, size := 0, uint64(0)
	for _, l := range levels {
		tables, size = tables+l.Tables, size+l.Bytes
		keys := ""
		if l.Overlap != nil {
			keys = fmt.Sprintf(", keys %s to %s", quoteUserKey(l.Smallest), quoteUserKey(l.Largest))
		}
		if l.Overlap != nil && *l.Overlap > 0 {
			keys += fmt.Sprintf(", %s overlap", humanize.Comma(int64(*l.Overlap)))
		}
		text.Row(w, fmt.Sprintf("level %d", l.Level), "%s, %s%s", text.Count(uint64(l.Tables), "table"), text.Bytes(l.Bytes), keys)
	}
	text.Row(w, "all levels", "%s, %s", text.Count(uint64(tables), "table"), text.Bytes(size))
}

// quoteUserKey quotes the user key of an internal key.
func quoteUserKey(k *text.Key) string { return wire.Quote(table.InternalFilterKey(k.Stored)) }

// printSetSummary prints the summary of a set.
func printSetSummary(w io.Writer, s *summary.SetSummary) {
	text.Row(w, "set", "%s, %s, %s", s.Manifest, text.Count(uint64(s.Tables), "table"), text.Bytes(uint64(s.Bytes)))
	if s.Tables == 0 {
		return
	}
	if s.InBase > 0 {
		mean := float64(s.Entries) / float64(s.InBase)
		text.Row(w, "entries", "%s, at most %s in a table, %.2f times the mean", humanize.Comma(int64(s.Entries)), humanize.Comma(int64(s.MostEntries)), float64(s.MostEntries)/mean)
	}
	printLayers(w, s)
	if s.Smallest != nil {
		text.Row(w, "keys", "%v to %v", s.Smallest, s.Largest)
	}
	text.Row(w, "filters and indexes", "%s", text.Bytes(uint64(s.TailBytes)))
}

// printLayers prints what the layers of a set have, and says when they are to become a part of the set.
func printLayers(w io.Writer, s *summary.SetSummary) {
	if s.Layers == 0 {
		return
	}
	changes, fold := s.Added+s.Removals, ""
	switch {
	case 10*changes < s.Entries:
	case s.Filters:
		fold = ": to write the set again without layers, build it anew from the keys"
	default:
		fold = fmt.Sprintf(": to write the set again without layers, use sst merge %s -o NEW/", text.ShellPath(s.Manifest))
	}
	text.Row(w, "layers", "%d, with %s and %s: %.1f %% of the entries%s", s.Layers, text.Count(s.Added, "pair"), text.Count(s.Removals, "removal"), 100*float64(changes)/float64(max(1, s.Entries)), fold)
}
