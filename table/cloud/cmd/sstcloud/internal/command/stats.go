package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cloud/cmd/sstcloud/internal/store"
	"github.com/sievetable/sievetable/table/cloud/cmd/sstcloud/internal/text"
	"github.com/sievetable/sievetable/table/set"
)

const statsLong = `Print how many tables, entries and layers a set has, and how large they are, as sst stats does
for a set in a directory. The manifest says all that. No table is read, but the objects are listed: a
table that is missing or has another size is damage.`

func statsCommand() *cobra.Command {
	var f setFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "stats [flags] URL",
		Short:   "Print how large a set is, and compare the sizes of its tables",
		Long:    statsLong,
		Example: "  sstcloud stats 's3://urls?region=eu-central-1'",
		Annotations: exitStatus{
			exitOK:      "all tables are there, with their sizes",
			exitDamaged: "the manifest is damaged, or a table is missing or has another size",
		}.annotation(),
		Args: arguments("URL", 1, 1),
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return f.with(cmd.Context(), args[0], func(s *store.Store, m *set.Manifest) error {
			objects, err := s.List(cmd.Context())
			if err != nil {
				return err
			}
			summary := summarize(s.Name(f.manifest), m)
			damage := summary.compare(m, objects)
			if err := summary.write(cmd.OutOrStdout(), asJSON); err != nil {
				return err
			}
			return damage
		})
	}
	return cmd
}

// A setSummary describes a set by its manifest.
type setSummary struct {
	Manifest    string   `json:"set"`
	Tables      int      `json:"tables"`
	Bytes       int64    `json:"bytes"`
	TailBytes   int64    `json:"tail_bytes"`   // filters, indexes and footers
	Entries     uint64   `json:"entries"`      // without those of layers
	MostEntries uint64   `json:"most_entries"` // of a table, without those of layers
	Layers      int      `json:"layers,omitempty"`
	Added       uint64   `json:"added,omitempty"`    // entries of layers, which can take the place of older ones
	Removals    uint64   `json:"removals,omitempty"` // of keys
	Smallest    *jsonKey `json:"smallest,omitempty"`
	Largest     *jsonKey `json:"largest,omitempty"`
	Damage      []string `json:"damage,omitempty"`

	inBase  int  // how many of the tables are of no layer
	filters bool // a table has the name of one with a filter only
}

// A jsonKey is a key in JSON.
type jsonKey []byte

// MarshalJSON returns the key as a jsonEntry.
func (k jsonKey) MarshalJSON() ([]byte, error) {
	var e jsonEntry
	e.Key, e.KeyBase64 = printable.StringOrBytes(k)
	return printable.AppendJSON(nil, e)
}

// summarize summarizes a manifest.
func summarize(name string, m *set.Manifest) *setSummary {
	s := &setSummary{Manifest: name, Layers: len(m.Layers), inBase: len(m.Tables)}
	for t := range m.All() {
		s.Tables++
		s.filters = s.filters || filepath.Ext(t.Name) == ".filter"
		s.Bytes, s.TailBytes = s.Bytes+t.Size, s.TailBytes+t.TailSize
	}
	for _, t := range m.Tables {
		s.Entries += t.Entries
		s.MostEntries = max(s.MostEntries, t.Entries)
	}
	s.addEnds(m.Tables)
	for _, l := range m.Layers {
		s.Added += entries(l.Tables)
		s.Removals += entries(l.Removals)
		s.addEnds(l.Tables)
	}
	return s
}

func entries(tables []set.Table) (n uint64) {
	for _, t := range tables {
		n += t.Entries
	}
	return n
}

// addEnds makes the range of keys as large as that of tables.
func (s *setSummary) addEnds(tables []set.Table) {
	if len(tables) == 0 {
		return
	}
	smallest, largest := jsonKey(tables[0].Smallest), jsonKey(tables[len(tables)-1].Largest)
	if s.Smallest == nil || bytes.Compare(smallest, *s.Smallest) < 0 {
		s.Smallest = &smallest
	}
	if s.Largest == nil || bytes.Compare(largest, *s.Largest) > 0 {
		s.Largest = &largest
	}
}

// compare compares the objects with the manifest, and returns what is missing or has another size.
func (s *setSummary) compare(m *set.Manifest, objects map[string]store.Object) error {
	var damage []error
	for t := range m.All() {
		o, ok := objects[t.Name]
		switch {
		case !ok:
			damage = append(damage, missingError{errors.New(missing(t.Name))})
		case o.Size != t.Size:
			damage = append(damage, missingError{fmt.Errorf("%s: size is %d, want %d as the manifest of the set says", t.Name, o.Size, t.Size)})
		default:
			continue
		}
		s.Damage = append(s.Damage, damage[len(damage)-1].Error())
	}
	return errors.Join(damage...)
}

// write prints the summary.
func (s *setSummary) write(out io.Writer, asJSON bool) error {
	if asJSON {
		return printable.WriteJSON(out, s)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	text.Row(w, "set", "%s, %s, %s", s.Manifest, text.Count(s.Tables, "table"), text.Bytes(s.Bytes))
	if s.inBase > 0 {
		mean := float64(s.Entries) / float64(s.inBase)
		text.Row(w, "entries", "%s, at most %s in a table, %.2f times the mean", humanize.Comma(int64(s.Entries)), humanize.Comma(int64(s.MostEntries)), float64(s.MostEntries)/mean)
	}
	s.writeLayers(w)
	if s.Smallest != nil {
		text.Row(w, "keys", "%s to %s", wire.Quote(*s.Smallest), wire.Quote(*s.Largest))
	}
	if s.Tables > 0 {
		text.Row(w, "filters and indexes", "%s", text.Bytes(s.TailBytes))
	}
	return w.Flush()
}

// writeLayers prints what the layers have, and says when they are to become a part of the set.
func (s *setSummary) writeLayers(w io.Writer) {
	if s.Layers == 0 {
		return
	}
	changes, fold := s.Added+s.Removals, ""
	switch {
	case 10*changes < s.Entries:
	case s.filters:
		fold = ": to write the set again without layers, build it anew from the keys"
	default:
		fold = ": to write the set again without layers, use sst merge SET -o NEW/ where it was built, and put NEW"
	}
	text.Row(w, "layers", "%d, with %s and %s: %.1f %% of the entries%s", s.Layers, text.Count(s.Added, "pair"), text.Count(s.Removals, "removal"), 100*float64(changes)/float64(max(1, s.Entries)), fold)
}
